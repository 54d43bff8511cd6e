import { describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import type { WebSocketConstructor } from '../../client/index.ts';
import { msgpackCodec } from '../../client/msgpack.ts';
import { clientJsonCodec } from '../../client/json-codec.ts';
import { randomOf } from '../../loadtest/random.ts';
import { countedIn, shownOf, signedToken, startProduct, until } from '../support/product.ts';

const message = (conv: string, id: string, more: object = {}) => ({
  type: 'message.created',
  conv,
  message_id: `${conv}-${id}`,
  sender: 'u2',
  members: ['u1', 'u2'],
  ...more,
});

/** Between its refresh and its end lies a quarter of it: enough for an answer on a busy machine. */
const TOKEN_MS = 6_000;

describe.each([clientJsonCodec, msgpackCodec])('$subprotocol', (codec) => {
  test('[AK5][LC4][LC5] what is done on one device shows on the other, and is what the server counts', async () => {
    const product = await startProduct();
    await product.post(
      ...['c1', 'c2', 'c3'].flatMap((conv) => [message(conv, 'a'), message(conv, 'b', { mentions: ['u1'] })]),
    );
    const phone = product.client('u1', { codec });
    const laptop = product.client('u1', { codec });
    await Promise.all([phone, laptop].map((device) => device.waitFor('live')));
    expect(shownOf(phone)).toMatchObject({ total: 6, badge: 6, mentions: 3 });

    phone.markRead('c1');
    expect(phone.get('c1')).toMatchObject({ unread: 0, readSeq: 2 });
    phone.mute('c2');
    phone.markRead('c3', { upTo: 1 });
    laptop.hide('c3');
    phone.markUnread('c1');
    await until(laptop, () => laptop.get('c1')?.marked === true && laptop.get('c2')?.muted === true);
    await until(phone, () => phone.pending().length === 0 && phone.list().length === 2);
    expect(phone.isUnread('c2', 1)).toBe(true);
    expect(phone.isUnread('c1', 2)).toBe(false);

    await product.post(message('c3', 'c'), message('c4', 'a'));
    await until(laptop, () => laptop.list().length === 4 && laptop.get('c3')?.unread === 2);
    await until(phone, () => phone.list().length === 4);
    const counted = countedIn(await product.unread('u1'));
    expect(shownOf(phone)).toEqual(counted);
    expect(shownOf(laptop)).toEqual(counted);

    laptop.markAllRead();
    await until(phone, () => phone.total() === 0);
    phone.clear('c4');
    await until(laptop, () => laptop.get('c4') === undefined);
    expect(shownOf(laptop)).toEqual(countedIn(await product.unread('u1')));
  });

  test('[AK4][SY2] a server that is killed: what was read before, during and after it is read when it is back', async () => {
    const product = await startProduct();
    const convs = Array.from({ length: 30 }, (_, i) => `c${i}`);
    await product.post(...convs.map((conv) => message(conv, 'a')));
    const phone = product.client('u1', { codec });
    const laptop = product.client('u1', { codec });
    await Promise.all([phone, laptop].map((device) => device.waitFor('live')));

    for (const conv of convs.slice(0, 10)) phone.markRead(conv);
    const killed = product.kill();
    for (const conv of convs.slice(10, 20)) phone.markRead(conv);
    await killed;
    await until(phone, () => phone.state === 'resuming');
    for (const conv of convs.slice(20, 29)) phone.markRead(conv);
    // Nothing goes blank while the server is away.
    expect([phone.total(), laptop.list().length]).toEqual([1, 30]);
    expect(phone.pending().length).toBeGreaterThanOrEqual(9);

    await product.start();
    await until(phone, () => phone.state === 'live' && phone.pending().length === 0);
    await until(laptop, () => laptop.state === 'live' && laptop.total() === 1);
    const counted = await product.unread('u1');
    expect(counted.total).toBe(1);
    expect(shownOf(phone)).toEqual(countedIn(counted));
    expect(shownOf(laptop)).toEqual(countedIn(counted));
  });

  test('50 random cuts while messages come and are read: no device loses or invents a number', async () => {
    const random = randomOf(50);
    const product = await startProduct();
    const sockets = new Set<WebSocket>();
    class CuttableSocket extends WebSocket {
      constructor(url: string, protocols: string[]) {
        super(url, protocols);
        sockets.add(this);
        this.on('close', () => sockets.delete(this));
      }
    }
    const users = ['u1', 'u3', 'u4', 'u5', 'u6'];
    const convs = ['c1', 'c2', 'c3', 'c4'];
    const members = ['u2', ...users];
    await product.post(...convs.map((conv) => ({ type: 'conversation.created', conv, members })));
    const devices = users.map((user) =>
      product.client(user, { codec, WebSocket: CuttableSocket as unknown as WebSocketConstructor }),
    );
    await Promise.all(devices.map((device) => device.waitFor('live')));
    const states = new Map(devices.map((device) => [device, 0]));
    for (const device of devices) {
      device.on('synced', () => states.set(device, (states.get(device) ?? 0) + 1));
      device.subscribe(() => {
        const sum = device.list().reduce((all, { unread }) => all + unread, 0);
        if (sum !== device.total()) throw new Error(`the total is ${device.total()}, the list adds up to ${sum}`);
      });
    }
    let cuts = 0;
    for (let i = 0; cuts < 50; i++) {
      await product.post(message(convs[i % 4] ?? '', `m${i}`, { mentions: i % 5 === 0 ? users : [] }));
      const device = devices[i % devices.length];
      const conv = convs[(i * 7) % 4] ?? '';
      if (device?.get(conv)) device.markRead(conv);
      const socket = [...sockets][random.below(sockets.size)];
      if (socket?.readyState !== WebSocket.OPEN) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        continue;
      }
      socket.terminate();
      cuts++;
    }
    for (const [i, device] of devices.entries()) {
      await until(device, () => device.state === 'live' && device.pending().length === 0);
      const counted = await product.unread(users[i] ?? '');
      await until(device, () => device.total() === counted.total);
      expect(shownOf(device)).toEqual(countedIn(counted));
      expect(states.get(device)).toBeGreaterThan(0);
    }
  });

  test('[AK7][SY9] a mark on a row whose head has moved unseen is taken away by one reading', async () => {
    const product = await startProduct();
    await product.post(message('c1', 'a'));
    const phone = product.client('u1', { codec });
    await phone.waitFor('live');
    phone.markRead('c1');
    phone.markUnread('c1');
    await until(phone, () => phone.pending().length === 0 && phone.get('c1')?.marked === true);
    // Neither is visible: no version, no frame, and the head that the phone holds is old.
    await product.post(message('c1', 'own', { sender: 'u1' }), message('c1', 'notice', { countable: false }));
    const reasons: (string | undefined)[] = [];
    phone.on('synced', ({ reason }) => reasons.push(reason));
    const marks = new Set<boolean | undefined>();
    phone.markRead('c1');
    phone.subscribe(() => marks.add(phone.get('c1')?.marked));
    await until(phone, () => phone.pending().length === 0);
    expect([...marks]).toEqual([false]);
    expect(reasons).toEqual(['requested']);
    expect(phone.get('c1')).toMatchObject({ marked: false, readSeq: 3, headSeq: 3 });
    expect((await product.unread('u1')).rows[0]?.marked ?? false).toBe(false);
  });

  test('[DT5] a token that runs out is replaced in band, and by a new socket when that failed', async () => {
    const product = await startProduct();
    await product.post(message('c1', 'a'));
    const reasons: string[] = [];
    let outage = false;
    const client = product.client('u1', {
      codec,
      getToken({ reason }) {
        reasons.push(reason);
        if (outage) throw new Error('the token service is away');
        return signedToken('u1', TOKEN_MS);
      },
    });
    const states: string[] = [];
    client.on('state', ({ state }) => states.push(state));
    let refreshed = 0;
    client.on('tokenrefresh', () => {
      refreshed++;
    });
    const errors: unknown[] = [];
    client.on('error', ({ error }) => errors.push(error.code));
    await client.waitFor('live');
    await expect.poll(() => refreshed).toBeGreaterThanOrEqual(2);
    expect(client.state).toBe('live');
    expect(states).not.toContain('resuming');
    expect(reasons.slice(0, 3)).toEqual(['connect', 'refresh', 'refresh']);

    outage = true;
    await until(client, () => client.state === 'resuming');
    expect(errors).toContain('token');
    outage = false;
    await until(client, () => client.state === 'live');
    expect(reasons).toContain('expired');
    await product.post(message('c1', 'b'));
    await until(client, () => client.total() === 2);
  });
});
