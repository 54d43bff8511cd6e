import { type ClientFrame, msgpackCodec, type ServerFrame } from '../../protocol/index.ts';
import type { Line } from '../line.ts';

const VERSION = 2_000_000;
const cursor = { epoch: 'k3Vq9xTz', sync_version: VERSION };
const digest = 'fedcba987654';
const asked: ClientFrame = { t: 'sync', cursor, digest };
const answered: ServerFrame = {
  t: 'synced',
  ...cursor,
  mode: 'noop',
  total: 270,
  badge: 250,
  mentions: 4,
  digest,
  expires_at: 1_790_000_000_000,
};

/** An app that comes to the foreground asks where it stands, each time; mostly there is nothing new. */
export const foregroundBytes: Line = {
  name: 'foreground check with nothing new',
  what: 'bytes of the larger of sync and synced, in MessagePack',
  budget: { kind: 'at most', bound: 64, unit: 'bytes', isCounted: true },
  run: async () => {
    const [there, back] = [asked, answered].map((frame) => msgpackCodec.encode(frame).length) as [number, number];
    return { value: Math.max(there, back), detail: `${there} there, ${back} back` };
  },
};
