/**
 * The process that mysql-hot-writers.test.ts kills: WRITERS posts in flight at any moment, each its own transaction over some of the same
 * few conversations. Arguments: the database, how many batches each
 * writer has, then for each writer the number of its next. Writes one line for each answered
 * batch, `writer batch seq,seq,…`, and ends when all batches are answered.
 */
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Unavailable } from '../../src/errors.ts';
import { noMetrics } from '../../src/metrics.ts';
import type { Post } from '../../src/services/post.ts';
import { createServices } from '../../src/services/services.ts';
import { createMemoryEpochs } from '../../src/state/memory-epochs.ts';
import { createMemoryState } from '../../src/state/memory.ts';
import { createMemoryWakeup } from '../../src/state/memory-wakeup.ts';
import { systemClock as clock, systemRandom as random } from '../../src/system.ts';
import { openTruthAt } from '../support/mysql-database.ts';
import { batchOf, type HotMessage, MEMBERS, WRITERS } from './mysql-hot-batches.ts';

const STANDARD_OUTPUT = 1;
const [url = '', batches, ...next] = process.argv.slice(2);
let retries = 0;
let refusals = 0;
const metrics = { ...noMetrics, truthRetried: () => void retries++ };
const truth = await openTruthAt(url, { metrics, writersMax: WRITERS });

await Promise.all(Array.from({ length: WRITERS }, async (_, writer) => write(writer, Number(next[writer]))));
await truth.close();
writeSync(STANDARD_OUTPUT, `done ${retries} retries, ${refusals} refusals\n`);

/** A service of its own: one alone would make one batch of what all writers post. */
async function write(writer: number, from: number): Promise<void> {
  const state = createMemoryState({ clock, usersMax: MEMBERS.length });
  const { post } = createServices({
    truth,
    state,
    epochs: createMemoryEpochs({ random }),
    wakeup: createMemoryWakeup(),
    clock,
    random,
    metrics,
    groupThreshold: 1,
    largeMergeMs: 1_000,
    buildsMax: 1,
    divergenceCoolDownMs: 60_000,
    reconcileSampleRows: 0,
    onError: fail,
  });
  for (let batch = from; batch < Number(batches); batch++) {
    const seqs = await answerOf(post, batchOf(writer, batch));
    // Written at once and not when the event loop comes to it: it is the answer.
    writeSync(STANDARD_OUTPUT, `${writer} ${batch} ${seqs.join(',')}\n`);
  }
}

/** Asks until there is an answer, as a message service does that is told to come back because the machine is busy. */
async function answerOf(post: Post, batch: readonly HotMessage[]): Promise<(number | undefined)[]> {
  for (;;) {
    try {
      return (await post.post(batch)).map((result) => (result.ok ? result.seq : fail(result.error)));
    } catch (error) {
      if (!(error instanceof Unavailable) || isDeadlock(error.cause)) fail(error);
      refusals++;
      await sleep(random.fraction() * error.retryMs);
    }
  }
}

function isDeadlock(error: unknown): boolean {
  return (error as { errno?: unknown } | undefined)?.errno === 1213;
}

/** What a caller should not hear of. */
function fail(error: unknown): never {
  throw new Error('a post failed', { cause: error });
}
