import { msgpackCodec } from '../../protocol/index.ts';
import type { Line } from '../line.ts';

/** An id of ten letters, a user of some months: totals and seqs beyond one byte, versions of four. */
const VERSION = 2_000_000;
const frame = {
  t: 'delta',
  epoch: 'k3Vq9xTz',
  base_version: VERSION,
  sync_version: VERSION + 1,
  rows: [
    {
      conv: 'conv-00017',
      version: VERSION + 1,
      unread: 3,
      mentions: 0,
      read_seq: 47_110,
      read_epoch: 0,
      head_seq: 47_114,
    },
  ],
  op: 'message',
  total: 270,
  badge: 250,
  mentions: 4,
  digest: 'fedcba987654',
} as const;

const mention = { ...frame, rows: [{ ...frame.rows[0], mentions: 1 }] };

/** SY7, SY8: a delta carries the sums and the digest that a device checks; they must not make it large. */
export const deltaBytes: Line = {
  name: 'one-row delta with digest',
  what: 'bytes of the frame in MessagePack, for an id of ten letters and with every number beyond the small ones',
  budget: { kind: 'at most', bound: 48, unit: 'bytes', isCounted: true },
  async run() {
    const bytes = msgpackCodec.encode({ ...frame, rows: [...frame.rows] }).length;
    const withMention = msgpackCodec.encode(mention).length;
    return {
      value: bytes,
      detail: `${withMention} with a mention in the row · ${JSON.stringify(frame).length} as JSON`,
    };
  },
};
