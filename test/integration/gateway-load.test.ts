import { describe, expect, test } from 'vitest';
import { type GatewayBench, openGatewayBench } from '../support/gateway-bench.ts';
import { createHandClock } from '../support/hand-clock.ts';
import { Opcode, rawFrame, type RawSocket } from '../support/raw-socket.ts';

const group = { type: 'conversation.created', conv: 'c1', members: ['u1', 'u2', 'u3'] };

/** Changes with rows so long that they fill the buffers of the network when nobody reads; answers how many messages it took. */
async function fill(bench: GatewayBench): Promise<number> {
  let messages = 0;
  while ((await coalesced(bench)) < 40) {
    const events = Array.from({ length: 400 }, (_, n) => ({
      type: 'message.created',
      conv: `${'x'.repeat(100)}-${n}`,
      message_id: `m${messages}-${n}`,
      sender: 'u2',
      members: ['u1'],
    }));
    await bench.accept(...events);
    messages += events.length;
    // Writes go out between the changes, as they would over time.
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return messages;
}

/** Changes that had to wait for a socket. */
async function coalesced({ metrics }: GatewayBench): Promise<number> {
  return Number(/tidemark_pending_coalesced_total (\d+)/.exec(await metrics.render())?.[1] ?? 0);
}

async function isAlive(socket: RawSocket): Promise<boolean> {
  socket.send({ t: 'ping' });
  return (await socket.next('hb')).t === 'hb';
}

describe('who does not read', () => {
  test('gets fewer, newer frames, and delays nobody', async () => {
    // It stands still: however long the filling takes, nobody is given up as too slow.
    const bench = await openGatewayBench({ clock: createHandClock() });
    await bench.accept(group);
    const slow = (await bench.connect('u1', 'slow')).socket;
    const fast = (await bench.connect('u1', 'fast')).socket;
    await slow.next('snapshot');
    slow.pause();
    const total = await fill(bench);
    await expect.poll(() => fast.log.at(-1)?.['total']).toBe(total);
    const fastDeltas = fast.log.filter(({ t }) => t === 'delta').length;
    slow.resume();
    await expect.poll(() => slow.log.at(-1)?.['total']).toBe(total);
    const slowFrames = slow.log.filter(({ t }) => t === 'delta' || t === 'synced').length;
    expect(slowFrames).toBeLessThan(fastDeltas);
    expect(await isAlive(slow)).toBe(true);
  });

  test('is closed with 4100 when a write does not end in time; the others stay', async () => {
    const clock = createHandClock();
    const bench = await openGatewayBench({ clock, settings: { silenceMaxMs: 1_000_000 } });
    await bench.accept(group);
    const slow = (await bench.connect('u1', 'slow')).socket;
    const fast = (await bench.connect('u1', 'fast')).socket;
    await slow.next('snapshot');
    slow.pause();
    const total = await fill(bench);
    // The others have read everything: what does not end is written to the one.
    await expect.poll(() => fast.log.at(-1)?.['total']).toBe(total);
    await clock.pass(11_000);
    slow.resume();
    const { code, bye } = await slow.ended;
    // The bye is behind what was not read; where the rest of that does not get through, the line is cut.
    expect([4100, null]).toContain(code);
    expect([4100, undefined]).toContain(bye?.['code']);
    expect(await isAlive(fast)).toBe(true);
    expect(await bench.metrics.render()).toContain('tidemark_closes_total{code="4100"} 1');
  });
});

describe('who sends a lot', () => {
  test('500 frames in one second pass, merged, and each is answered', async () => {
    const bench = await openGatewayBench();
    await bench.accept(group);
    await bench.say('c1', 'u2', 500);
    const { socket } = await bench.connect('u1', 'd1');
    const frames = Array.from({ length: 500 }, (_, n) => ({
      t: 'ack',
      id: n + 1,
      items: [{ conv: 'c1', seq: n + 1 }],
    }));
    socket.bytes(...frames.map((frame) => rawFrame(JSON.stringify(frame))));
    await expect.poll(() => socket.log.filter(({ t }) => t === 'acked').length).toBe(500);
    expect(socket.log.filter(({ t }) => t === 'acked').map(({ id }) => id)).toEqual(frames.map(({ id }) => id));
    expect(socket.log.at(-1)).toMatchObject({ total: 0 });
    expect(socket.log.filter(({ t }) => t === 'delta').length).toBeLessThan(100);
  });

  test('more than that is read more slowly, and none of it is lost', async () => {
    const bench = await openGatewayBench({ settings: { framesBurst: 100, framesPerSecond: 2000 } });
    const { socket } = await bench.connect('u1', 'd1');
    for (let n = 0; n < 1000; n++) socket.send({ t: 'ping' });
    await expect.poll(() => socket.log.filter(({ t }) => t === 'hb').length).toBe(1000);
    expect(await bench.metrics.render()).toContain('tidemark_rate_limited_total{scope="frames"}');
  });

  test('what no client has reason to send ends the socket with 4103 and a time to come back', async () => {
    const bench = await openGatewayBench({ settings: { framesBurst: 100, framesPerSecond: 50 } });
    const { socket } = await bench.connect('u1', 'd1');
    const pongs = rawFrame('', { opcode: Opcode.pong });
    socket.bytes(...Array.from({ length: 2000 }, () => pongs));
    const { code, bye } = await socket.ended;
    expect([code, bye?.['code'], (bye?.['retry_ms'] as number) > 0]).toEqual([4103, 4103, true]);
  });

  test('a flood of one user does not keep another one waiting', async () => {
    const bench = await openGatewayBench();
    await bench.accept(group);
    const flood = (await bench.connect('u1', 'd1')).socket;
    const other = (await bench.connect('u3', 'd1')).socket;
    for (let n = 0; n < 3000; n++) flood.send({ t: 'sync', cursor: null });
    await bench.say('c1', 'u2', 1);
    expect(await other.next('delta')).toMatchObject({ total: 1 });
    expect(await isAlive(other)).toBe(true);
  });

  test('commands that are not answered yet stop the reading, not the memory', async () => {
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    let handed = 0;
    const bench = await openGatewayBench({
      settings: { framesBurst: 100_000, framesPerSecond: 100_000 },
      tamper: (services) =>
        Object.create(services, {
          commands: {
            value: {
              flush: () => services.commands.flush(),
              ack: async (...args: Parameters<typeof services.commands.ack>) => {
                handed++;
                await opened;
                return services.commands.ack(...args);
              },
            },
          },
        }) as typeof services,
    });
    await bench.accept(group);
    const { socket } = await bench.connect('u1', 'd1');
    // What counts is their bytes, and not what it takes to carry them out.
    const ack = { t: 'ack', items: [{ conv: 'c1', seq: 1 }], pad: 'x'.repeat(20_000) };
    for (let id = 1; id <= 600; id++) socket.send({ ...ack, id });
    // What neither side reads stays with the sender.
    await expect.poll(() => socket.socket.writableLength > 1_000_000 && handed > 10).toBe(true);
    expect(handed).toBeLessThan(60);
    open();
    await expect.poll(() => socket.log.filter(({ t }) => t === 'acked').length).toBe(600);
  });
});

describe('the drain', () => {
  test('every socket gets its own time to come back, spread over the window; new ones are refused', async () => {
    const bench = await openGatewayBench();
    const sockets = [];
    for (let n = 0; n < 20; n++) sockets.push((await bench.connect(`u${n}`, 'd')).socket);
    const greeting = await bench.open();
    await bench.gateway.drain(10_000);
    const byes: number[] = [];
    for (const socket of [...sockets, greeting]) {
      const { code, bye } = await socket.ended;
      expect([code, bye?.['code']]).toEqual([4000, 4000]);
      byes.push(Number(bye?.['retry_ms']));
    }
    const sorted = byes.toSorted((a, b) => a - b);
    expect([sorted[0], sorted.at(-1)].map((ms) => ms !== undefined && ms >= 0 && ms < 10_000)).toEqual([true, true]);
    const gaps = sorted.slice(1).map((ms, i) => ms - (sorted[i] as number));
    expect([Math.min(...gaps) > 400, Math.max(...gaps) < 550]).toEqual([true, true]);
    await expect(bench.open()).rejects.toThrow('503');
    expect(bench.gateway.connections).toBe(0);
  });

  test('commands received before it are answered before the bye', async () => {
    const bench = await openGatewayBench();
    await bench.accept(group);
    await bench.say('c1', 'u2', 100);
    const { socket } = await bench.connect('u1', 'd1');
    const frames = Array.from({ length: 100 }, (_, n) => ({
      t: 'ack',
      id: n + 1,
      items: [{ conv: 'c1', seq: n + 1 }],
    }));
    socket.bytes(...frames.map((frame) => rawFrame(JSON.stringify(frame))));
    await socket.next('acked');
    await bench.gateway.drain(0);
    await socket.ended;
    const answered = socket.log.filter(({ t }) => t === 'acked').length;
    expect(socket.log.at(-1)?.t).toBe('bye');
    // What was still on its way is not answered; its client sends it again.
    const total = (await bench.services.sync.view('u1')).total;
    expect(total).toBeLessThanOrEqual(100 - answered);
  });

  test('a client that does not hang up is cut, and the drain ends', async () => {
    const bench = await openGatewayBench({ settings: { closeTimeoutMs: 50 } });
    const { socket } = await bench.connect('u1', 'd1');
    socket.pause();
    await bench.gateway.drain(1000);
    await expect.poll(() => bench.gateway.connections).toBe(0);
  });
});
