interface MemberList {
  readonly membersRev: number;
  readonly users: readonly string[];
}

/** What a kept list takes besides its names, as names: a million lists of two would take a gigabyte otherwise. */
const LIST_WEIGHT = 20;

/** The members of conversations that messages came to lately, each as of its `membersRev`; above the limit the least recent are forgotten. */
export class MemberLists {
  readonly #weightMax: number;
  readonly #load: (conv: string) => Promise<readonly string[]>;
  /** Least recently used first. */
  readonly #lists = new Map<string, MemberList>();
  #weight = 0;

  /** `weightMax`: names, and 20 more for each list. */
  constructor(weightMax: number, load: (conv: string) => Promise<readonly string[]>) {
    this.#weightMax = weightMax;
    this.#load = load;
  }

  /** A list may be newer than `membersRev`: the state ignores whoever is not live, and revs decide the rest. */
  async of(conv: string, membersRev: number): Promise<readonly string[]> {
    const held = this.#lists.get(conv);
    const users = held?.membersRev === membersRev ? held.users : await this.#load(conv);
    this.#forget(conv);
    this.#lists.set(conv, { membersRev, users });
    this.#weight += LIST_WEIGHT + users.length;
    for (const oldest of this.#lists.keys()) {
      if (this.#weight <= this.#weightMax) break;
      this.#forget(oldest);
    }
    return users;
  }

  #forget(conv: string): void {
    const list = this.#lists.get(conv);
    if (list === undefined) return;
    this.#lists.delete(conv);
    this.#weight -= LIST_WEIGHT + list.users.length;
  }
}
