/**
 * The field '' of a user's hash: where the user stands (scripts/fragments/meta.lua has the same).
 *
 *   u8 kind · u32 fence · u32 syncVersion · u32 tombstoneFloor · u16 tombstones · sums: total badge mentions · u48 digest
 *   u8 length of the epoch · epoch · nodes: u32 id, u16 minute
 */
import type { UserState } from '../../core/user-state.ts';
import type { StateHead } from '../../ports.ts';
import { NameReader } from './name-reader.ts';
import { putUint, uint, uint32, uint56 } from './uint-bytes.ts';

const LIVE = 1;
const LIVE_WIDE = 3;
const U32_MAX = 0xffff_ffff;
const NODE_BYTES = 6;
const MINUTES = 2 ** 16;
const MINUTE_MS = 60_000;

/** A node that said, not long ago, that it holds sockets of the user. */
export interface NodeSeen {
  readonly id: number;
  readonly minute: number;
}

export interface Meta {
  readonly epoch: string;
  readonly syncVersion: number;
  readonly tombstoneFloor: number;
  readonly total: number;
  readonly badge: number;
  readonly mentions: number;
  readonly digest: string;
  readonly nodes: readonly NodeSeen[];
}

/** Of each byte, two digits: a digest is made into text for every user of a fan-out. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
const NOBODY: readonly NodeSeen[] = [];

export function packMeta(state: UserState, fence: number, nodes: readonly NodeSeen[]): Buffer {
  const { sums } = state;
  const isWide = Math.max(sums.total, sums.badge, sums.mentions) > U32_MAX;
  const sum = isWide ? 7 : 4;
  const epoch = Buffer.from(state.epoch);
  const bytes = Buffer.allocUnsafe(22 + 3 * sum + epoch.length + NODE_BYTES * nodes.length);
  let at = putUint(bytes, 0, isWide ? LIVE_WIDE : LIVE, 1);
  at = putUint(bytes, at, fence, 4);
  at = putUint(bytes, at, state.syncVersion, 4);
  at = putUint(bytes, at, state.tombstoneFloor, 4);
  at = putUint(bytes, at, state.tombstones, 2);
  at = putUint(bytes, at, sums.total, sum);
  at = putUint(bytes, at, sums.badge, sum);
  at = putUint(bytes, at, sums.mentions, sum);
  at = putUint(bytes, at, sums.digest, 6);
  at = putUint(bytes, at, epoch.length, 1);
  at += epoch.copy(bytes, at);
  for (const node of nodes) {
    at = putUint(bytes, at, node.id, 4);
    at = putUint(bytes, at, node.minute, 2);
  }
  return bytes;
}

/** The meta field that lies in [start, end). */
export function unpackMeta(bytes: Buffer, start: number, end: number, epochs = new NameReader()): Meta {
  const isWide = bytes[start] === LIVE_WIDE;
  const sum = isWide ? uint56 : uint32;
  const sumBytes = isWide ? 7 : 4;
  const sumsAt = start + 15;
  const digestAt = sumsAt + 3 * sumBytes;
  const nodesAt = digestAt + 7 + (bytes[digestAt + 6] as number);
  return {
    epoch: epochs.read(bytes, digestAt + 7, nodesAt),
    syncVersion: uint32(bytes, start + 5),
    tombstoneFloor: uint32(bytes, start + 9),
    total: sum(bytes, sumsAt),
    badge: sum(bytes, sumsAt + sumBytes),
    mentions: sum(bytes, sumsAt + 2 * sumBytes),
    digest: hexOf(bytes, digestAt),
    nodes: nodesAt === end ? NOBODY : unpackNodes(bytes, nodesAt, end),
  };
}

export function headOf({ epoch, syncVersion, total, badge, mentions, digest }: Meta): StateHead {
  return { epoch, syncVersion, total, badge, mentions, digest };
}

/** What a clock shows, in minutes that begin anew every 45 days. */
export function minuteOf(nowMs: number): number {
  return Math.floor(nowMs / MINUTE_MS) % MINUTES;
}

export function minutesSince(minute: number, nowMs: number): number {
  return (minuteOf(nowMs) - minute + MINUTES) % MINUTES;
}

/** SY8: 12 digits, the highest byte first. */
function hexOf(bytes: Buffer, at: number): string {
  let text = '';
  for (let i = 5; i >= 0; i--) text += HEX[bytes[at + i] as number];
  return text;
}

function unpackNodes(bytes: Buffer, start: number, end: number): NodeSeen[] {
  const nodes: NodeSeen[] = [];
  for (let at = start; at < end; at += NODE_BYTES)
    nodes.push({ id: uint(bytes, at, 4), minute: uint(bytes, at + 4, 2) });
  return nodes;
}
