// The client for browsers and Node, with the JSON codec and without dependencies. The compact codec is in msgpack.ts.
export { TidemarkClient } from './client.ts';
export type { AckCommand, Command } from './command.ts';
export type { Answered } from './command-queue.ts';
export type { Repair } from './replica.ts';
export type { Stop } from './connection.ts';
export type { ClientEvents, ClientOptions } from './engine.ts';
export type { Foreground, ForegroundHandler } from './foreground.ts';
export type { ClientClock, ClientRandom, WebSocketConstructor, WebSocketLike } from './ports.ts';
export type { ClientStore, Kept } from './store.ts';
export { TidemarkError } from './tidemark-error.ts';
export type { GetToken, TokenReason } from './token-source.ts';
export type { State } from './transitions.ts';
export type { Conversation, Totals } from './view.ts';
