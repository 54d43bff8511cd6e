/**
 * A message for one user the usual way: a script a user, over a hash of rows, a hash of sums, a sorted set of versions and a channel,
 * sent in pipelines. It answers the same as ours (row, version, three sums, digest) and counts up: no order of writes, no fence.
 */
import type { Redis } from 'ioredis';

const SCRIPT = `
local rows, sums, versions, channel = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local conv, seq, user = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local function digest(unread, mentions, read_epoch, read_seq, marks)
  local text = string.format('%d|%d|%d|%d|%s|', unread, mentions, read_epoch, read_seq, marks) .. conv
  return tonumber(string.sub(redis.sha1hex(text), 1, 12), 16)
end
local packed = redis.call('HGET', rows, conv)
if not packed then return false end
local unread, mentions, read_epoch, read_seq, head, muted = struct.unpack('<I4I4I4I7I7B', packed)
if seq <= head then return 0 end
local held = redis.call('HMGET', sums, 'version', 'total', 'badge', 'mentions', 'digest')
local marks = muted == 1 and 'm' or ''
local version, total = held[1] + 1, held[2] + 1
local badge = held[3] + (muted == 1 and 0 or 1)
local sum = (held[5] - digest(unread, mentions, read_epoch, read_seq, marks) + digest(unread + 1, mentions, read_epoch, read_seq, marks)) % 281474976710656
redis.call('HSET', rows, conv, struct.pack('<I4I4I4I7I7B', unread + 1, mentions, read_epoch, read_seq, seq, muted))
redis.call('HSET', sums, 'version', version, 'total', total, 'badge', badge, 'mentions', held[4], 'digest', string.format('%d', sum))
redis.call('ZADD', versions, version, conv)
redis.call('PUBLISH', channel, cmsgpack.pack({ user, version, total, badge, conv, unread + 1, mentions, read_seq, seq }))
return { version, total, badge, string.format('%012x', sum), unread + 1, mentions }`;
/** Commands of one pipeline. */
const PIPELINE = 200;

export class NaiveState {
  readonly #redis: Redis;
  #sha = '';

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  async build(user: string, convs: readonly string[]): Promise<void> {
    this.#sha ||= String(await this.#redis.script('LOAD', SCRIPT));
    const pipeline = this.#redis.pipeline();
    const row = Buffer.alloc(27);
    pipeline.hset(`n:${user}:rows`, new Map(convs.map((conv) => [conv, row])));
    pipeline.hset(`n:${user}:sums`, { version: 1, total: 0, badge: 0, mentions: 0, digest: 0 });
    pipeline.zadd(`n:${user}:versions`, ...convs.flatMap((conv) => [1, conv]));
    for (const [error] of (await pipeline.exec()) ?? []) if (error) throw error;
  }

  async message(users: readonly string[], conv: string, seq: number): Promise<void> {
    for (let i = 0; i < users.length; i += PIPELINE) {
      const pipeline = this.#redis.pipeline();
      for (const user of users.slice(i, i + PIPELINE)) {
        const keys = [`n:${user}:rows`, `n:${user}:sums`, `n:${user}:versions`, `n:${user}`];
        pipeline.evalsha(this.#sha, keys.length, ...keys, conv, seq, user);
      }
      for (const [error, answer] of (await pipeline.exec()) ?? []) {
        if (error) throw error;
        if (!Array.isArray(answer)) throw new Error('a message had no effect');
      }
    }
  }
}
