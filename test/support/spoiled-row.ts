import type { Redis } from 'ioredis';
import { toWireRow, type HeldRow } from '../../src/core/row.ts';
import { rowDigest } from '../../protocol/index.ts';
import { packRow } from '../../src/state/redis/packed-row.ts';
import { partitionOf, userKey } from '../../src/state/redis/partitions.ts';

/** Writes over one row of a user's hash, past every script: the sums beside it stay as they are. */
export async function spoilRow(admin: Redis, user: string, row: HeldRow, with_: Partial<HeldRow>): Promise<void> {
  const spoiled = { ...row, ...with_ };
  const packed = packRow({ ...spoiled, latestActivity: row.activity, digest: rowDigest(toWireRow(spoiled)) });
  await admin.hset(userKey(partitionOf(user), user), row.conv, packed);
}
