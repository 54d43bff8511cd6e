// What this tab remembers until it is closed: the key, and whom it was asked about. Nothing of it goes into an address or to others.
const KEY = 'tidemark-inspector-key';
const USERS = 'tidemark-inspector-users';
const USERS_MAX = 8;

export const keptKey = {
  get: (): string | null => sessionStorage.getItem(KEY),
  set: (key: string): void => sessionStorage.setItem(KEY, key),
  forget(): void {
    sessionStorage.removeItem(KEY);
    sessionStorage.removeItem(USERS);
  },
};

export const recentUsers = {
  /** The last one first. */
  list: (): string[] => JSON.parse(sessionStorage.getItem(USERS) ?? '[]') as string[],
  add(user: string): void {
    const users = [user, ...recentUsers.list().filter((one) => one !== user)];
    sessionStorage.setItem(USERS, JSON.stringify(users.slice(0, USERS_MAX)));
  },
};
