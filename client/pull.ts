// Numbers where WebSockets do not get through: the cursor is asked for over HTTP (`GET /v1/sync`, DT7), on a line that is a
// socket to the client. Commands wait for a real one, which is tried again from time to time.
import type { ClientFrame, Cursor } from '../protocol/client-frames.ts';
import type { PullAnswer } from '../protocol/http.ts';
import type { ServerFrame } from '../protocol/server-frames.ts';
import type { ClientOptions } from './engine.ts';
import { clientJsonCodec } from './json-codec.ts';
import { systemClock } from './ports.ts';
import type { ClientClock, WebSocketConstructor, WebSocketLike } from './ports.ts';
import { userOf } from './token-user.ts';

export interface PullOptions {
  /** Sockets in a row that did not open before HTTP is asked. */
  afterFailures?: number;
  /** Between two questions. */
  everyMs?: number;
  /** Until a socket is tried again. */
  socketAgainMs?: number;
  fetch?: typeof globalThis.fetch;
}

type PullWorld = Required<Omit<PullOptions, 'afterFailures'>> & { clock: ClientClock };
type Listener<E> = ((event: E) => unknown) | null;
/** `next`: how to ask for the following page. */
type Part = { rows: PullAnswer['rows']; next: string | undefined };
type Question = {
  t: 'welcome' | 'synced';
  cursor: Cursor | null;
  digest?: string | undefined;
  page?: string | undefined;
};

const BACK_OFF = 1006;
const OVERLOADED = 4102;
const TOKEN_EXPIRED = 4200;
/** Comes back at once, to try a socket. */
const MOVED = 4001;
const ROWS_MAX = 200;
const RETRY_MS_DEFAULT = 5_000;
const ANSWER_MS_MAX = 15_000;

/** The same options, with the JSON codec, for a client that pulls when sockets are blocked. */
export function pullingWhenBlocked(options: ClientOptions, settings: PullOptions = {}): ClientOptions {
  const { afterFailures = 3, everyMs = 15_000, socketAgainMs = 300_000, fetch = globalThis.fetch } = settings;
  const { WebSocket = globalThis.WebSocket, clock = systemClock } = options;
  let failures = 0;

  function dial(url: string, protocols: string[]): WebSocketLike {
    if (failures >= afterFailures) {
      // When that line ends one socket is tried, and if it does not open HTTP is asked again.
      failures = afterFailures - 1;
      return new PullLine(url, { everyMs, socketAgainMs, clock, fetch: (...request) => fetch(...request) });
    }
    failures++;
    const socket = new WebSocket(url, protocols);
    if (socket instanceof EventTarget) socket.addEventListener('open', () => (failures = 0));
    return socket;
  }

  return {
    ...options,
    codec: clientJsonCodec,
    // Called with `new`; what it returns is the socket.
    WebSocket: function socketOrPull(url: string, protocols: string[]) {
      return dial(url, protocols);
    } as unknown as WebSocketConstructor,
  };
}

class PullLine implements WebSocketLike {
  binaryType = '';
  onopen: Listener<never> = null;
  onmessage: Listener<never> = null;
  onclose: Listener<never> = null;
  onerror: Listener<never> = null;
  readonly #url: URL;
  readonly #world: PullWorld;
  readonly #cancelAgain: () => void;
  #cancelNext = () => {};
  #token = '';
  /** Where the last answer ended. */
  #cursor: Cursor | null = null;
  #expiresAt = 0;
  #isAsking = false;
  #isOver = false;

