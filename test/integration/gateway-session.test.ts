import { describe, expect, test } from 'vitest';
import { openGatewayBench } from '../support/gateway-bench.ts';
import { createHandClock } from '../support/hand-clock.ts';
import { rawFrame, type RawSocket } from '../support/raw-socket.ts';

const group = { type: 'conversation.created', conv: 'c1', members: ['u1', 'u2'] };

async function endOf(socket: RawSocket): Promise<[number | null, unknown, string | undefined]> {
  const { code, bye } = await socket.ended;
  return [code, bye?.['code'], socket.log.at(-1)?.t];
}
const ends = (code: number) => [code, code, 'bye'];

async function isAlive(socket: RawSocket): Promise<boolean> {
  socket.send({ t: 'ping' });
  return (await socket.next('hb')).t === 'hb';
}

describe('greeting', () => {
  test('welcome says who, where, how long, and how often', async () => {
    const bench = await openGatewayBench({ settings: { heartbeatMs: 30_000 } });
    await bench.accept(group);
    await bench.say('c1', 'u2', 2);
    const { socket, welcome } = await bench.connect('u1', 'd1');
    expect(welcome).toEqual({
      t: 'welcome',
      conn: expect.stringMatching(/^[0-9a-z]{8}-[0-9a-z]+$/),
      user: 'u1',
      epoch: expect.any(String),
      sync_version: 1,
      mode: 'snapshot',
      reason: 'first',
      total: 2,
      badge: 2,
      mentions: 0,
      digest: expect.stringMatching(/^[0-9a-f]{12}$/),
      heartbeat_ms: 30_000,
      expires_at: expect.any(Number),
    });
    expect(await socket.next('snapshot')).toMatchObject({ page: 1, end: true, rows: [{ conv: 'c1', unread: 2 }] });
  });

  test.each([
    ['any frame before hello', { t: 'ping' }, /^the first frame has to be a hello/],
    ['an ack', { t: 'ack', id: 1, items: [] }, /^the first frame has to be a hello/],
    ['a frame that nobody knows', { t: 'helo' }, /type is not known/],
    ['a hello without token', { t: 'hello', device: 'd', cursor: null }, /^token is missing/],
    ['a hello without cursor', { t: 'hello', token: 'x', device: 'd' }, /^cursor is missing/],
    ['a device that is no text', { t: 'hello', token: 'x', device: 7, cursor: null }, /^device must be/],
    ['an empty device', { t: 'hello', token: 'x', device: '', cursor: null }, /^device must be/],
    [
      'a version below 0',
      { t: 'hello', token: 'x', device: 'd', cursor: { epoch: 'e', sync_version: -1 } },
      /^cursor\.sync_version must be/,
    ],
    ['pages of no rows', { t: 'hello', token: 'x', device: 'd', cursor: null, max_rows: 0 }, /^max_rows must be/],
  ])('[DT5] %s: 4400, and the bye names it', async (_, frame, reason) => {
    const { open } = await openGatewayBench();
    const socket = await open();
    socket.send(frame);
    expect(await endOf(socket)).toEqual(ends(4400));
    expect(socket.log).toEqual([{ t: 'bye', code: 4400, reason: expect.stringMatching(reason) }]);
  });

  test('[DT5] a frame above 4 KiB before the welcome: 4400', async () => {
    const { open } = await openGatewayBench();
    const socket = await open();
    socket.send({ t: 'hello', token: 'x'.repeat(4090), device: 'd', cursor: null });
    expect(await endOf(socket)).toEqual(ends(4400));
    expect(socket.log).toHaveLength(1);
  });

  test('a hello of 4 KiB is taken', async () => {
    const { open, token } = await openGatewayBench();
    const socket = await open();
    const hello = { t: 'hello', token: await token('u1'), device: 'd', cursor: null, pad: '' };
    socket.send({ ...hello, pad: 'x'.repeat(4096 - JSON.stringify(hello).length) });
    expect((await socket.next('welcome')).t).toBe('welcome');
  });

  test('frames behind the hello are carried out in order, after the welcome', async () => {
    const bench = await openGatewayBench();
    await bench.accept(group);
    await bench.say('c1', 'u2', 5);
    const socket = await bench.open();
    const frames = [
      { t: 'hello', token: await bench.token('u1'), device: 'd', cursor: null },
      { t: 'ack', id: 1, items: [{ conv: 'c1', seq: 2 }] },
      { t: 'mark', id: 2, conv: 'c1', from_seq: 2 },
      { t: 'ping' },
    ];
    socket.bytes(...frames.map((frame) => rawFrame(JSON.stringify(frame))));
    await expect.poll(() => socket.log.filter(({ t }) => t === 'acked').length).toBe(2);
    expect(socket.log[0]?.t).toBe('welcome');
    expect(socket.log.filter(({ t }) => t === 'acked').map(({ id }) => id)).toEqual([1, 2]);
    expect(await bench.services.sync.view('u1')).toMatchObject({ total: 4 });
  });

  test('[DT6] hello, ack and close in one write: the ack is carried out', async () => {
    const bench = await openGatewayBench();
    await bench.accept(group);
    await bench.say('c1', 'u2', 5);
    const socket = await bench.open();
    const hello = { t: 'hello', token: await bench.token('u1'), device: 'd', cursor: null };
    const ack = { t: 'ack', id: 1, items: [{ conv: 'c1', seq: 5 }] };
    socket.bytes(
      rawFrame(JSON.stringify(hello)),
      rawFrame(JSON.stringify(ack)),
      rawFrame(Buffer.from([0x03, 0xe8]), { opcode: 8 }),
    );
    await socket.ended;
    await expect.poll(async () => (await bench.services.sync.view('u1')).total).toBe(0);
  });

  test('the same with a token that is not good: nothing is carried out', async () => {
    const bench = await openGatewayBench();
    await bench.accept(group);
    await bench.say('c1', 'u2', 5);
    const socket = await bench.open();
    const hello = { t: 'hello', token: await bench.token('u1', { secret: 'x'.repeat(32) }), device: 'd', cursor: null };
    const ack = { t: 'ack', id: 1, items: [{ conv: 'c1', seq: 5 }] };
    socket.bytes(rawFrame(JSON.stringify(hello)), rawFrame(JSON.stringify(ack)));
    expect(await endOf(socket)).toEqual(ends(4401));
    await bench.services.commands.flush();
    expect((await bench.services.sync.view('u1')).total).toBe(5);
  });
});

