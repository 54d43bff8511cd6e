import { describe, expect, test } from 'vitest';
import type { ServerFrame } from '../../protocol/index.ts';
import { type GatewayBench, openGatewayBench } from '../support/gateway-bench.ts';
import { createHandClock } from '../support/hand-clock.ts';
import { JudgedDevice } from '../support/judged-device.ts';
import type { RawSocket } from '../support/raw-socket.ts';

/** Judges all frames of a socket so far, and tells whether the device then shows what the state holds. */
async function mustShow(
  bench: GatewayBench,
  user: string,
  socket: RawSocket,
  start: readonly RawSocket[] = [],
): Promise<JudgedDevice> {
  const judge = (): JudgedDevice => {
    const device = new JudgedDevice();
    for (const one of [...start, socket]) device.take(...(one.log as unknown as ServerFrame[]));
    return device;
  };
  await expect
    .poll(async () => {
      const { state, isSettled } = judge();
      const view = await bench.services.sync.view(user);
      return (
        [isSettled, state.epoch, state.syncVersion, state.total].join() ===
        [true, view.epoch, view.syncVersion, view.total].join()
      );
    })
    .toBe(true);
  const device = judge();
  expect(device.sync().digest).toBe((await bench.services.sync.view(user)).digest);
  return device;
}

const members = (...users: string[]) => ({ type: 'conversation.created', conv: 'c1', members: users });

describe('[SY2] hello and sync', () => {
  test('the four answers to a cursor', async () => {
    const bench = await openGatewayBench();
    await bench.accept(members('u1', 'u2'));
    const { socket, welcome } = await bench.connect('u1', 'd1');
    const epoch = welcome['epoch'];
    await bench.say('c1', 'u2', 3);
    const { sync_version: version } = await socket.next('delta');
    const cases = [
      [{ epoch, sync_version: version }, 'noop', undefined],
      [{ epoch, sync_version: 1 }, 'delta', undefined],
      [{ epoch, sync_version: 1000 }, 'snapshot', 'ahead'],
      [{ epoch: 'another', sync_version: version }, 'snapshot', 'epoch'],
      [{ epoch, sync_version: 0 }, 'snapshot', 'floor'],
      [null, 'snapshot', 'requested'],
    ] as const;
    for (const [cursor, mode, reason] of cases) {
      socket.send({ t: 'sync', cursor });
      const synced = await socket.next('synced');
      expect([synced['mode'], synced['reason'], synced['sync_version']]).toEqual([mode, reason, version]);
      const hello = await bench.connect('u1', 'd2', { cursor });
      const helloReason = reason === 'requested' ? 'first' : reason;
      expect([hello.welcome['mode'], hello.welcome['reason']]).toEqual([mode, helloReason]);
    }
  });

  test('a warm noop reads the state once and truth not at all', async () => {
    // It stands still: the comparison in the background reads, too.
    const bench = await openGatewayBench({ clock: createHandClock() });
    await bench.accept(members('u1', 'u2'));
    const { welcome } = await bench.connect('u1', 'd1');
    let reads = 0;
    const read = bench.state.read;
    bench.state.read = (user, since) => {
      reads++;
      return read(user, since);
    };
    const cursor = { epoch: welcome['epoch'], sync_version: welcome['sync_version'] };
    expect((await bench.connect('u1', 'd2', { cursor })).welcome['mode']).toBe('noop');
    expect(reads).toBe(1);
  });

  test('a state that cannot be read: 4102 with a time to come back; a sync: an error, and the socket stays', async () => {
    const bench = await openGatewayBench();
    const { socket } = await bench.connect('u1', 'd1');
    const { Unavailable } = await import('../../src/errors.ts');
    const read = bench.state.read;
    bench.state.read = () => Promise.reject(new Unavailable('the state is away', 700));
    const other = await bench.open();
    other.send({ t: 'hello', token: await bench.token('u2'), device: 'd1', cursor: null });
    const { code, bye } = await other.ended;
    expect([code, (bye?.['retry_ms'] as number) >= 700]).toEqual([4102, true]);
    socket.send({ t: 'sync', cursor: null });
    const error = await socket.next('error');
    expect(error).toMatchObject({ code: 'unavailable', retry_ms: 700 });
    expect(error['message']).not.toContain('state');
    bench.state.read = read;
    socket.send({ t: 'sync', cursor: null });
    expect((await socket.next('synced'))['mode']).toBe('snapshot');
  });
});

