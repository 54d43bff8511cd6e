import { type Codec, jsonCodec, limits, msgpackCodec } from '../../protocol/index.ts';
import { beginSnapshot, nextPage, type SnapshotCourse } from '../../src/core/snapshot-pages.ts';
import { messageFrame } from '../../src/gateway/frame-bytes.ts';
import type { StateView } from '../../src/ports.ts';
import { partitionOf, userKey } from '../../src/state/redis/partitions.ts';
import { type Line, median, ROUNDS } from '../line.ts';
import { REDIS } from '../need.ts';
import { openBenchRedis } from '../redis-server.ts';
import { buildState, usualRow } from '../state-rows.ts';

const CONVS = 1000;
/** Prime: conversations lie in no order of their activity. */
const STRIDE = 7919;
const READS = 40;
const USER = 'user';

/**
 * The state of a user who comes back is one round trip, and no more work for the node than its rows. What is left to do until they are
 * frames stands beside it, so that work which is put off is seen.
 */
export const warmSnapshot: Line = {
  name: 'state: warm snapshot of 1,000 conversations',
  what: 'Processor of the node: a read of the state, to finished rows, against an HGETALL of the same key into buffers.',
  budget: { kind: 'at most', bound: 0.1, unit: 'of the baseline' },
  needs: [REDIS],
  async run() {
    const redis = await openBenchRedis();
    const rows = Array.from({ length: CONVS }, (_, i) =>
      usualRow(`conv-${String(i).padStart(6, '0')}`, (i * STRIDE) % CONVS),
    );
    await buildState(redis.state, USER, rows);
    const key = userKey(partitionOf(USER), USER);
    const read = async (): Promise<StateView> => {
      const view = await redis.state.read(USER);
      if (view?.rows.length !== CONVS) throw new Error('not all rows were read');
      return view;
    };
    const theirs = async (): Promise<void> => {
      if (Object.keys(await redis.plain.hgetallBuffer(key)).length <= CONVS)
        throw new Error('not all fields were read');
    };
    const ways = [
      read,
      theirs,
      async () => writeFrames(await read(), msgpackCodec),
      async () => writeFrames(await read(), jsonCodec),
    ];
    const spent: number[][] = ways.map(() => []);
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [i, way] of ways.entries()) {
        const since = process.cpuUsage();
        for (let n = 0; n < READS; n++) await way();
        const { user, system } = process.cpuUsage(since);
        if (round > 0) spent[i]?.push((user + system) / READS);
      }
    }
    await redis.close();
    const [mine = 0, hgetall = 1, msgpack = 0, json = 0] = spent.map(median);
    const medians = `${mine.toFixed(0)} µs against ${hgetall.toFixed(0)} µs (medians)`;
    const frames = `to frames of MessagePack ${msgpack.toFixed(0)} µs, of JSON ${json.toFixed(0)} µs`;
    return { value: mine / hgetall, detail: `${medians}; ${frames}` };
  },
};

function writeFrames(view: StateView, codec: Codec): void {
  let rows = 0;
  for (let course: SnapshotCourse | null = beginSnapshot(view); course !== null;) {
    const { frame, rest } = nextPage(course, limits.pageRowsDefault);
    messageFrame(codec.encode(frame));
    rows += frame.rows.length;
    course = rest;
  }
  if (rows !== CONVS) throw new Error('not all rows were written');
}