describe('tokens', () => {
  test.each([
    ['another secret', 4401, { secret: 'x'.repeat(32) }],
    ['expired', 4200, { ttlMs: -1000 }],
    ['for another device', 4401, { device: 'other' }],
  ])('%s', async (_, code, given) => {
    const { open, token } = await openGatewayBench();
    const socket = await open();
    socket.send({ t: 'hello', token: await token('u1', given), device: 'd1', cursor: null });
    expect(await endOf(socket)).toEqual(ends(code));
    expect(socket.log.length).toBe(1);
  });

  test('for this device it is good', async () => {
    const { open, token } = await openGatewayBench();
    const socket = await open();
    socket.send({ t: 'hello', token: await token('u1', { device: 'd1' }), device: 'd1', cursor: null });
    expect((await socket.next('welcome'))['user']).toBe('u1');
  });

  test('no frame after the expiry: a push ends the socket instead', async () => {
    const clock = createHandClock();
    const bench = await openGatewayBench({ clock });
    await bench.accept(group);
    const socket = await bench.open();
    socket.send({ t: 'hello', token: await bench.token('u1', { ttlMs: 12_000 }), device: 'd', cursor: null });
    const welcome = await socket.next('welcome');
    await socket.next('snapshot');
    const expiresInMs = (welcome['expires_at'] as number) - clock.nowMs();
    await clock.pass(expiresInMs - 1);
    await bench.say('c1', 'u2', 1);
    await socket.next('delta');
    const seen = socket.log.length;
    await clock.pass(1);
    await bench.say('c1', 'u2', 1);
    expect(await endOf(socket)).toEqual(ends(4200));
    expect(socket.log.length).toBe(seen + 1);
  });

  test('a quiet socket ends at its expiry too, within a second', async () => {
    const clock = createHandClock();
    const { open, token } = await openGatewayBench({ clock });
    const socket = await open();
    socket.send({ t: 'hello', token: await token('u1', { ttlMs: 10_000 }), device: 'd', cursor: null });
    await socket.next('snapshot');
    await clock.pass(11_000);
    expect(await endOf(socket)).toEqual(ends(4200));
  });

  test('a new token in band carries the socket over the first expiry', async () => {
    const clock = createHandClock();
    // None within the test: a clock moved by hand runs faster than any answer to a heartbeat, which would be missed.
    const { open, token } = await openGatewayBench({ clock, settings: { heartbeatMs: 60_000 } });
    const socket = await open();
    socket.send({ t: 'hello', token: await token('u1', { ttlMs: 10_000 }), device: 'd', cursor: null });
    await socket.next('snapshot');
    socket.send({ t: 'auth', token: await token('u1', { ttlMs: 30_000 }) });
    const expiresAt = (await socket.next('auth_ok'))['expires_at'] as number;
    await clock.pass(20_000);
    expect(await isAlive(socket)).toBe(true);
    await clock.pass(expiresAt - clock.nowMs() + 1000);
    expect(await endOf(socket)).toEqual(ends(4200));
  });

  test.each([
    ['of another user', 4401, 'u2', {}],
    ['of another device', 4401, 'u1', { device: 'other' }],
    ['with another secret', 4401, 'u1', { secret: 'x'.repeat(32) }],
    ['that has expired', 4200, 'u1', { ttlMs: -5000 }],
  ])('[DT5] a token in band %s', async (_, code, user, given) => {
    const bench = await openGatewayBench();
    const { socket } = await bench.connect('u1', 'd1');
    socket.send({ t: 'auth', token: await bench.token(user, given) });
    expect(await endOf(socket)).toEqual(ends(code));
  });
});

