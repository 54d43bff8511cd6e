/** What the clients of a gateway under test say, each for its own user. */
import type { Cursor, Hello } from '../protocol/index.ts';
import type { Child } from './child.ts';

interface Told {
  readonly tokens: readonly string[];
  readonly cursor: Cursor;
  readonly digest: string;
}

/** `isUpToDate`: the device has all that there is, and is answered noop; else it gets a snapshot. */
export async function hellosFor(gateway: Child, count: number, isUpToDate: boolean): Promise<(i: number) => Hello> {
  const { tokens, cursor, digest } = await gateway.ask<Told>('hellos', { count });
  const where = isUpToDate ? { cursor, digest } : { cursor: null };
  return (i) => ({ t: 'hello', token: tokens[i] as string, device: 'phone', ...where });
}
