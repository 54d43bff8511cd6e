import { describe, expect, test } from 'vitest';
import { openGatewayBench } from '../support/gateway-bench.ts';
import { openRaw, type RawHandshake, rawFrame, type RawSocket, type Refused } from '../support/raw-socket.ts';

async function statusOf(port: number, handshake: RawHandshake): Promise<number> {
  const opened = await openRaw(port, handshake);
  if ('status' in opened) return opened.status;
  opened.cut();
  return 101;
}

describe('the handshake', () => {
  test.each([
    ['another path', { path: '/v1/other' }, 404],
    ['a longer path', { path: '/v1/ws/x' }, 404],
    ['a query, which is not looked at', { path: '/v1/ws?token=secret' }, 101],
    ['a version that nobody speaks', { headers: { 'Sec-WebSocket-Version': '7' } }, 400],
    ['a key of the wrong length', { headers: { 'Sec-WebSocket-Key': 'abc' } }, 400],
    ['a list of subprotocols that is none', { protocol: 'a,,b' }, 400],
    ['another upgrade', { headers: { Upgrade: 'h2c' } }, 400],
  ] as const)('%s', async (_, handshake, status) => {
    const { port } = await openGatewayBench();
    expect(await statusOf(port, handshake)).toBe(status);
  });

  test('frames that come in one write with the handshake are not lost', async () => {
    const { port, token } = await openGatewayBench();
    const hello = rawFrame(JSON.stringify({ t: 'hello', token: await token('u1'), device: 'd1', cursor: null }));
    const socket = (await openRaw(port, { head: hello })) as RawSocket;
    expect(await socket.next('welcome')).toMatchObject({ user: 'u1', mode: 'snapshot', reason: 'first' });
    socket.cut();
  });

  test('compression is never agreed to', async () => {
    const { port } = await openGatewayBench();
    const headers = { 'Sec-WebSocket-Extensions': 'permessage-deflate; client_max_window_bits' };
    const socket = (await openRaw(port, { headers })) as RawSocket;
    const { code } = await (socket.bytes(rawFrame('{"t":"ping"}', { rsv: 4 })), socket.ended);
    expect(code).toBe(4400);
  });
});

describe('subprotocols', () => {
  // A text message is a frame of one of them, and an end with 4400 of the other.
  test.each([
    ['tidemark.v1.json', 4401],
    ['tidemark.v1.msgpack', 4400],
    ['chat, tidemark.v1.msgpack, tidemark.v1.json', 4400],
    ['tidemark.v9.json, tidemark.v1.json', 4401],
  ])('of %s the first that both know is spoken', async (protocol, code) => {
    const { open } = await openGatewayBench();
    const socket = await open({ protocol });
    socket.send({ t: 'hello', token: 'x', device: 'd', cursor: null });
    expect((await socket.ended).code).toBe(code);
  });

  test.each([
    ['another version of this protocol', 'tidemark.v9.json'],
    ['none', null],
  ])('%s: 4405, in a way that a browser can see', async (_, protocol) => {
    const { open } = await openGatewayBench();
    const socket = await open({ protocol });
    const { code, bye } = await socket.ended;
    expect([code, bye?.['code']]).toEqual([4405, 4405]);
  });

  test('a hello behind an unknown subprotocol reaches nothing', async () => {
    const { port, token } = await openGatewayBench();
    const hello = rawFrame(JSON.stringify({ t: 'hello', token: await token('u1'), device: 'd1', cursor: null }));
    const socket = (await openRaw(port, { protocol: 'tidemark.v2.json', head: hello })) as RawSocket;
    expect((await socket.ended).code).toBe(4405);
    expect(socket.log.map(({ t }) => t)).toEqual(['bye']);
  });
});

describe('origins', () => {
  const allowedOrigins = ['https://chat.example.com', 'https://chat.example.com:8443'];

  test.each([
    ['no origin, as programs send', undefined],
    ['a listed one', 'https://chat.example.com'],
    ['a listed one with a port', 'https://chat.example.com:8443'],
  ])('%s is welcome', async (_, origin) => {
    const { open, token } = await openGatewayBench({ settings: { allowedOrigins } });
    const socket = await open({ headers: origin === undefined ? {} : { Origin: origin } });
    socket.send({ t: 'hello', token: await token('u1'), device: 'd1', cursor: null });
    expect((await socket.next('welcome')).t).toBe('welcome');
  });

  test('a page of this very host is welcome', async () => {
    const { open, token, port } = await openGatewayBench();
    const socket = await open({ headers: { Origin: `http://127.0.0.1:${port}` } });
    socket.send({ t: 'hello', token: await token('u1'), device: 'd1', cursor: null });
    expect((await socket.next('welcome')).t).toBe('welcome');
  });

  test.each([
    'null',
    '',
    'https://example.com',
    'https://evil.com',
    'http://chat.example.com',
    'https://chat.example.com:443',
    'https://chat.example.com:8444',
    'https://chat.example.com.evil.com',
    'https://evilchat.example.com',
    'https://chat.example.com@evil.com',
    'https://chat.example.com/',
    'https://chat.example.com/path',
    'https://Chat.example.com',
    'HTTPS://chat.example.com',
    ' https://chat.example.com x',
    'https://xn--cht-7la.example.com',
    'https://chat-example.com',
    'https://chat.example.com,https://evil.com',
    'http://127.0.0.1',
    'http://localhost:1',
    'file://',
    '*',
  ])('%s is not: 4403, whatever it sends', async (origin) => {
    const { port, token } = await openGatewayBench({ settings: { allowedOrigins } });
    const head = rawFrame(JSON.stringify({ t: 'hello', token: await token('u1'), device: 'd1', cursor: null }));
    const socket = (await openRaw(port, { headers: { Origin: origin }, head })) as RawSocket;
    const { code, bye } = await socket.ended;
    expect([code, bye?.['code'], socket.log.length]).toEqual([4403, 4403, 1]);
  });
});

describe('limits of connections', () => {
  test('a full node refuses the handshake and says when to come back', async () => {
    const { port, open } = await openGatewayBench({ settings: { connectionsMax: 2 } });
    const first = await open();
    await open();
    const refused = (await openRaw(port)) as Refused;
    expect([refused.status, /Retry-After: \d+/.test(refused.headers)]).toEqual([503, true]);
    first.cut();
    await expect.poll(() => statusOf(port, {})).toBe(101);
  });

  test('a handshake that fails takes no place', async () => {
    const { port, gateway } = await openGatewayBench({ settings: { connectionsMax: 1 } });
    for (let i = 0; i < 5; i++) expect(await statusOf(port, { headers: { 'Sec-WebSocket-Key': 'x' } })).toBe(400);
    await expect.poll(() => gateway.connections).toBe(0);
  });

  test('one more device than a user may have takes the place of the oldest', async () => {
    const { connect } = await openGatewayBench({ settings: { connectionsPerUserMax: 3 } });
    const sockets = [];
    for (let i = 0; i < 4; i++) sockets.push(await connect('u1', `d${i}`));
    const { code, bye } = (await sockets[0]?.socket.ended) ?? {};
    expect([code, typeof bye?.['retry_ms']]).toEqual([4103, 'number']);
    for (const { socket } of sockets.slice(1)) {
      socket.send({ t: 'ping' });
      expect((await socket.next('hb')).t).toBe('hb');
    }
  });
});