describe('one device, one socket', () => {
  test('the newer socket replaces the older, which is told so; no other is touched', async () => {
    const bench = await openGatewayBench();
    const first = await bench.connect('u1', 'd1');
    const others = [await bench.connect('u1', 'd2'), await bench.connect('u2', 'd1')];
    const second = await bench.connect('u1', 'd1');
    expect(await endOf(first.socket)).toEqual(ends(4404));
    for (const { socket } of [...others, second]) expect(await isAlive(socket)).toBe(true);
  });

  test.each([
    ['a lower attempt never replaces a higher one', 5, 4, false],
    ['an equal one does', 5, 5, true],
    ['a higher one does', 5, 6, true],
    ['without an attempt the newer one wins', 5, undefined, true],
    ['over one without an attempt the newer one wins', undefined, 1, true],
  ])('%s', async (_, first, second, replaces) => {
    const bench = await openGatewayBench();
    const hello = (attempt: number | undefined) => (attempt === undefined ? {} : { attempt });
    const older = await bench.connect('u1', 'd1', hello(first));
    const newer = await bench.open();
    newer.send({ t: 'hello', token: await bench.token('u1'), device: 'd1', cursor: null, ...hello(second) });
    const [loser, winner] = replaces ? [older.socket, newer] : [newer, older.socket];
    expect(await endOf(loser)).toEqual(ends(4404));
    expect(await isAlive(winner)).toBe(true);
    await bench.accept(group);
    expect((await winner.next('delta')).t).toBe('delta');
  });

  test('the end of a replaced socket takes nothing from the one that replaced it', async () => {
    const bench = await openGatewayBench();
    await bench.accept(group);
    let last = (await bench.connect('u1', 'd1')).socket;
    for (let i = 0; i < 5; i++) {
      const next = (await bench.connect('u1', 'd1')).socket;
      await last.ended;
      last = next;
    }
    await bench.say('c1', 'u2', 1);
    expect((await last.next('delta'))['total']).toBe(1);
  });

  test('a log-out closes one device or all of them, with 4402', async () => {
    const bench = await openGatewayBench();
    const [a, b, c] = [await bench.connect('u1', 'a'), await bench.connect('u1', 'b'), await bench.connect('u1', 'c')];
    await bench.wakeup.publishDisconnect('u1', 'b');
    expect(await endOf(b.socket)).toEqual(ends(4402));
    expect(await isAlive(a.socket)).toBe(true);
    await bench.wakeup.publishDisconnect('u1', null);
    expect([await endOf(a.socket), await endOf(c.socket)]).toEqual([ends(4402), ends(4402)]);
  });
});

