import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  canonicalRow,
  digestOf,
  formatDigest,
  initialState,
  jsonCodec,
  msgpackCodec,
  reconnect,
  reduce,
  requestSync,
  restoredState,
  rowDigest,
} from '../../../protocol/index.ts';
import type { Action, ClientFrame, ClientState, Row, ServerFrame } from '../../../protocol/index.ts';
import { sha1Hex } from '../../../protocol/sha1.ts';
import { vectorFiles } from '../../../scripts/vector-files.ts';
import type { InvalidCase } from '../../../scripts/vector-invalid.ts';
import type { Session } from '../../../scripts/vector-sessions.ts';

const FOLDER = join(import.meta.dirname, '../../../protocol/vectors');
const read = (path: string): unknown => JSON.parse(readFileSync(join(FOLDER, path), 'utf8'));

type Message = {
  name: string;
  why: string;
  from: 'client' | 'server';
  json: string;
  msgpack: string;
  value: ClientFrame | ServerFrame;
};
type Digests = {
  rows: { name: string; row: Row; canonical: string; sha1: string; digest: string }[];
  sets: { name: string; rows?: Row[]; digest: string }[];
};

test('the files are what scripts/vectors.ts writes, and no others lie there', () => {
  const written = vectorFiles();
  const there = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.json'));
  expect(there.toSorted()).toEqual([...written.keys()].toSorted());
  for (const [path, text] of written) expect(readFileSync(join(FOLDER, path), 'utf8')).toBe(text);
});

describe('messages.v1.json', () => {
  test.each(read('messages.v1.json') as Message[])('$from: $name', ({ from, json, msgpack, value }) => {
    const bytes = Uint8Array.from(Buffer.from(msgpack, 'hex'));
    expect(jsonCodec.encode(value)).toBe(json);
    expect(Buffer.from(msgpackCodec.encode(value)).toString('hex')).toBe(msgpack);
    const decoded =
      from === 'client'
        ? [jsonCodec.decodeClient(json), msgpackCodec.decodeClient(bytes)]
        : [jsonCodec.decodeServer(json), msgpackCodec.decodeServer(bytes)];
    expect(decoded).toEqual([
      { ok: true, frame: value },
      { ok: true, frame: value },
    ]);
  });
});

describe('invalid.v1.json', () => {
  test.each(read('invalid.v1.json') as InvalidCase[])('$from: $name', ({ from, text, hex, error }) => {
    const codec = text === undefined ? msgpackCodec : jsonCodec;
    const data = text ?? Uint8Array.from(Buffer.from(hex ?? '', 'hex'));
    const decoded = from === 'client' ? codec.decodeClient(data) : codec.decodeServer(data);
    expect(decoded).toMatchObject({ ok: false, ...error });
  });
});

describe('digest.v1.json', () => {
  const { rows, sets } = read('digest.v1.json') as Digests;

  test.each(rows)('[SY8] row: $name', ({ row, canonical, sha1, digest }) => {
    expect(canonicalRow(row)).toBe(canonical);
    expect(sha1Hex(canonical)).toBe(sha1);
    expect(formatDigest(rowDigest(row))).toBe(digest);
  });

  test.each(sets.filter(({ rows: some }) => some !== undefined))('[SY8] set: $name', ({ rows: some, digest }) => {
    expect(formatDigest(digestOf(some ?? []))).toBe(digest);
  });
});

describe('sessions', () => {
  const sessions = readdirSync(join(FOLDER, 'sessions')).map((file) => read(`sessions/${file}`) as Session);

  test.each(sessions)('$rules $name: $why', ({ start, steps }) => {
    let state: ClientState =
      start === null ? initialState() : restoredState({ ...start, syncVersion: start.sync_version });
    for (const step of steps) {
      const done = play(state, step);
      expect(done.sent).toEqual('sync' in step ? step.sync : 'reconnect' in step ? step.reconnect : undefined);
      expect(seen(done.state, done.actions)).toEqual(step.expect);
      ({ state } = done);
    }
  });
});

type Played = { state: ClientState; actions: readonly Action[]; sent?: object };

function play(state: ClientState, step: Session['steps'][number]): Played {
  if ('frame' in step) return reduce(state, step.frame);
  if ('sync' in step) {
    const asked = requestSync(state);
    return { state: asked.state, actions: [], sent: asked.frame };
  }
  const dialled = reconnect(state);
  return { state: dialled.state, actions: [], sent: dialled.hello };
}

function seen(state: ClientState, actions: readonly Action[]): object {
  const rows = Object.fromEntries([...state.rows.values()].map((row) => [row.conv, row.unread]));
  const due = state.snapshot !== null ? 'snapshot' : state.catchup !== null ? 'catchup' : undefined;
  return {
    sync_version: state.syncVersion,
    rows,
    total: state.total,
    ...(actions[0] === undefined ? {} : { asks: actions[0].cause }),
    ...(due === undefined ? {} : { due }),
  };
}
