import { describe, expect, test } from 'vitest';
import { type GatewayBench, openGatewayBench } from '../support/gateway-bench.ts';
import { Opcode, rawFrame, type RawSocket } from '../support/raw-socket.ts';

/** What no WebSocket client may send, and what no client of this protocol may: each ends its own socket, with a bye and 4400. */
const PING = '{"t":"ping"}';
const head = (first: number, second: number, ...rest: number[]): Buffer => Buffer.from([first, second, ...rest]);
const invalidUtf8 = Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d]);

const NO_WEBSOCKET: [string, () => Buffer][] = [
  ['an unmasked frame', () => rawFrame(PING, { masked: false })],
  ['an unmasked empty frame', () => rawFrame('', { masked: false })],
  ...[1, 2, 3, 4, 5, 6, 7].map((rsv): [string, () => Buffer] => [
    `reserved bits ${rsv}`,
    () => rawFrame(PING, { rsv }),
  ]),
  ...[3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map((opcode): [string, () => Buffer] => [
    `opcode ${opcode}`,
    () => rawFrame(PING, { opcode }),
  ]),
  ['a continuation of nothing', () => rawFrame(PING, { opcode: Opcode.continuation })],
  ['an unfinished continuation of nothing', () => rawFrame(PING, { opcode: Opcode.continuation, fin: false })],
  ['a message within a message', () => Buffer.concat([rawFrame('{"t":', { fin: false }), rawFrame('"ping"}')])],
  ['a ping in parts', () => rawFrame('x', { opcode: Opcode.ping, fin: false })],
  ['a ping of 126 bytes', () => rawFrame('x'.repeat(126), { opcode: Opcode.ping })],
  ['a pong with reserved bits', () => rawFrame('x', { opcode: Opcode.pong, rsv: 4 })],
  ['text that is no UTF-8', () => rawFrame(invalidUtf8)],
  ['a surrogate in UTF-8', () => rawFrame(Buffer.from([0xed, 0xa0, 0x80]))],
  ['an overlong form in UTF-8', () => rawFrame(Buffer.from([0xc0, 0xaf]))],
  [
    'text cut within a character over two parts',
    () => Buffer.concat([rawFrame(Buffer.from([0xe7]), { fin: false }), rawFrame('', { opcode: 0 })]),
  ],
  ['a close frame with one byte', () => rawFrame('x', { opcode: Opcode.close })],
  ['a close code that must not be sent', () => rawFrame(Buffer.from([0x03, 0xed]), { opcode: Opcode.close })],
  [
    'a close reason that is no UTF-8',
    () => rawFrame(Buffer.concat([Buffer.from([0x03, 0xe8]), invalidUtf8.subarray(2)]), { opcode: Opcode.close }),
  ],
  ['a length with its highest bit set', () => head(0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0)],
  ['a length of 2^53', () => head(0x81, 0xff, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)],
  ['a frame of 4 MiB, by its header alone', () => rawFrame('', { length: 4 * 2 ** 20 })],
  ['a frame of one byte too many', () => rawFrame('x'.repeat(65_537))],
  [
    'a message of one byte too many in parts',
    () => Buffer.concat([rawFrame('x'.repeat(65_000), { fin: false }), rawFrame('x'.repeat(537), { opcode: 0 })]),
  ],
  [
    'a thousand empty parts',
    () =>
      Buffer.concat([
        rawFrame('{', { fin: false }),
        ...Array.from({ length: 1000 }, () => rawFrame('', { opcode: 0, fin: false })),
      ]),
  ],
];

const NO_FRAME: [string, string | Buffer][] = [
  ['no JSON', '{"t":'],
  ['nothing', ''],
  ['a number', '7'],
  ['null', 'null'],
  ['a list', '[1]'],
  ['a text', '"ping"'],
  ['an object without a type', '{}'],
  ['a type that is no text', '{"t":1}'],
  ['two frames in one message', '{"t":"ping"}{"t":"ping"}'],
  ['lists within lists', '['.repeat(30_000)],
  ['a binary message', Buffer.from(PING)],
];

async function live(bench: GatewayBench): Promise<RawSocket> {
  return (await bench.connect('u1', 'd1')).socket;
}

async function expectEnd(socket: RawSocket, code: number): Promise<void> {
  const ending = await socket.ended;
  expect([ending.code, ending.bye?.['code']]).toEqual([code, code]);
  expect(socket.log.at(-1)?.t).toBe('bye');
}

describe('what is no WebSocket frame: 4400', () => {
  test.each(NO_WEBSOCKET)('%s', async (_, bytes) => {
    const bench = await openGatewayBench();
    const other = (await bench.connect('u1', 'other')).socket;
    const socket = await live(bench);
    socket.bytes(bytes());
    await expectEnd(socket, 4400);
    other.send({ t: 'ping' });
    expect((await other.next('hb')).t).toBe('hb');
  });

  test.each(NO_WEBSOCKET)('before hello: %s', async (_, bytes) => {
    const { open } = await openGatewayBench();
    const socket = await open();
    socket.bytes(bytes());
    await expectEnd(socket, 4400);
  });
});

describe('[DT5] what is no frame of the subprotocol: 4400', () => {
  test.each(NO_FRAME)('%s', async (_, data) => {
    const socket = await live(await openGatewayBench());
    socket.bytes(rawFrame(data, { opcode: typeof data === 'string' ? Opcode.text : Opcode.binary }));
    await expectEnd(socket, 4400);
  });

  test('text on the msgpack subprotocol, and bytes that are no msgpack', async () => {
    for (const [opcode, data] of [
      [Opcode.text, PING],
      [Opcode.binary, Buffer.from([0xc1])],
    ] as const) {
      const { open } = await openGatewayBench();
      const socket = await open({ protocol: 'tidemark.v1.msgpack' });
      socket.bytes(rawFrame(data, { opcode }));
      expect((await socket.ended).code).toBe(4400);
    }
  });
});

describe('what WebSocket allows', () => {
  test('a message in parts, with a ping in between', async () => {
    const socket = await live(await openGatewayBench());
    socket.bytes(
      rawFrame('{"t":', { fin: false }),
      rawFrame('alive?', { opcode: Opcode.ping }),
      rawFrame('"pi', { opcode: 0, fin: false }),
      rawFrame('ng"}', { opcode: 0 }),
    );
    expect((await socket.next('hb')).t).toBe('hb');
  });

  test('byte by byte', async () => {
    const socket = await live(await openGatewayBench());
    for (const byte of rawFrame(PING)) {
      socket.bytes([byte]);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await socket.next('hb')).t).toBe('hb');
  });

  test('a frame of the largest size, and a hundred in one write', async () => {
    const socket = await live(await openGatewayBench());
    socket.send(JSON.stringify({ t: 'ping', pad: 'x'.repeat(65_536 - 22) }));
    await socket.next('hb');
    socket.bytes(...Array.from({ length: 100 }, () => rawFrame(PING)));
    for (let i = 0; i < 100; i++) await socket.next('hb');
  });

  test.each([1000, 1001, 3000, 4999, 1002, 1009])('a close with %i is answered with it, and no bye', async (code) => {
    const socket = await live(await openGatewayBench());
    socket.close(code);
    const ending = await socket.ended;
    expect([ending.code, ending.bye]).toEqual([code, undefined]);
  });

  test('nothing behind a close frame is looked at', async () => {
    const bench = await openGatewayBench();
    await bench.accept({ type: 'conversation.created', conv: 'c1', members: ['u1', 'u2'] });
    await bench.say('c1', 'u2', 3);
    const socket = await live(bench);
    socket.close();
    socket.send({ t: 'ack', id: 1, items: [{ conv: 'c1', seq: 3 }] });
    await socket.ended;
    await bench.services.commands.flush();
    expect((await bench.services.sync.view('u1')).total).toBe(3);
  });
});