describe('[SY6] pages over a reconnect', () => {
  test('cut after any page, changed meanwhile, resumed: the device shows what the state holds', async () => {
    for (const cutAfter of [1, 2, 4]) {
      const bench = await openGatewayBench();
      for (let n = 1; n <= 9; n++) {
        await bench.say(`k${n}`, 'u2', 1, { members: ['u1', 'u2'] });
      }
      const first = await bench.connect('u1', 'd1', { max_rows: 2 });
      let page = await first.socket.next('snapshot');
      while ((page['page'] as number) < cutAfter) page = await first.socket.next('snapshot');
      first.socket.cut();
      await first.socket.ended;
      // What came behind the page that the device saw is lost with the line.
      first.socket.log.splice(first.socket.log.indexOf(page) + 1);
      await bench.say('k1', 'u2', 2);
      await bench.say('fresh', 'u2', 1, { members: ['u1', 'u2'] });
      await bench.accept(
        { type: 'member.left', conv: 'k9', users: ['u1'] },
        { type: 'member.left', conv: 'k2', users: ['u1'] },
      );
      const again = await bench.connect('u1', 'd1', { max_rows: 2, page: page['next'] });
      expect([again.welcome['mode'], again.welcome['sync_version']]).toEqual([
        'snapshot',
        first.welcome['sync_version'],
      ]);
      const device = await mustShow(bench, 'u1', again.socket, [first.socket]);
      expect([device.unread('k1'), device.unread('fresh'), device.unread('k9'), device.unread('k2')]).toEqual([
        3,
        1,
        undefined,
        undefined,
      ]);
      expect(again.socket.log.find(({ t }) => t === 'snapshot')?.['page']).toBe(cutAfter + 1);
    }
  });

  test('[SY7] where one version since has more rows than a delta takes, it starts anew', async () => {
    const bench = await openGatewayBench();
    const convs = Array.from({ length: 1200 }, (_, i) => `c${i}`);
    for (let i = 0; i < convs.length; i += 400) {
      const some = convs.slice(i, i + 400);
      const founded = { type: 'message.created', message_id: 'm1', sender: 'u2', members: ['u1', 'u2'] };
      await bench.accept(...some.map((conv) => ({ ...founded, conv })));
    }
    const first = await bench.connect('u1', 'd1', { max_rows: 50 });
    const page = await first.socket.next('snapshot');
    first.socket.cut();
    await first.socket.ended;
    first.socket.log.splice(first.socket.log.indexOf(page) + 1);
    await bench.services.commands.readAll('u1', {});
    const again = await bench.connect('u1', 'd1', { max_rows: 200, page: page['next'] });
    expect(again.welcome).toMatchObject({ mode: 'snapshot', total: 0 });
    expect(await again.socket.next('snapshot')).toMatchObject({ page: 1 });
    const device = await mustShow(bench, 'u1', again.socket, [first.socket]);
    expect([device.unread('c0'), device.unread('c1199')]).toEqual([0, 0]);
  });

  test('a token of another user starts anew', async () => {
    const bench = await openGatewayBench();
    for (let n = 1; n <= 4; n++) await bench.say(`k${n}`, 'u3', 1, { members: ['u1', 'u2', 'u3'] });
    const one = await bench.connect('u1', 'd1', { max_rows: 1 });
    const page = await one.socket.next('snapshot');
    const other = await bench.connect('u2', 'd1', { max_rows: 1, page: page['next'] });
    expect(other.welcome).toMatchObject({ mode: 'snapshot', reason: 'first' });
    expect(await other.socket.next('snapshot')).toMatchObject({ page: 1 });
    await mustShow(bench, 'u2', other.socket);
  });
});

describe('[SY10] a state that is lost', () => {
  test('open sockets are told by synced, before any other frame of the new epoch, and show no wrong number', async () => {
    const bench = await openGatewayBench();
    await bench.accept(members('u1', 'u2'));
    await bench.say('c1', 'u2', 3);
    const [a, b] = [await bench.connect('u1', 'a'), await bench.connect('u1', 'b')];
    await bench.state.drop('u1');
    await bench.say('c1', 'u2', 2);
    a.socket.send({ t: 'ack', id: 1, items: [{ conv: 'c1', seq: 1 }] });
    expect(await a.socket.next('acked')).toMatchObject({ id: 1, total: 4 });
    for (const { socket } of [a, b]) {
      const device = await mustShow(bench, 'u1', socket);
      expect(device.unread('c1')).toBe(4);
      const newer = socket.log.filter((frame) => 'epoch' in frame && frame['epoch'] !== a.welcome['epoch']);
      expect(newer[0]).toMatchObject({ t: 'synced', mode: 'snapshot', reason: 'epoch' });
    }
  });
});

