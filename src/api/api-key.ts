import { createHash, timingSafeEqual } from 'node:crypto';

/** Keys of the server API. Only their hashes are kept, and comparing takes the same time whatever is given. */
export interface ApiKeys {
  accepts(given: string): boolean;
}

export function createApiKeys(keys: readonly string[]): ApiKeys {
  const hashes = keys.map(hashOf);
  return {
    accepts(given) {
      const hash = hashOf(given);
      // Every key is compared, so that the time does not tell which one it was.
      return hashes.map((known) => timingSafeEqual(known, hash)).includes(true);
    },
  };
}

/** What stands after `Bearer` in an Authorization header, or null. Keys and tokens are taken from nowhere else. */
export function bearerOf(header: string | undefined): string | null {
  const [, given = null] = /^Bearer +([^\s]+) *$/i.exec(header ?? '') ?? [];
  return given;
}

function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
