// The files of protocol/vectors/ as texts. A test holds them against what lies there; `npm run vectors` writes them.
import { canonicalRow, digestOf, formatDigest, jsonCodec, msgpackCodec, rowDigest } from '../protocol/index.ts';
import type { Row } from '../protocol/index.ts';
import { sha1Hex } from '../protocol/sha1.ts';
import { clientCases, serverCases } from './vector-frames.ts';
import type { FrameCase } from './vector-frames.ts';
import { invalidCases } from './vector-invalid.ts';
import { sessions } from './vector-sessions.ts';

/** Path below protocol/vectors/ → text. */
export function vectorFiles(): Map<string, string> {
  const files = new Map<string, string>();
  const put = (path: string, value: unknown): void => void files.set(path, `${JSON.stringify(value, null, 2)}\n`);
  put('messages.v1.json', [...clientCases.map(message('client')), ...serverCases.map(message('server'))]);
  put('invalid.v1.json', invalidCases);
  put('digest.v1.json', digests());
  for (const session of sessions) put(`sessions/${session.name}.json`, session);
  return files;
}

function message(from: 'client' | 'server'): (one: FrameCase) => object {
  return ({ name, why, frame }) => ({
    name,
    why,
    from,
    json: jsonCodec.encode(frame),
    msgpack: Buffer.from(msgpackCodec.encode(frame)).toString('hex'),
    value: frame,
  });
}

function digests(): object {
  const base: Row = { conv: 'c1', version: 9, unread: 3, mentions: 1, read_seq: 41, read_epoch: 0, head_seq: 44 };
  const rows: { name: string; row: Row }[] = [
    { name: 'plain', row: base },
    { name: 'all flags', row: { ...base, unread: 999, muted: true, marked: true, capped: true } },
    {
      name: 'head_seq, floor_seq and version are not part of it',
      row: { ...base, version: 1, head_seq: 99, floor_seq: 43 },
    },
    { name: 'false flags are as none', row: { ...base, muted: false, marked: false, capped: false } },
    { name: 'read and marked', row: { ...base, unread: 0, mentions: 0, read_seq: 44, read_epoch: 2, marked: true } },
    { name: 'an id with the separator', row: { ...base, conv: '0|0|0|0||c1' } },
    { name: 'an id beyond ASCII', row: { ...base, conv: '群-é-😀' } },
    { name: 'largest numbers', row: { ...base, unread: 2 ** 53 - 1, read_seq: 2 ** 53 - 1, read_epoch: 2 ** 53 - 1 } },
    { name: 'a text of several SHA-1 blocks', row: { ...base, conv: 'x'.repeat(128) } },
    { name: 'hidden: adds nothing', row: { ...base, hidden: true } },
    { name: 'tombstone: adds nothing', row: { ...base, gone: true } },
  ];
  const many = Array.from({ length: 1000 }, (_, i): Row => ({
    ...base,
    conv: `conv-${i}`,
    unread: i % 7,
    mentions: i % 3 === 0 ? 0 : Math.min(1, i % 7),
    read_seq: i,
    muted: i % 5 === 0,
  }));
  return {
    rows: rows.map(({ name, row }) => ({
      name,
      row,
      canonical: canonicalRow(row),
      sha1: sha1Hex(canonicalRow(row)),
      digest: formatDigest(rowDigest(row)),
    })),
    sets: [
      { name: 'no rows', rows: [], digest: formatDigest(0) },
      {
        name: 'all rows above',
        rows: rows.map(({ row }) => row),
        digest: formatDigest(digestOf(rows.map(({ row }) => row))),
      },
      {
        name: '1,000 rows',
        generate:
          'i from 0: conv "conv-"+i, unread i%7, mentions 0 if i%3=0 else min(1, i%7), read_epoch 0, read_seq i, muted if i%5=0',
        digest: formatDigest(digestOf(many)),
      },
    ],
  };
}
