import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type App, type AppOverrides, createApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import { systemClock } from '../../src/system.ts';
import { createUserTokens } from '../../src/user-tokens.ts';

/** The whole server on a free port and a folder of its own, and calls of its API over real HTTP. */
export interface RunningApp {
  readonly app: App;
  readonly url: string;
  readonly dataDir: string;
  /** With the API key, unless `headers` say otherwise. A text is sent as it is. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Posts events that must all be accepted; answers their results. */
  post(...events: object[]): Promise<Record<string, unknown>[]>;
  /** The `Authorization` header of a user, valid for an hour or as told. */
  asUser(user: string, ttlMs?: number): Promise<{ authorization: string }>;
  stop(): Promise<void>;
}

export interface Answer {
  readonly status: number;
  /** `{}` where there is none. */
  readonly body: Record<string, unknown>;
  readonly headers: Headers;
}

export const API_KEY = 'k'.repeat(32);
const TOKEN_SECRET = 's'.repeat(32);
const HOUR_MS = 3_600_000;

export async function startApp(
  settings: Record<string, string> = {},
  overrides: AppOverrides = {},
): Promise<RunningApp> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tidemark-app-'));
  const environment = {
    TIDEMARK_PORT: '0',
    TIDEMARK_DATA_DIR: dataDir,
    TIDEMARK_API_KEY: API_KEY,
    TIDEMARK_TOKEN_SECRET: TOKEN_SECRET,
    ...settings,
  };
  const app = await createApp(readConfig(environment), { log: createLog('silent'), ...overrides });
  const { url } = await app.start();
  const tokens = createUserTokens({ secrets: [TOKEN_SECRET], audience: '', issuer: '', clock: systemClock });

  const call: RunningApp['call'] = async (method, path, body, headers) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    return {
      status: response.status,
      body: isJson ? (JSON.parse(text) as Record<string, unknown>) : text === '' ? {} : { text },
      headers: response.headers,
    };
  };

  return {
    app,
    url,
    dataDir,
    call,
    async post(...events) {
      const { status, body } = await call('POST', '/v1/events', { events });
      const results = body['results'] as Record<string, unknown>[];
      if (status === 200 && results.every(({ ok }) => ok === true)) return results;
      throw new Error(`events were refused: ${JSON.stringify(body)}`);
    },
    async asUser(user, ttlMs = HOUR_MS) {
      const expiresAtMs = systemClock.nowMs() + ttlMs;
      return { authorization: `Bearer ${await tokens.sign({ user, device: null, expiresAtMs })}` };
    },
    async stop() {
      await app.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
