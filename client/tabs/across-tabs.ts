// One socket for all tabs of a browser. Each tab has a whole client, which resumes and verifies as ever; only what it takes for
// its WebSocket may be a line to the tab that leads. When that one goes, the others lose their socket, one of them leads, and
// all resume: what was not confirmed is sent again, as after any lost socket.
import type { ClientOptions } from '../engine.ts';
import { browserForeground } from '../foreground.ts';
import type { ForegroundHandler } from '../foreground.ts';
import { clientJsonCodec } from '../json-codec.ts';
import type { ClientCodec } from '../json-codec.ts';
import { systemClock, systemRandom } from '../ports.ts';
import type { ClientRandom, WebSocketConstructor } from '../ports.ts';
import { createLeadership } from './leadership.ts';
import { createSharedStore } from './shared-store.ts';
import { isTabMessage } from './tab-message.ts';
import type { TabMessage } from './tab-message.ts';
import { TabServer } from './tab-server.ts';
import { MOVED, TabSocket } from './tab-socket.ts';
import type { TabSocketWorld } from './tab-socket.ts';
import { createPause } from './tab-pause.ts';
import type { Pause } from './tab-pause.ts';
import { createStay } from './tab-stay.ts';

export interface TabsOptions {
  /** Tabs of one name share a socket: those of one user. Default: `tidemark`. */
  name?: string;
}

/** Codes from here on say: stay away. */
const STAY_AWAY = 4400;

/**
 * The same options for a client that shares its socket: `new TidemarkClient(acrossTabs({ url, getToken, store }))`. Where there
 * are no Web Locks or no BroadcastChannel each tab is a device of its own and keeps nothing, since a store has one writer.
 */
export function acrossTabs(options: ClientOptions, { name = 'tidemark' }: TabsOptions = {}): ClientOptions {
  const { clock = systemClock, random = systemRandom, codec = clientJsonCodec } = options;
  const locks = globalThis.navigator?.locks as LockManager | undefined;
  const channel = channelOf(name);
  if (locks === undefined || channel === null) return alone(options);
  const post = (message: TabMessage) => channel.postMessage(message);
  let socket: TabSocket | null = null;
  let hears: ForegroundHandler | null = null;
  let pause: Pause | null = null;
  let loaded: Promise<unknown> = Promise.resolve();
  const stay = createStay(clock);
  const leadership = createLeadership(locks, name, { elected, deposed: stepDown });
  const server = new TabServer({
    post,
    send: (frame) => socket?.transmit(frame),
    live: () => leadership.leads() && post({ to: null, say: 'live' }),
  });
  const shared = createSharedStore(options.store, random, {
    leads: leadership.leads,
    post,
    kept: (kept) => server.keep(kept),
  });

  function elected(): void {
    post({ to: null, say: 'elected' });
    stay.set(false);
    loaded = shared.elected(socket?.isGuest !== false);
    if (socket?.isGuest === true) socket.end(MOVED, 'leads');
  }

  function stepDown(): void {
    server.end(MOVED, 'another tab leads');
    shared.deposed();
    if (socket?.isGuest === false) socket.end(MOVED, 'another tab leads');
    leadership.leave();
  }

  /** The page is about to stand still. */
  function pauseBegins(): void {
    shared.leave();
    stepDown();
    socket?.end(MOVED, 'paused');
  }

  function ended(which: TabSocket, code: number, reason: string, byItself: boolean): void {
    if (which === socket) socket = null;
    if (which.isGuest) return;
    server.end(code >= STAY_AWAY ? code : MOVED, reason);
    // A client that closes a socket which is well does not want one now, but it writes what is done here until another leads.
    stay.set(byItself && code < STAY_AWAY);
  }

  channel.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (!isTabMessage(data)) return;
    if ('from' in data) {
      if (!leadership.leads()) return;
      if (socket === null && !stay.holds()) leadership.leave();
      else server.told(data);
    } else if ('tab' in data) shared.heard(data);
    else if (data.to !== null) {
      if (data.to === socket?.id) socket.told(data.say);
    } else if (data.say === 'live') hears?.online();
    else if (data.say === 'forgotten') void shared.reload();
    else {
      shared.tellAgain();
      if (socket?.isGuest === true) socket.end(MOVED, 'another tab leads');
    }
  };

  const world: TabSocketWorld = {
    WebSocket: options.WebSocket ?? globalThis.WebSocket,
    codec,
    clock,
    post,
    ended,
    random,
    device: newDevice(random),
    made: (made) => void (socket = made),
    join: async () => {
      await pause?.over();
      const leads = await leadership.join();
      return loaded.then(() => leads);
    },
    noLeader: () => leadership.steal(),
    server,
  };

  return {
    ...options,
    codec: relayed(codec),
    WebSocket: tabSockets(world),
    foreground(handler) {
      hears = handler;
      const stop = (options.foreground ?? browserForeground)(handler);
      // After it, so that what is to be sent when a page is left has been sent.
      const pausing = (pause = createPause(pauseBegins));
      return () => {
        stop();
        pausing.stop();
        // The client has yet to say that its socket is closed, and whether all is to be forgotten.
        queueMicrotask(() => {
          shared.leave();
          leadership.leave();
          stay.set(false);
          channel.close();
        });
      };
    },
    store: shared.store,
  };
}

function tabSockets(world: TabSocketWorld): WebSocketConstructor {
  return class extends TabSocket {
    constructor(url: string, protocols: string[]) {
      super(world, url, protocols);
    }
  };
}

/** Null where there is none, or where the browser lets the page keep and share nothing. */
function channelOf(name: string): BroadcastChannel | null {
  try {
    return new BroadcastChannel(name);
  } catch {
    return null;
  }
}

function alone(options: ClientOptions): ClientOptions {
  const own: ClientOptions = { ...options, device: newDevice(options.random ?? systemRandom) };
  delete own.store;
  return own;
}

const newDevice = (random: ClientRandom) => `d${random().toString(36).slice(2)}`;

/** Client frames as JSON, which the socket turns into what its server wants; frames of another tab are JSON too. */
function relayed(codec: ClientCodec): ClientCodec {
  return {
    subprotocol: codec.subprotocol,
    encode: clientJsonCodec.encode,
    decodeServer: (data) => (typeof data === 'string' ? clientJsonCodec : codec).decodeServer(data),
  };
}