describe('[DT5] a fault within a frame: an error, and the socket stays', () => {
  const FAULTS: [string, object, string, number | undefined][] = [
    ['a second hello', { t: 'hello', token: 'x', device: 'd', cursor: null }, 'already_greeted', undefined],
    ['an unknown type', { t: 'subscribe' }, 'unknown_frame', undefined],
    ['an unknown type with an id', { t: 'nack', id: 7 }, 'unknown_frame', 7],
    ['a type of an object prototype', { t: 'constructor' }, 'unknown_frame', undefined],
    ['a server frame', { t: 'welcome' }, 'unknown_frame', undefined],
    ['an ack without id', { t: 'ack', items: [] }, 'invalid_field', undefined],
    ['an ack of a seq below 0', { t: 'ack', id: 3, items: [{ conv: 'c1', seq: -1 }] }, 'invalid_field', 3],
    [
      '201 items',
      { t: 'ack', id: 4, items: Array.from({ length: 201 }, () => ({ conv: 'c1', seq: 1 })) },
      'invalid_field',
      4,
    ],
    ['a cursor that is a text', { t: 'sync', cursor: 'here' }, 'invalid_field', undefined],
    ['a digest in upper case', { t: 'sync', cursor: null, digest: 'ABCDEFABCDEF' }, 'invalid_field', undefined],
    ['a read_all of another epoch', { t: 'read_all', id: 9, epoch: 'other', sync_version: 1 }, 'stale_cursor', 9],
  ];

  test('each is answered with its code and id, in the order sent', async () => {
    const socket = await live(await openGatewayBench());
    for (const [name, frame, code, id] of FAULTS) {
      socket.send(frame);
      const error = await socket.next('error');
      expect([name, error['code'], error['id'], typeof error['message']]).toEqual([name, code, id, 'string']);
    }
    socket.send({ t: 'ping' });
    expect((await socket.next('hb')).t).toBe('hb');
  });

  test('no answer repeats what was sent', async () => {
    const socket = await live(await openGatewayBench());
    socket.send({ t: 'SECRET', id: 1 });
    socket.send({ t: 'ack', id: 2, items: [{ conv: 'c1', seq: 'SECRET' }] });
    await socket.next('error');
    await socket.next('error');
    expect(JSON.stringify(socket.log)).not.toContain('SECRET');
  });
});
