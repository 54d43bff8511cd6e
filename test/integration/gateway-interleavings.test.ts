import { describe, expect, test } from 'vitest';
import type { LargeNotice } from '../../src/ports.ts';
import { type BenchOptions, type GatewayBench, openGatewayBench } from '../support/gateway-bench.ts';
import { createHandClock } from '../support/hand-clock.ts';
import { overriding } from '../support/overriding.ts';
import { createStop } from '../support/stop.ts';

/** ARCHITECTURE, flows between a socket and the state. The clock stands still, so nothing is found later that was missed at first. */
const GROUP_THRESHOLD = 5;
const FOUNDING = {
  type: 'conversation.created',
  conv: 'c1',
  members: Array.from({ length: GROUP_THRESHOLD + 1 }, (_, n) => `u${n + 1}`),
};

/** A hello has read the state, and stands still before it is answered. */
async function stoppedHello(options: BenchOptions = {}) {
  const stop = createStop();
  const bench = await openGatewayBench({
    clock: createHandClock(),
    tamper: (services) => ({
      ...services,
      sync: overriding(services.sync, {
        async view(user, sinceVersion) {
          const view = await services.sync.view(user, sinceVersion);
          await stop.here();
          return view;
        },
      }),
    }),
    ...options,
  });
  await bench.accept(FOUNDING);
  const socket = await bench.open();
  socket.send({ t: 'hello', token: await bench.token('u1'), device: 'd', cursor: null });
  await stop.reached;
  return { bench, socket, letGo: stop.letGo };
}

/** Resolves when the nodes have been told of a large conversation. */
async function toldOfLarge(bench: GatewayBench, run: () => Promise<void>): Promise<void> {
  const notices: LargeNotice[] = [];
  bench.wakeup.subscribe({ changes: () => {}, large: (more) => void notices.push(...more), disconnect: () => {} });
  await run();
  await expect.poll(() => notices.length).toBeGreaterThan(0);
}

describe('between the read of the state and the welcome', () => {
  test('[SY5] a message comes: the welcome is without it, and a delta follows', async () => {
    const { bench, socket, letGo } = await stoppedHello();
    await bench.say('c1', 'u2', 2);
    letGo();
    expect(await socket.next('welcome')).toMatchObject({ total: 0 });
    expect(await socket.next('delta')).toMatchObject({ total: 2 });
  });

  test('[SY5][CN8] the notice of a large conversation comes: its row is derived all the same', async () => {
    const { bench, socket, letGo } = await stoppedHello({ groupThreshold: GROUP_THRESHOLD });
    await toldOfLarge(bench, () => bench.say('c1', 'u2', 2));
    letGo();
    expect(await socket.next('welcome')).toMatchObject({ total: 0 });
    expect(await socket.next('delta')).toMatchObject({ total: 2 });
  });
});

test('[CN8][SY4] the notice of a large conversation is lost, and nothing else is heard: it is found within a heartbeat', async () => {
  const clock = createHandClock();
  const bench = await openGatewayBench({ clock, groupThreshold: GROUP_THRESHOLD });
  await bench.accept(FOUNDING);
  const { socket } = await bench.connect('u1', 'd');
  await socket.next('snapshot');
  bench.wakeup.isLosing = true;
  await bench.say('c1', 'u2', 3);
  for (let i = 0; i < 60 && !socket.log.some(({ t }) => t === 'delta'); i++) {
    await clock.pass(1000);
    socket.send({ t: 'ping' });
    await socket.next('hb');
  }
  await expect.poll(() => socket.log.find(({ t }) => t === 'delta')).toMatchObject({ total: 3 });
});
