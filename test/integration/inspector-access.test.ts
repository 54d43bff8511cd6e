import { request } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { createInspectorFront } from '../../inspector/server/front.ts';
import { API_KEY, startApp } from '../support/running-app.ts';

/** The page is for the machine of the server unless a setting says otherwise, and holds nothing that is worth a look. */
const PATHS = ['/inspect', '/inspect/page.js', '/inspect/style.css', '/inspect/theme.css', '/inspect/icon.svg'];

async function started(access: 'off' | 'loopback' | 'on') {
  const running = await startApp({}, { front: createInspectorFront(access) });
  onTestFinished(() => running.stop());
  const { port } = new URL(running.url);
  const ask = (path: string, headers: Record<string, string> = {}) =>
    new Promise<{ status: number; text: string; headers: Record<string, unknown> }>((resolve, reject) => {
      const sent = request(running.url + path, { headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }));
      });
      sent.on('error', reject).end();
    });
  const statuses = async (headers: Record<string, string> = {}): Promise<number[]> =>
    Promise.all(PATHS.map(async (path) => (await ask(path, headers)).status));
  return { port, ask, statuses };
}

const all = (status: number): number[] => PATHS.map(() => status);

test('loopback: served to this machine under its own name, and to nobody else', async () => {
  const { port, statuses } = await started('loopback');
  expect(await statuses()).toEqual(all(200));
  expect(await statuses({ host: `localhost:${port}` })).toEqual(all(200));
  for (const headers of [{ host: `inspector.example:${port}` }, { 'x-forwarded-for': '192.0.2.1' }]) {
    expect(await statuses(headers as Record<string, string>)).toEqual(all(403));
  }
});

test('on: served under any name; off: there is nothing', async () => {
  const on = await started('on');
  expect(await on.statuses({ host: 'inspector.example', 'x-forwarded-for': '192.0.2.1' })).toEqual(all(200));
  const off = await started('off');
  expect(await off.statuses()).toEqual(all(404));
});

test('runs its own script and nothing else, and carries no key', async () => {
  const { ask } = await started('loopback');
  const { headers, text } = await ask('/inspect');
  const policy = String(headers['content-security-policy']);
  expect(policy).toContain(`default-src 'none'; script-src 'self'; style-src 'self'`);
  expect(policy).not.toMatch(/unsafe|\*|https?:|data:/);
  expect(text).not.toMatch(/<script(?! type="module" src="\/inspect\/)|style=|https?:/);
  for (const path of PATHS) expect((await ask(path)).text).not.toContain(API_KEY);
  for (const path of ['/inspect/../package.json', '/inspect/server/front.ts', '/inspect/nothing']) {
    expect((await ask(path)).status).toBe(404);
  }
});
