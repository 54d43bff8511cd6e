import { existsSync, readFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { options } from '../../src/config-table.ts';
import { runNode } from '../support/server-process.ts';
import { tempFolder } from '../support/temp-folder.ts';

let settings: Record<string, string>;
beforeEach(() => {
  settings = { TIDEMARK_PORT: '0', TIDEMARK_DATA_DIR: tempFolder() };
});

async function tidemark(...args: string[]): Promise<{ code: number | string | null; out: string; errors: string }> {
  const run = runNode(['src/cli/tidemark.ts', ...args], settings);
  const code = await run.exit;
  return { code, out: run.lines.join('\n'), errors: run.errors().trim() };
}

/** A server whose port the commands are told. */
async function startServer(): Promise<string> {
  const url = await runNode(['src/cli/tidemark.ts', 'start'], settings).ready;
  settings['TIDEMARK_PORT'] = new URL(url).port;
  return url;
}

describe('token', () => {
  test('is one that the server takes, and check says for whom', async () => {
    const minted = await tidemark('token', '-u', 'alice', '-t', '5m', '--device', 'phone');
    expect(minted).toMatchObject({ code: 0, errors: '' });
    const checked = await tidemark('token', 'check', minted.out);
    expect(checked).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^valid for user alice on device phone until \d{4}-/),
    });
    const url = await startServer();
    const answer = await fetch(`${url}/v1/sync`, { headers: { authorization: `Bearer ${minted.out}` } });
    expect([answer.status, await answer.json()]).toMatchObject([200, { mode: 'snapshot', total: 0 }]);
  });

  test.each([
    [['token'], /whose token/],
    [['token', '-u', ''], /user must be 1 to 128 bytes/],
    [['token', '-u', 'x'.repeat(129)], /user must be 1 to 128 bytes/],
    [['token', '-u', 'alice', '-t', 'soon'], /a time in ms/],
    [['token', 'check', 'not.a.token'], /^not valid: /],
    [['tokn'], /unknown command 'tokn'[^]*Did you mean token/],
  ])('%j fails with a reason', async (args, reason) => {
    const failed = await tidemark(...args);
    expect(failed.code).toBe(1);
    expect(failed.errors).toMatch(reason);
    expect(failed.out).toBe('');
  });
});

describe('config', () => {
  test('check reports every fault, or that there is none', async () => {
    expect(await tidemark('config', 'check')).toMatchObject({ code: 0, out: 'the settings are fine' });
    settings['TIDEMARK_PORT'] = '-1';
    settings['TIDEMARK_PROT'] = '1';
    const failed = await tidemark('config', 'check');
    expect(failed).toMatchObject({ code: 1, out: '' });
    expect(failed.errors).toMatch(/TIDEMARK_PORT must be[^]*TIDEMARK_PROT is no setting/);
  });

  test('doc lists every setting', async () => {
    const { code, out } = await tidemark('config', 'doc');
    expect(code).toBe(0);
    for (const { env } of Object.values(options)) expect(out).toContain(`| \`${env}\` |`);
  });
});

describe('against a running server', () => {
  test('reconcile and explain print what it answers', async () => {
    const url = await startServer();
    const key = readFileSync(`${settings['TIDEMARK_DATA_DIR']}/api-key`, 'utf8').trim();
    const event = { type: 'message.created', conv: 'a/b', message_id: 'm1', sender: 'bob', members: ['alice', 'bob'] };
    await fetch(`${url}/v1/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ events: [event] }),
    });
    expect(await tidemark('reconcile')).toMatchObject({ code: 0, out: 'checked: 2\nwrong: 0\nrepaired: 0' });
    expect(await tidemark('reconcile', '-u', 'alice', '--repair')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^checked: 1$/m),
    });
    expect(await tidemark('reconcile', '--dry-run')).toMatchObject({
      code: 0,
      out: 'checked: 2\nwrong: 0\nrepaired: 0',
    });
    expect(await tidemark('reconcile', '--dry-run', '--repair')).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/'--dry-run' cannot be used with option '--repair'/),
    });
    expect(await tidemark('explain', 'alice', 'a/b')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^unread: 1$[^]*^counted: \[1\]$/m),
    });
    const refused = await tidemark('explain', 'carol', 'a/b');
    expect(refused).toMatchObject({ code: 1, errors: expect.stringMatching(/answers 404: the user is not a member/) });
  });

  test('without a server they say so, and without its key where it was looked for', async () => {
    settings['TIDEMARK_PORT'] = '1';
    const folder = `${settings['TIDEMARK_DATA_DIR']}/none`;
    settings['TIDEMARK_DATA_DIR'] = folder;
    expect(await tidemark('reconcile')).toMatchObject({
      code: 1,
      errors: expect.stringContaining(`cannot use ${folder}, the folder that TIDEMARK_DATA_DIR names: ENOENT`),
    });
    expect(existsSync(folder)).toBe(false);
    settings['TIDEMARK_API_KEY'] = 'k'.repeat(32);
    expect(await tidemark('reconcile')).toMatchObject({ code: 1, errors: 'no server answers at http://127.0.0.1:1' });
  });
});