  constructor(url: string, world: PullWorld) {
    this.#url = new URL('/v1/sync', url.replace(/^ws/, 'http'));
    this.#world = world;
    this.#cancelAgain = world.clock.after(world.socketAgainMs, () => this.#end(MOVED, 'a socket is tried again'));
    queueMicrotask(() => this.#isOver || (this.onopen as Listener<object>)?.({}));
  }

  send(data: string | Uint8Array<ArrayBuffer>): void {
    const frame = JSON.parse(data as string) as ClientFrame;
    if (frame.t === 'hello') {
      this.#token = frame.token;
      void this.#ask({ t: 'welcome', cursor: frame.cursor, digest: frame.digest, page: frame.page });
    } else if (frame.t === 'sync') void this.#ask({ t: 'synced', cursor: frame.cursor, digest: frame.digest });
    else if (frame.t === 'ping') void this.#ask({ t: 'synced', cursor: this.#cursor });
    else if (frame.t === 'auth') {
      this.#token = frame.token;
      this.#say({ t: 'auth_ok', expires_at: this.#expiresAt });
    }
  }

  close(): void {
    this.#isOver = true;
    this.#cancelAgain();
    this.#cancelNext();
  }

  /** One question at a time; the one that is open answers for those that are asked meanwhile. */
  async #ask(question: Question): Promise<void> {
    if (this.#isAsking || this.#isOver) return;
    this.#isAsking = true;
    this.#cancelNext();
    try {
      await this.#answer(question);
    } catch (error) {
      this.#end(BACK_OFF, String(error));
    } finally {
      this.#isAsking = false;
    }
    if (this.#isOver) return;
    this.#cancelNext = this.#world.clock.after(this.#world.everyMs, () => {
      void this.#ask({ t: 'synced', cursor: this.#cursor });
    });
  }

  async #answer({ t, cursor, digest, page }: Question): Promise<void> {
    const answer = await this.#get({ ...cursor, digest, page });
    if (answer === null) return;
    const { rows, next, ...fields } = answer;
    this.#expiresAt = fields.expires_at;
    if (t === 'synced') this.#say({ t, ...fields });
    else this.#say({ t, conn: 'pull', user: userOf(this.#token) ?? '', heartbeat_ms: this.#world.everyMs, ...fields });
    const { epoch, sync_version, total, badge, mentions } = fields;
    const sums = { epoch, sync_version, total, badge, mentions, digest: fields.digest };
    if (fields.mode === 'delta') {
      this.#say({ t: 'delta', ...sums, base_version: cursor?.sync_version ?? 0, rows, op: 'merged' });
    } else if (fields.mode === 'snapshot') await this.#pages({ rows, next }, sums);
    this.#cursor = { epoch, sync_version };
  }

  async #pages(
    first: Part,
    sums: Pick<PullAnswer, 'epoch' | 'sync_version' | 'total' | 'badge' | 'mentions' | 'digest'>,
  ) {
    const { epoch, sync_version } = sums;
    let part = first;
    for (let page = 1; ; page++) {
      const { rows, next } = part;
      const end = next === undefined;
      this.#say({ t: 'snapshot', page, rows, end, ...(end ? {} : { next }), ...sums });
      if (end) return;
      const answer = await this.#get({ epoch, sync_version, page: next });
      if (answer === null) return;
      part = { rows: answer.rows, next: answer.next };
    }
  }

  /** Null: the line has ended. */
  async #get(
    query: Partial<Cursor> & { digest?: string | undefined; page?: string | undefined },
  ): Promise<PullAnswer | null> {
    const url = new URL(this.#url);
    for (const [name, value] of Object.entries({ ...query, max_rows: ROWS_MAX })) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const response = await this.#world.fetch(url, {
      headers: { authorization: `Bearer ${this.#token}` },
      cache: 'no-store',
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    if (this.#isOver) return null;
    if (response.status === 200) return (await response.json()) as PullAnswer;
    const { status } = response;
    if (status === 401) this.#end(TOKEN_EXPIRED, 'unauthorized');
    else if (status === 429 || status === 503) {
      const seconds = Number(response.headers.get('retry-after'));
      const retry_ms = seconds > 0 ? seconds * 1_000 : RETRY_MS_DEFAULT;
      this.#say({ t: 'bye', code: OVERLOADED, reason: `HTTP ${status}`, retry_ms });
    } else this.#end(BACK_OFF, `HTTP ${status}`);
    return null;
  }

  #say(frame: ServerFrame): void {
    if (!this.#isOver) (this.onmessage as Listener<{ data: string }>)?.({ data: JSON.stringify(frame) });
  }

  #end(code: number, reason: string): void {
    if (this.#isOver) return;
    this.close();
    (this.onclose as Listener<{ code: number; reason: string }>)?.({ code, reason });
  }
}
