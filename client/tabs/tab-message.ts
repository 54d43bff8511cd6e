// What tabs say to each other. Frames are those of the protocol: a tab that leads is a server to the others.
import type { ClientFrame } from '../../protocol/client-frames.ts';
import type { ServerFrame } from '../../protocol/server-frames.ts';
import type { Command } from '../command.ts';

/** To the tab that leads, from a socket of another one. */
export type ToLeader = { from: string; say: 'open' | 'close' | ClientFrame };
/** `opened`: there is a tab that leads. */
export type ToSocket = { to: string; say: 'opened' | SocketEnded | ServerFrame };
export type SocketEnded = { t: 'end'; code: number; reason: string };
/**
 * `elected`: all sockets of other tabs are without a server now; `live`: this tab stands where the server stands;
 * `forgotten`: the store was wiped.
 */
export type ToAll = { to: null; say: 'elected' | 'live' | 'forgotten' };

/** What a tab that follows has asked for and does not know to be done. `isGone`: it will not ask again. */
export type Undone = { tab: string; undone: readonly Command[]; isGone: boolean };

export type TabMessage = Undone | ToLeader | ToSocket | ToAll;
