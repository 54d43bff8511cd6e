// The running product as an app meets it: a process that can be killed and started again on its port and its data.
import { createHmac, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { TidemarkClient } from '../../client/index.ts';
import type { ClientOptions, Conversation } from '../../client/index.ts';
import type { Row } from '../../protocol/server-frames.ts';
import { freePort } from '../../loadtest/free-port.ts';
import { runNode } from './server-process.ts';
import type { NodeProcess } from './server-process.ts';
import { tempFolder } from './temp-folder.ts';

export const API_KEY = 'k'.repeat(32);
export const TOKEN_SECRET = randomBytes(32).toString('hex');
const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
/** A bound on a hang. */
const WAIT_MS = 60_000;

export interface Unread {
  epoch: string;
  sync_version: number;
  total: number;
  badge: number;
  mentions: number;
  digest: string;
  rows: Row[];
  next?: string;
}

export interface Product {
  readonly url: string;
  /** Ends it as a crash does. */
  kill(): Promise<void>;
  start(): Promise<void>;
  post(...events: object[]): Promise<void>;
  /** What the server counts, all pages. */
  unread(user: string): Promise<Unread>;
  /** Of /metrics, by its name with all labels. */
  metric(name: string): Promise<number>;
  /** A client that is closed when the test has ended. */
  client(user: string, options?: Partial<ClientOptions>): TidemarkClient;
}

/** HS256, as the message service of an app makes them. */
export function signedToken(user: string, ttlMs = HOUR_MS): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const exp = (Date.now() + ttlMs) / 1000;
  const head = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ sub: user, exp })}`;
  return `${head}.${createHmac('sha256', TOKEN_SECRET).update(head).digest('base64url')}`;
}

export async function startProduct(settings: Record<string, string> = {}): Promise<Product> {
  const dataDir = tempFolder();
  const port = await freePort();
  // Stores apart from it may be slow for a moment on a busy machine; a file and a memory of its own are not, so there it is a fault.
  const patienceMs = 'TIDEMARK_MYSQL_URL' in settings ? WAIT_MS : 0;
  let devices = 0;
  let server: NodeProcess;
  let url = '';

  async function start(): Promise<void> {
    server = runNode(['src/main.ts'], {
      TIDEMARK_PORT: port,
      TIDEMARK_DATA_DIR: dataDir,
      TIDEMARK_API_KEY: API_KEY,
      TIDEMARK_TOKEN_SECRET: TOKEN_SECRET,
      TIDEMARK_LOG_LEVEL: 'error',
      ...settings,
    });
    url = await server.ready;
  }

  /** As its callers do: what is told to come again comes again, while there is patience. */
  async function call(method: string, path: string, body?: object): Promise<unknown> {
    const endMs = performance.now() + patienceMs;
    const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' };
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    for (;;) {
      const response = await fetch(url + path, init);
      if (response.status === 200) return response.json();
      const text = await response.text();
      const afterSeconds = response.status === 503 ? Number(response.headers.get('retry-after')) : 0;
      if (!(afterSeconds > 0 && performance.now() < endMs))
        throw new Error(`${method} ${path}: ${response.status} ${text}`);
      await sleep(afterSeconds * SECOND_MS);
    }
  }

  async function unread(user: string): Promise<Unread> {
    const rows: Row[] = [];
    let cursor = '';
    for (;;) {
      const path = `/v1/users/${user}/unread${cursor === '' ? '' : `?cursor=${encodeURIComponent(cursor)}`}`;
      const page = (await call('GET', path)) as Unread;
      rows.push(...page.rows);
      if (page.next === undefined) return { ...page, rows };
      cursor = page.next;
    }
  }

  await start();
  return {
    get url() {
      return url;
    },
    async kill() {
      server.child.kill('SIGKILL');
      await server.exit;
    },
    start,
    async post(...events) {
      const { results } = (await call('POST', '/v1/events', { events })) as { results: { ok: boolean }[] };
      const refused = results.filter(({ ok }) => !ok);
      if (refused.length > 0) throw new Error(`events were refused: ${JSON.stringify(refused)}`);
    },
    unread,
    async metric(name) {
      const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${API_KEY}` } });
      const line = (await response.text()).split('\n').find((text) => text.startsWith(`${name} `));
      if (line === undefined) throw new Error(`${response.status}: there is no ${name}`);
      return Number(line.slice(name.length));
    },
    client(user, options = {}) {
      // The lowest jitter, so that no test waits longer than it must.
      const random = () => 0;
      const device = `device-${++devices}`;
      const client = new TidemarkClient({ url, getToken: () => signedToken(user), device, random, ...options });
      onTestFinished(() => client.close());
      client.connect();
      return client;
    },
  };
}

/** Waits until the condition is true; a bound on a hang, not on a duration. */
export async function until(client: TidemarkClient, condition: () => boolean): Promise<void> {
  await client.waitFor(condition, { signal: AbortSignal.timeout(WAIT_MS) });
}

/** What a device shows and what the server counts, in one form. */
export function shownOf(client: TidemarkClient) {
  const { total, badge, mentions } = { total: client.total(), badge: client.badge(), mentions: client.mentions() };
  return { total, badge, mentions, rows: byConv(client.list().map(numbersOf)) };
}

export function countedIn({ total, badge, mentions, rows }: Unread) {
  const listed = rows.filter(({ hidden, gone }) => hidden !== true && gone !== true);
  const numbers = listed.map((row) =>
    numbersOf({ ...row, readSeq: row.read_seq, muted: row.muted === true, marked: row.marked === true }),
  );
  return { total, badge, mentions, rows: byConv(numbers) };
}

function numbersOf(one: Pick<Conversation, 'conv' | 'unread' | 'mentions' | 'readSeq' | 'muted' | 'marked'>) {
  const { conv, unread, mentions, readSeq, muted, marked } = one;
  return { conv, unread, mentions, readSeq, muted, marked };
}

function byConv<T extends { conv: string }>(rows: T[]): T[] {
  return rows.toSorted((a, b) => (a.conv < b.conv ? -1 : 1));
}
