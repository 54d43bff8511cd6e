import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runNode } from '../support/server-process.ts';
import { tempFolder } from '../support/temp-folder.ts';

/** The load tool against the real product, for a few seconds: that everything is right at the end, not how fast it was. */
interface Report {
  readonly scenario: string;
  readonly gateways: number;
  readonly figures: Record<string, string | number>;
  readonly times: Record<string, { count: number; p50: number; max: number }>;
  readonly verdict: { users: number; devices: number; rows: number; wrong: string[] };
}

const SMALL = ['--seconds', '3', '--rate', '60'];
const KEYS = { api: 'k'.repeat(32), secret: 's'.repeat(32) };

async function loadtest(...args: string[]): Promise<{ code: number | string | null; report: Report; text: string }> {
  const file = join(tempFolder(), 'report.json');
  const tool = runNode(['loadtest/main.ts', ...args, '--json', file], { PATH: process.env['PATH'] ?? '' });
  const code = await tool.exit;
  expect(tool.errors()).toBe('');
  const text = readFileSync(file, 'utf8');
  return { code, report: JSON.parse(text) as Report, text };
}

function timesOf(report: Report, name: string): number {
  return Object.entries(report.times)
    .filter(([key]) => key.startsWith(name))
    .reduce((sum, [, { count }]) => sum + count, 0);
}

describe('every number on every device is right at the end of', () => {
  test('steady: a chat mix with large and small conversations', async () => {
    const { code, report } = await loadtest('steady', ...SMALL, '--connections', '800');
    expect(report.verdict.wrong).toEqual([]);
    expect(code).toBe(0);
    expect(report.verdict).toMatchObject({ users: 533, devices: 799 });
    expect(timesOf(report, 'message → badge')).toBe(report.figures['badge updates']);
    expect(report.figures['badge updates']).toBeGreaterThan(report.figures['messages'] as number);
    expect(report.times['event → answer']?.count).toBeGreaterThanOrEqual(report.figures['messages'] as number);
    expect(report.times['read → acked']?.count).toBe(report.figures['reads']);
  });

  test('hot-group: one group of all', async () => {
    const { code, report } = await loadtest('hot-group', ...SMALL, '--connections', '60');
    expect(report.verdict.wrong).toEqual([]);
    expect(code).toBe(0);
    // Nobody's row is capped: each message comes to each member but its sender.
    expect(report.figures['badge updates']).toBe((report.figures['messages'] as number) * 59);
  });

  test('reconnect-storm: all devices cut off at once', async () => {
    const { code, report } = await loadtest('reconnect-storm', ...SMALL, '--connections', '300');
    expect(report.verdict.wrong).toEqual([]);
    expect(code).toBe(0);
    expect(report.figures).toMatchObject({ devices: 300, 'not back': 0 });
    expect(report.figures['reconnects']).toBeGreaterThanOrEqual(300);
    expect(report.times['cut → right again']?.count).toBe(300);
    // [SY2] The server has not lost anything, so nobody has to start over.
    expect(report.figures['back by snapshot']).toBe(0);
    expect((report.figures['back by noop'] as number) + (report.figures['back by delta'] as number)).toBe(300);
  });
});

test('gateways that run already, several of them', async () => {
  const server = runNode(['src/main.ts'], {
    TIDEMARK_PORT: '0',
    TIDEMARK_DATA_DIR: tempFolder(),
    TIDEMARK_API_KEY: KEYS.api,
    TIDEMARK_TOKEN_SECRET: KEYS.secret,
  });
  const url = await server.ready;
  const { host } = new URL(url);
  const there = ['--url', url, '--url', `http://${host.replace('127.0.0.1', 'localhost')}`];
  const keys = ['--api-key', KEYS.api, '--token-secret', KEYS.secret];
  const { code, report, text } = await loadtest('hot-group', ...SMALL, '--connections', '20', ...there, ...keys);
  expect(report.verdict.wrong).toEqual([]);
  expect(code).toBe(0);
  expect(report).toMatchObject({ scenario: 'hot-group', gateways: 2 });
  expect(report.figures['server CPU']).toBe('not known');
  for (const secret of [host, hostname(), KEYS.api, KEYS.secret]) expect(text).not.toContain(secret);
});

test('options that are not usable are named, exit code 2', async () => {
  for (const [args, said] of [
    [[], 'name one scenario: steady, hot-group, reconnect-storm'],
    [['calm'], 'name one scenario'],
    [['steady', '--rate', '0'], '--rate takes a number above 0, not 0'],
    [['steady', '--connections', '1.5'], '--connections takes a whole number, not 1.5'],
    [['steady', '--url', 'http://localhost:1'], '--url, --api-key and --token-secret go together'],
    [['steady', '--url', 'x', '--api-key', 'k', '--token-secret', 's'], '--url takes http://host:port, not x'],
    [['steady', '--sceonds', '1'], '--sceonds'],
  ] as const) {
    const tool = runNode(['loadtest/main.ts', ...args], {});
    expect(await tool.exit).toBe(2);
    expect(tool.errors()).toContain(said);
  }
});
