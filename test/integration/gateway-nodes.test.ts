import { describe, expect, test } from 'vitest';
import { type GatewayBench, openGatewayBench } from '../support/gateway-bench.ts';
import type { RawSocket } from '../support/raw-socket.ts';

/** A socket that has said hello; whether it is ever welcomed is another matter. */
async function greeting(bench: GatewayBench, user: string, port: number, hello: object = {}): Promise<RawSocket> {
  const socket = await bench.open(undefined, port);
  socket.send({ t: 'hello', token: await bench.token(user), device: 'phone', cursor: null, ...hello });
  return socket;
}

describe('one device on two nodes', () => {
  test('the newer connection stays, and the older one ends with 4404 on its own node', async () => {
    const bench = await openGatewayBench();
    const elsewhere = await bench.openAnother();
    const older = await bench.connect('u1', 'phone');
    const laptop = await bench.connect('u1', 'laptop');
    const newer = await bench.connect('u1', 'phone', {}, elsewhere);
    expect(await older.socket.next('bye')).toMatchObject({ code: 4404 });
    const back = await bench.connect('u1', 'phone');
    expect(await newer.socket.next('bye')).toMatchObject({ code: 4404 });
    for (const { socket } of [back, laptop]) {
      socket.send({ t: 'ping' });
      expect(await socket.next('hb')).toMatchObject({ t: 'hb' });
    }
  });

  test('where both say which attempt they are, the lower one ends, though it came later', async () => {
    const bench = await openGatewayBench();
    const elsewhere = await bench.openAnother();
    const high = await bench.connect('u1', 'phone', { attempt: 7 });
    // What was made known after it has been heard, so it has been, too.
    const first = await bench.connect('u2', 'phone');
    await bench.connect('u2', 'phone', {}, elsewhere);
    expect(await first.socket.next('bye')).toMatchObject({ code: 4404 });
    const low = await greeting(bench, 'u1', elsewhere, { attempt: 6 });
    expect(await low.next('bye')).toMatchObject({ code: 4404 });
    high.socket.send({ t: 'ping' });
    expect(await high.socket.next('hb')).toMatchObject({ t: 'hb' });
    const higher = await bench.connect('u1', 'phone', { attempt: 8 }, elsewhere);
    expect(await high.socket.next('bye')).toMatchObject({ code: 4404 });
    higher.socket.send({ t: 'ping' });
    expect(await higher.socket.next('hb')).toMatchObject({ t: 'hb' });
  });

  test('of two that open at the same moment one stays', async () => {
    const bench = await openGatewayBench();
    const elsewhere = await bench.openAnother();
    const users = Array.from({ length: 10 }, (_, n) => `u${n}`);
    const pairs = await Promise.all(
      users.map((user) => Promise.all([greeting(bench, user, bench.port), greeting(bench, user, elsewhere)])),
    );
    const told = (socket: RawSocket): boolean => socket.log.some(({ t }) => t === 'bye');
    await expect.poll(() => pairs.every((pair) => pair.some(told))).toBe(true);
    for (const pair of pairs) {
      const [stays, ...others] = pair.filter((socket) => !told(socket));
      expect(others).toEqual([]);
      stays?.send({ t: 'ping' });
      expect(await stays?.next('hb')).toMatchObject({ t: 'hb' });
    }
  });
});
