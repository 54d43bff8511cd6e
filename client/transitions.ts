// The states of a connection and every way between them. A missing cell does not compile.
//
//   idle → connecting → syncing → live ⇄ stale
//              ↑            ↘      ↓ ↙
//           (again)        resuming ⇄ offline        stopped: only by the app, a refusal or close()

export type State =
  /** Not asked to be connected. */
  | 'idle'
  /** Opening a socket, or waiting to; nothing of this connection has been confirmed yet. */
  | 'connecting'
  /** The server is answering; the numbers on show are the old ones until it has come to the end. */
  | 'syncing'
  /** What is held has been compared with the server's total and digest and is the same. */
  | 'live'
  /** The socket stands, but what is held may be old: a gap, a difference, silence, or a look after a pause. */
  | 'stale'
  /** The socket was lost and is being opened again, from where this device stands. */
  | 'resuming'
  /** The system says there is no network. */
  | 'offline'
  /** Does not come back by itself. */
  | 'stopped';

export type StateEvent =
  /** The app asks for a connection. */
  | 'connect'
  /** The app asks for none. */
  | 'disconnect'
  /** The server begins to answer a hello or a sync, and rows follow. */
  | 'welcomed'
  /** Total and digest of the server met those of the rows held. */
  | 'verified'
  /** A gap, a difference, silence, or a look after a pause. */
  | 'doubted'
  /** The socket is gone, and may be opened again. */
  | 'lost'
  /** The close code or the token says not to come back. */
  | 'refused'
  | 'offline'
  | 'online';

type Ways = Readonly<Record<StateEvent, State>>;

/** The state does not change, whatever happens. */
const stays = (state: State): Ways => ({
  connect: state,
  disconnect: state,
  welcomed: state,
  verified: state,
  doubted: state,
  lost: state,
  refused: state,
  offline: state,
  online: state,
});

/** A connection is wanted. */
const wanted = (state: State): Ways => ({
  ...stays(state),
  disconnect: 'idle',
  welcomed: 'syncing',
  verified: 'live',
  refused: 'stopped',
  offline: 'offline',
});

export const transitions: Readonly<Record<State, Ways>> = {
  idle: { ...stays('idle'), connect: 'connecting' },
  connecting: wanted('connecting'),
  syncing: { ...wanted('syncing'), doubted: 'stale', lost: 'resuming' },
  live: { ...wanted('live'), doubted: 'stale', lost: 'resuming' },
  stale: { ...wanted('stale'), lost: 'resuming' },
  resuming: wanted('resuming'),
  // A system may be wrong about its network, so a socket that gets through wins over it.
  offline: { ...wanted('offline'), online: 'resuming' },
  stopped: { ...stays('stopped'), connect: 'connecting' },
};
