/**
 * npm run bench [-- WORD …]      lines whose name holds one of the words; all of them without
 *
 * Ratios are taken within this run; times and the rest hold for a machine that nobody else is using. Exit 1 when a budget is missed by
 * more than the noise band.
 */
import { isMet, type Line } from './line.ts';
import { ackBatches } from './lines/ack-batches.ts';
import { badgeOverload } from './lines/badge-overload.ts';
import { badgeP50 } from './lines/badge-p50.ts';
import { badgeP99 } from './lines/badge-p99.ts';
import { clientSize } from './lines/client-size.ts';
import { coldUserCapped, coldUserMysql } from './lines/cold-user-mysql.ts';
import { coldUser } from './lines/cold-user.ts';
import { cutResumed } from './lines/cut-resumed.ts';
import { cutTime } from './lines/cut-time.ts';
import { deltaBytes } from './lines/delta-bytes.ts';
import { endToEnd } from './lines/end-to-end.ts';
import { foregroundBytes } from './lines/foreground-bytes.ts';
import { groupSize } from './lines/group-size.ts';
import { helloNoop } from './lines/hello-noop.ts';
import { hotGroupFrames } from './lines/hot-group-frames.ts';
import { hotGroupGain } from './lines/hot-group-gain.ts';
import { hotSeqs } from './lines/hot-seqs.ts';
import { idleSocket } from './lines/idle-socket.ts';
import { reconnects } from './lines/reconnects.ts';
import { stateFanOut, stateFanOutClient } from './lines/state-fan-out.ts';
import { stateMemory } from './lines/state-memory.ts';
import { warmSnapshot } from './lines/warm-snapshot.ts';
import { uniqueDelta } from './lines/unique-delta.ts';

const LINES: readonly Line[] = [
  groupSize,
  coldUser,
  coldUserMysql,
  coldUserCapped,
  hotSeqs,
  ackBatches,
  stateFanOut,
  stateFanOutClient,
  stateMemory,
  warmSnapshot,
  uniqueDelta,
  helloNoop,
  idleSocket,
  hotGroupFrames,
  hotGroupGain,
  deltaBytes,
  foregroundBytes,
  badgeP50,
  badgeP99,
  badgeOverload,
  endToEnd,
  reconnects,
  cutTime,
  cutResumed,
  clientSize,
];

const words = process.argv.slice(2);
const chosen = LINES.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
let missed = 0;
for (const line of chosen) {
  const { value, detail } = await line.run();
  const { kind, bound, unit } = line.budget;
  const met = isMet(line.budget, value);
  if (!met) missed++;
  console.log(`${met ? 'met   ' : 'MISSED'} ${line.name}: ${format(value)} ${unit} (budget ${kind} ${bound})`);
  console.log(`       ${line.what}`);
  console.log(`       ${detail}`);
}
console.log(`${chosen.length - missed} met, ${missed} missed`);
process.exitCode = missed > 0 || chosen.length === 0 ? 1 : 0;

function format(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(3);
}
