import { describe, expect, test } from 'vitest';
import {
  check,
  checkEvent,
  clientFrames,
  id,
  jsonCodec,
  limits,
  prefsBody,
  readBody,
  serverFrames,
} from '../../../protocol/index.ts';

const decode = (frame: object) => jsonCodec.decodeClient(JSON.stringify(frame));

describe('ids and numbers', () => {
  test.each([
    ['one byte', 'a'],
    ['128 bytes', 'x'.repeat(128)],
    ['128 bytes of two-byte characters', 'é'.repeat(64)],
    ['128 bytes of four-byte characters', '😀'.repeat(32)],
    ['anything that is no letter', ' |\u0000"\\'],
  ])('[DT3] %s is an id', (_what, value) => {
    expect(check(id, value).ok).toBe(true);
  });

  test.each([
    ['nothing', ''],
    ['129 bytes', 'x'.repeat(129)],
    ['130 bytes in 65 characters', 'é'.repeat(65)],
    ['a lone high surrogate', 'a\ud83d'],
    ['a lone low surrogate', '\ude00a'],
    ['null', null],
    ['a list', ['a']],
  ])('[DT3] %s is none', (_what, value) => {
    expect(check(id, value).ok).toBe(false);
  });

  test('[DT5] an id that is a number is refused by name, with the reason', () => {
    const refused = { ok: false, fatal: false, code: 'invalid_field', field: 'items[0].conv', id: 4 };
    const decoded = decode({ t: 'ack', id: 4, items: [{ conv: 12, seq: 1 }] });
    expect(decoded).toMatchObject(refused);
    expect(decoded).toHaveProperty('message', expect.stringContaining('integers lose digits above 2^53'));
  });

  test.each([-1, 1.5, '2', null, true, 2 ** 53, [1]])('[DT5] %j is no seq', (seq) => {
    expect(decode({ t: 'ack', id: 4, items: [{ conv: 'c', seq }] })).toMatchObject({ field: 'items[0].seq' });
  });
});

describe('frames', () => {
  test('[DT5] keys that are not known are ignored, at every depth', () => {
    const frame = { t: 'ack', id: 1, items: [{ conv: 'c', seq: 1, later: { x: 1 } }], later: [] };
    expect(decode(frame)).toEqual({ ok: true, frame });
  });

  test('[DT5] a missing field is named', () => {
    expect(decode({ t: 'mark', id: 1 })).toMatchObject({ field: 'conv', message: 'conv is missing' });
    expect(decode({ t: 'hello', token: 'x', device: 'd' })).toMatchObject({ field: 'cursor' });
    expect(decode({ t: 'hello', token: 'x', device: 'd', cursor: { epoch: 'e' } })).toMatchObject({
      field: 'cursor.sync_version',
    });
  });

  test('[AK9] an item has a seq or a message_id, not both and not none', () => {
    expect(decode({ t: 'ack', id: 1, items: [{ conv: 'c' }] })).toMatchObject({ field: 'items[0].seq' });
    expect(decode({ t: 'ack', id: 1, items: [{ conv: 'c', seq: 1, message_id: 'm' }] })).toMatchObject({
      field: 'items[0].message_id',
    });
    expect(decode({ t: 'ack', id: 1, items: [{ conv: 'c', message_id: 'm' }] }).ok).toBe(true);
  });

  test('[AK4] an ack has at most 200 items', () => {
    const items = Array.from({ length: 201 }, () => ({ conv: 'c', seq: 1 }));
    expect(decode({ t: 'ack', id: 1, items })).toMatchObject({ field: 'items', id: 1 });
    expect(decode({ t: 'ack', id: 1, items: items.slice(1) }).ok).toBe(true);
  });

  test('[DT5] no type reaches what every object inherits', () => {
    for (const t of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      expect(jsonCodec.decodeClient(`{"t":${JSON.stringify(t)}}`)).toMatchObject({
        fatal: false,
        code: 'unknown_frame',
      });
    }
  });

  test('[DT5] nesting as deep as a frame is long is refused, not followed', () => {
    const deep = '['.repeat(limits.frameBytesMax / 2) + ']'.repeat(limits.frameBytesMax / 2);
    expect(jsonCodec.decodeClient(deep)).toMatchObject({ fatal: true });
    expect(jsonCodec.decodeClient(`{"t":"ping","later":${deep}}`).ok).toBe(true);
  });

  test('[SY2] every frame of section 6 has a schema', () => {
    const client = ['hello', 'ack', 'sync', 'mark', 'prefs', 'clear', 'read_all', 'auth', 'ping'];
    const server = ['welcome', 'synced', 'snapshot', 'delta', 'acked', 'hb', 'auth_ok', 'bye', 'error'];
    expect(Object.keys(clientFrames)).toEqual(client);
    expect(Object.keys(serverFrames)).toEqual(server);
  });
});

describe('events and bodies', () => {
  test.each([
    ['invalid_field', undefined, null],
    ['invalid_field', 'type', { conv: 'c' }],
    ['unknown_event', 'type', { type: 'message.pinned', conv: 'c' }],
    ['unknown_event', 'type', { type: 'constructor' }],
    ['invalid_field', 'conv', { type: 'message.created', conv: 7, message_id: 'm', sender: 'u' }],
    ['invalid_field', 'message_id', { type: 'message.created', conv: 'c', sender: 'u' }],
    ['invalid_field', 'seq', { type: 'message.created', conv: 'c', message_id: 'm', sender: 'u', seq: 0 }],
    [
      'invalid_field',
      'mentions[1]',
      { type: 'message.created', conv: 'c', message_id: 'm', sender: 'u', mentions: ['a', 5] },
    ],
    ['invalid_field', 'message_id', { type: 'message.recalled', conv: 'c' }],
    ['invalid_field', 'seq', { type: 'message.edited', conv: 'c', message_id: 'm', seq: 4 }],
    ['invalid_field', 'users', { type: 'member.joined', conv: 'c' }],
    ['invalid_field', 'up_to_seq', { type: 'conversation.purged', conv: 'c', up_to_seq: -1 }],
    ['invalid_field', 'event_id', { type: 'conversation.dissolved', conv: 'c', event_id: 12 }],
  ])('[DT5] refused with %s of %s', (code, field, event) => {
    const checked = checkEvent(event);
    expect(checked).toMatchObject({ ok: false, error: field === undefined ? { code } : { code, field } });
  });

  test('[OR2] an event comes back as it is', () => {
    const event = { type: 'message.created', conv: 'c', message_id: 'm', sender: 'u', seq: 1, event_id: 'e', later: 1 };
    expect(checkEvent(event)).toEqual({ ok: true, event });
  });

  test('[CN9] one event names at most 10,000 users', () => {
    const users = Array.from({ length: limits.eventUsersMax + 1 }, (_, i) => `u${i}`);
    expect(checkEvent({ type: 'member.joined', conv: 'c', users })).toMatchObject({
      ok: false,
      error: { field: 'users' },
    });
    expect(checkEvent({ type: 'member.joined', conv: 'c', users: users.slice(1) }).ok).toBe(true);
  });

  test('[AK3] bodies of commands are checked like frames', () => {
    expect(check(readBody, { items: [{ conv: 'c', seq: '3' }] })).toMatchObject({ ok: false, field: 'items[0].seq' });
    expect(check(prefsBody, {})).toMatchObject({ ok: false, field: 'muted' });
    expect(check(prefsBody, { hidden: false }).ok).toBe(true);
  });
});