describe('silence', () => {
  test('no hello in time: 4101', async () => {
    const clock = createHandClock();
    const { open } = await openGatewayBench({ clock });
    const socket = await open();
    await clock.pass(9900);
    expect(socket.log).toEqual([]);
    await clock.pass(1100);
    expect(await endOf(socket)).toEqual(ends(4101));
  });

  test('half a hello, and pings without end, are no hello', async () => {
    const clock = createHandClock();
    const { open } = await openGatewayBench({ clock });
    const [half, pings] = [await open(), await open()];
    half.bytes(rawFrame('{"t":"hello"', { fin: false }));
    for (let i = 0; i < 100; i++) pings.bytes(rawFrame('x'.repeat(125), { opcode: 9 }));
    await expect.poll(() => pings.pongs).toBe(100);
    await clock.pass(1000);
    expect(await endOf(pings)).toEqual(ends(4400));
    await clock.pass(10_000);
    expect(await endOf(half)).toEqual(ends(4101));
  });

  test('[DT6] a clock that is set back by hours slows nobody down and stops no heartbeat', async () => {
    const clock = createHandClock();
    const bench = await openGatewayBench({ clock });
    const { socket } = await bench.connect('u1', 'd1');
    const other = (await bench.connect('u1', 'd2')).socket;
    clock.set(-5 * 3_600_000);
    for (let i = 0; i < 200; i++) socket.send({ t: 'ping' });
    await expect.poll(() => socket.log.filter(({ t }) => t === 'hb').length).toBe(200);
    const beats = (): number => socket.log.filter(({ t }) => t === 'hb').length;
    // Step by step, with a way there and back on another socket: what was written before it has arrived.
    for (let seconds = 0; seconds < 26 && beats() === 200; seconds++) {
      await clock.pass(1000);
      await isAlive(other);
    }
    await expect.poll(beats).toBe(201);
    expect(socket.log.filter(({ t }) => t === 'bye')).toEqual([]);
  });

  test('[DT6] a clock that is set forward ends sockets only where their token is over by it', async () => {
    const clock = createHandClock();
    const bench = await openGatewayBench({ clock });
    const [short, long] = [await bench.open(), await bench.open()];
    short.send({ t: 'hello', token: await bench.token('u1'), device: 'd1', cursor: null });
    long.send({ t: 'hello', token: await bench.token('u1', { ttlMs: 24 * 3_600_000 }), device: 'd2', cursor: null });
    await Promise.all([short.next('welcome'), long.next('welcome')]);
    clock.set(5 * 3_600_000);
    await clock.pass(1000);
    expect(await endOf(short)).toEqual(ends(4200));
    long.send({ t: 'ping' });
    await long.next('hb');
  });

  test('every peer that answers pings stays; one that sends nothing at all is given up after a heartbeat', async () => {
    const clock = createHandClock();
    const bench = await openGatewayBench({ clock });
    const dead = (await bench.connect('u1', 'dead')).socket;
    const alive = (await bench.connect('u1', 'alive')).socket;
    const busy = (await bench.connect('u1', 'busy')).socket;
    for (let seconds = 0; seconds < 34 && dead.log.at(-1)?.t !== 'bye'; seconds++) {
      await clock.pass(1000);
      // Whatever was written before this way there and back has arrived: here the ping, and over there the pong.
      await isAlive(busy);
      for (; alive.pings > 0; alive.pings--) alive.bytes(rawFrame('', { opcode: 10 }));
      await isAlive(busy);
    }
    expect(await endOf(dead)).toEqual(ends(4101));
    expect(alive.log.filter(({ t }) => t === 'hb').length).toBeGreaterThan(0);
    expect(await isAlive(alive)).toBe(true);
  });

  test('[SY7] heartbeats carry where the socket stands', async () => {
    const clock = createHandClock();
    const bench = await openGatewayBench({ clock });
    await bench.accept(group);
    const { socket, welcome } = await bench.connect('u1', 'd1');
    await bench.say('c1', 'u2', 3);
    const delta = await socket.next('delta');
    await clock.pass(26_000);
    expect(await socket.next('hb')).toEqual({
      t: 'hb',
      epoch: welcome['epoch'],
      sync_version: delta['sync_version'],
      total: 3,
      digest: delta['digest'],
    });
  });
});