describe('[SY4] wake-ups that are lost', () => {
  test('the next one that arrives brings everything', async () => {
    const bench = await openGatewayBench();
    await bench.accept(members('u1', 'u2'));
    const { socket } = await bench.connect('u1', 'd1');
    bench.wakeup.isLosing = true;
    await bench.say('c1', 'u2', 3);
    await bench.say('c2', 'u2', 1, { members: ['u1'] });
    bench.wakeup.isLosing = false;
    await bench.say('c3', 'u2', 1, { members: ['u1'] });
    const device = await mustShow(bench, 'u1', socket);
    expect(device.state.total).toBe(5);
    expect(socket.log.filter(({ t }) => t === 'synced')).toEqual([]);
  });

  test('an answer to a command does not wait for ever for a push that is lost', async () => {
    const bench = await openGatewayBench();
    await bench.accept(members('u1', 'u2'));
    await bench.say('c1', 'u2', 3);
    const { socket } = await bench.connect('u1', 'd1');
    bench.wakeup.isLosing = true;
    socket.send({ t: 'ack', id: 9, items: [{ conv: 'c1', seq: 3 }] });
    expect(await socket.next('acked')).toMatchObject({ id: 9, total: 0, items: [{ status: 'applied' }] });
    expect((await mustShow(bench, 'u1', socket)).unread('c1')).toBe(0);
  });

  test('without any further event it is found within a heartbeat', async () => {
    const clock = createHandClock();
    const bench = await openGatewayBench({ clock });
    await bench.accept(members('u1', 'u2'));
    const { socket } = await bench.connect('u1', 'd1');
    await socket.next('snapshot');
    bench.wakeup.isLosing = true;
    await bench.say('c1', 'u2', 3);
    for (let i = 0; i < 60 && !socket.log.some(({ t }) => t === 'delta'); i++) {
      await clock.pass(1000);
      socket.send({ t: 'ping' });
      await socket.next('hb');
    }
    expect((await mustShow(bench, 'u1', socket)).state.total).toBe(3);
  });
});

describe('[CN8] large conversations', () => {
  const people = (count: number) => Array.from({ length: count }, (_, n) => `u${n + 1}`);

  test('their messages reach connected members, whoever else there is', async () => {
    const bench = await openGatewayBench({ groupThreshold: 5 });
    await bench.accept(members(...people(8)));
    const [a, b] = [await bench.connect('u1', 'd'), await bench.connect('u3', 'd')];
    await bench.say('c1', 'u2', 4);
    for (const [user, { socket }] of [
      ['u1', a],
      ['u3', b],
    ] as const) {
      expect((await mustShow(bench, user, socket)).unread('c1')).toBe(4);
    }
  });

  test('a conversation that becomes large while a member is connected', async () => {
    const bench = await openGatewayBench({ groupThreshold: 5 });
    await bench.accept(members(...people(5)));
    const { socket } = await bench.connect('u1', 'd');
    await bench.say('c1', 'u2', 1);
    await bench.accept({ type: 'member.joined', conv: 'c1', users: ['u6', 'u7'] });
    await bench.say('c1', 'u2', 3);
    expect((await mustShow(bench, 'u1', socket)).unread('c1')).toBe(4);
    expect(socket.log.some(({ t, total }) => t === 'delta' && total === 4)).toBe(true);
  });

  test('who joins a large conversation while connected', async () => {
    const bench = await openGatewayBench({ groupThreshold: 5 });
    await bench.accept(members(...people(8)));
    const { socket } = await bench.connect('u20', 'd');
    await bench.say('c1', 'u2', 2);
    await bench.accept({ type: 'member.joined', conv: 'c1', users: ['u20'] });
    await bench.say('c1', 'u2', 3);
    await expect.poll(() => socket.log.some(({ t, total }) => t === 'delta' && total === 3)).toBe(true);
    expect((await mustShow(bench, 'u20', socket)).unread('c1')).toBe(3);
  });

  test('a hello with nothing new still hears of what comes', async () => {
    const bench = await openGatewayBench({ groupThreshold: 5 });
    await bench.accept(members(...people(8)));
    const first = await bench.connect('u1', 'd');
    first.socket.cut();
    await first.socket.ended;
    const cursor = { epoch: first.welcome['epoch'], sync_version: first.welcome['sync_version'] };
    const again = await bench.connect('u1', 'd', { cursor });
    expect(again.welcome['mode']).toBe('noop');
    await bench.say('c1', 'u2', 2);
    expect(await again.socket.next('delta')).toMatchObject({ total: 2 });
  });
});
