import { request } from 'node:http';
import { expect, test } from 'vitest';
import { demoLinks, startDemo } from '../support/demo-page.ts';

/** The demo hands out tokens: only for whoever holds the link, on the machine of the server, from the page itself. */
interface Answer {
  readonly status: number;
  readonly text: string;
  readonly cookie: string;
  readonly headers: Record<string, unknown>;
}

/** Unlike fetch it lets a test say what host it means. */
function ask(url: string, headers: Record<string, string> = {}, method = 'GET', body = ''): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () => {
        const [cookie = ''] = response.headers['set-cookie'] ?? [];
        resolve({ status: response.statusCode ?? 0, text, cookie, headers: response.headers });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

async function entered(): Promise<{
  base: string;
  page: Record<string, string>;
  server: ReturnType<typeof startDemo>;
}> {
  const server = startDemo();
  const [link = ''] = await demoLinks(server);
  const { status, cookie, headers } = await ask(link);
  expect(status).toBe(303);
  expect(headers['location']).toBe('/demo');
  expect(cookie).toMatch(/; Path=\/demo; HttpOnly; SameSite=Lax$/);
  const { origin } = new URL(link);
  const [pair = ''] = cookie.split(';');
  return { base: `${origin}/demo`, page: { cookie: pair, origin, 'content-type': 'application/json' }, server };
}

/** Those of the list that do not get this status. */
async function others<T>(list: readonly T[], status: number, statusOf: (one: T) => Promise<number>): Promise<T[]> {
  const statuses = await Promise.all(list.map(statusOf));
  return list.filter((_, i) => statuses[i] !== status);
}

test('a link works once; another one is printed when it has been used', async () => {
  const server = startDemo();
  const [link = ''] = await demoLinks(server);
  expect((await ask(link)).status).toBe(303);
  expect((await ask(link)).status).toBe(403);
  const [, next = ''] = await demoLinks(server, 2);
  expect(next).not.toBe(link);
  expect((await ask(next)).status).toBe(303);
});

test('without the key, or with a wrong one, there is nothing', async () => {
  const { base } = await entered();
  const paths = ['', '?key=', '?key=guess', '/page.js', '/style.css', '/api/standing'];
  expect(await others(paths, 403, async (path) => (await ask(base + path)).status)).toEqual([]);
  const { origin } = new URL(base);
  const deeds = ['/api/token', '/api/events', '/api/restart'];
  expect(await others(deeds, 403, async (path) => (await ask(base + path, { origin }, 'POST', '{}')).status)).toEqual(
    [],
  );
});

test('a foreign host name, a proxy or a foreign page is refused, cookie or not', async () => {
  const { base, page } = await entered();
  const { port } = new URL(base);
  const named = async (host: string): Promise<number> => (await ask(base, { ...page, host })).status;
  const foreign = [`demo.example:${port}`, `127.0.0.1.example:${port}`, `10.0.0.1:${port}`, '127.0.0.1', '127.0.0.1:1'];
  expect(await others(foreign, 403, named)).toEqual([]);
  expect(await others([`localhost:${port}`, `127.0.0.1:${port}`], 200, named)).toEqual([]);
  expect((await ask(base, { ...page, 'x-forwarded-for': '192.0.2.1' })).status).toBe(403);
  const user = JSON.stringify({ user: 'demo:ann' });
  const from = async (origin: string): Promise<number> =>
    (await ask(`${base}/api/token`, { ...page, origin }, 'POST', user)).status;
  expect(await others(['http://localhost:1', 'https://demo.example', 'null'], 403, from)).toEqual([]);
  expect(await from(new URL(base).origin)).toBe(200);
});

test('the page may load nothing from elsewhere and run nothing but its own script', async () => {
  const { base, page } = await entered();
  const { headers, text } = await ask(base, page);
  const policy = String(headers['content-security-policy']);
  expect(policy).toContain(`default-src 'none'; script-src 'self'; style-src 'self'`);
  expect(policy).not.toMatch(/unsafe|\*|https?:|data:/);
  expect(text).not.toMatch(/<script(?! type="module" src="\/demo\/)|style=|https?:/);
});

test('tokens are for the people of the demo, and events for its conversations', async () => {
  const { base, page } = await entered();
  const post = async (path: string, body: object): Promise<number> =>
    (await ask(`${base}/api/${path}`, page, 'POST', JSON.stringify(body))).status;
  expect(await post('token', { user: 'demo:ann' })).toBe(200);
  expect(await others(['alice', 'demo:guest-1', '', null], 400, (user) => post('token', { user }))).toEqual([]);
  expect(await post('scene', {})).toBe(200);
  const said = { type: 'message.created', conv: 'demo:launch', message_id: 'demo:m1', sender: 'demo:bob' };
  expect(await post('events', { events: [said] })).toBe(200);
  const foreign = [
    { ...said, conv: 'orders' },
    { ...said, sender: 'alice' },
    { ...said, mentions: ['alice'] },
    { ...said, members: ['alice'] },
    { ...said, message_id: 'm1' },
    { type: 'member.joined', conv: 'demo:launch', users: ['alice'] },
    { type: 'conversation.dissolved', conv: 'demo:launch' },
    { type: 'message.recalled', conv: 'orders', seq: 1 },
  ];
  expect(await others(foreign, 400, (event) => post('events', { events: [said, event] }))).toEqual([]);
  expect(await post('events', {})).toBe(400);
  expect((await ask(`${base}/api/events`, page, 'POST', '{')).status).toBe(400);
  expect((await ask(`${base}/api/events`, page, 'POST', ' '.repeat(300_000))).status).toBe(413);
});

test('nothing is written before somebody opens the page', async () => {
  const { base, page, server } = await entered();
  const before = JSON.parse((await ask(`${base}/api/standing`, page)).text) as { users: { total: number }[] };
  expect(before.users.map(({ total }) => total)).toEqual([0, 0, 0]);
  expect(server.errors()).toBe('');
});

test('off: no link and no page; on for others than this machine: refused', async () => {
  const off = startDemo({ TIDEMARK_DEMO: 'off' });
  const url = await off.ready;
  expect((await ask(`${url}/demo`)).status).toBe(404);
  expect(off.lines.some((line) => line.includes('"msg":"demo"'))).toBe(false);

  const open = startDemo({ TIDEMARK_HOST: '0.0.0.0' });
  expect((await ask(`${await open.ready}/demo`)).status).toBe(404);
  expect(open.lines.some((line) => line.includes('"msg":"demo"'))).toBe(false);

  const refused = startDemo({ TIDEMARK_HOST: '0.0.0.0', TIDEMARK_DEMO: 'on' });
  expect(await refused.exit).toBe(2);
  expect(refused.errors()).toMatch(/TIDEMARK_DEMO is on, but TIDEMARK_HOST lets others reach the server/);
});

test('a server that is told to stop while it restarts stops', async () => {
  const { base, page, server } = await entered();
  expect((await ask(`${base}/api/restart`, page, 'POST', '{}')).status).toBe(200);
  server.child.kill('SIGTERM');
  expect(await server.exit).toBe(0);
});
