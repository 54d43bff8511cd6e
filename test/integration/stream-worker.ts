/**
 * The process that stream-kill.test.ts kills: a node that reads streams into truth. Arguments: the database, the Redis, the prefix, the
 * number of streams. Writes a line when a batch is durable, and before it is written down as done.
 */
import { writeSync } from 'node:fs';
import { noMetrics as metrics } from '../../src/metrics.ts';
import { createServices } from '../../src/services/services.ts';
import { createMemoryEpochs } from '../../src/state/memory-epochs.ts';
import { createMemoryState } from '../../src/state/memory.ts';
import { createMemoryWakeup } from '../../src/state/memory-wakeup.ts';
import { createStreamConsumer } from '../../src/stream/stream-consumer.ts';
import { systemClock as clock, systemRandom as random } from '../../src/system.ts';
import { openMysqlTruth } from '../../src/truth/mysql/open.ts';

const STANDARD_OUTPUT = 1;
const [database = '', redis = '', prefix = '', partitions = ''] = process.argv.slice(2);
const truth = await openMysqlTruth({ url: database, clock, random, metrics });
const { post } = createServices({
  truth,
  state: createMemoryState({ clock }),
  epochs: createMemoryEpochs({ random }),
  wakeup: createMemoryWakeup(),
  clock,
  random,
  metrics,
  groupThreshold: 500,
  largeMergeMs: 500,
  buildsMax: 1,
  divergenceCoolDownMs: 60_000,
  reconcileSampleRows: 0,
  onError() {},
});

createStreamConsumer({
  url: redis,
  prefix,
  partitions: Number(partitions),
  post: {
    async post(values) {
      const results = await post.post(values);
      writeSync(STANDARD_OUTPUT, `${values.length}\n`);
      return results;
    },
  },
  ready: () => Promise.resolve(),
  clock,
  random,
  metrics,
  onError() {},
  leaseMs: 500,
}).start();
