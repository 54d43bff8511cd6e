// What tabs say to each other. Frames are those of the protocol: a tab that leads is a server to the others.
import type { ClientFrame } from '../../protocol/client-frames.ts';
import type { ServerFrame } from '../../protocol/server-frames.ts';
import { isCommand } from '../command.ts';
import type { Command } from '../command.ts';

/** To the tab that leads, from a socket of another one. */
export type ToLeader = { from: string; say: 'open' | 'close' | ClientFrame };
/** `opened`: there is a tab that leads; `alone`: it is another user's. */
export type ToSocket = { to: string; say: 'opened' | 'alone' | SocketEnded | ServerFrame };
export type SocketEnded = { t: 'end'; code: number; reason: string };
/**
 * `elected`: all sockets of other tabs are without a server now; `live`: this tab stands where the server stands;
 * `forgotten`: the store was wiped.
 */
export type ToAll = { to: null; say: 'elected' | 'live' | 'forgotten' };

/** What a tab that follows has asked for and does not know to be done. `isGone`: it will not ask again. */
export type Undone = { tab: string; user: string | null; undone: readonly Command[]; isGone: boolean };

export type TabMessage = Undone | ToLeader | ToSocket | ToAll;

const TO_ALL: unknown[] = ['elected', 'live', 'forgotten'] satisfies ToAll['say'][];

/** A tab of another version of the SDK, or anything else of the origin, may say what this one does not understand. */
export function isTabMessage(data: unknown): data is TabMessage {
  if (!isObject(data)) return false;
  const { from, to, tab, say, undone } = data;
  if (typeof tab === 'string') return Array.isArray(undone) && undone.every(isCommand);
  if (to === null) return TO_ALL.includes(say);
  const isNamed = typeof from === 'string' || typeof to === 'string';
  return isNamed && (typeof say === 'string' || (isObject(say) && typeof say['t'] === 'string'));
}

function isObject(data: unknown): data is Record<string, unknown> {
  return typeof data === 'object' && data !== null;
}
