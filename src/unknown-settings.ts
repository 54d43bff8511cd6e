import { options } from './config-table.ts';

const PREFIX = 'TIDEMARK_';
/** More letters than these apart, or than half of it behind the prefix, a name is another name and not a misspelt one. */
const LIKENESS_LETTERS_MAX = 4;

/** A variable that looks like a setting and is none is a fault: a misspelt one that is silently ignored is found at the worst of times. */
export function unknownSettings(environment: Readonly<Record<string, string | undefined>>): string[] {
  const known = Object.values(options).map(({ env }) => env);
  const unknown = Object.keys(environment).filter((name) => name.startsWith(PREFIX) && !known.includes(name));
  return unknown.map((name) => {
    const [nearest] = known.toSorted((a, b) => editDistance(name, a) - editDistance(name, b));
    const lettersMax = Math.min(LIKENESS_LETTERS_MAX, (name.length - PREFIX.length) / 2);
    const isNear = nearest !== undefined && editDistance(name, nearest) <= lettersMax;
    return `${name} is no setting${isNear ? `; did you mean ${nearest}?` : ''}`;
  });
}

/** Letters to insert, delete or replace (Levenshtein). */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
