/** Every line, by the name to pick it by. */
import type { Line } from './line.ts';
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
import { endToEndBroadcast } from './lines/end-to-end-broadcast.ts';
import { endToEnd } from './lines/end-to-end.ts';
import { foregroundBytes } from './lines/foreground-bytes.ts';
import { groupSize } from './lines/group-size.ts';
import { helloCost } from './lines/hello-cost.ts';
import { helloNoop } from './lines/hello-noop.ts';
import { hotGroupFrames } from './lines/hot-group-frames.ts';
import { hotGroupGain } from './lines/hot-group-gain.ts';
import { hotSeqs } from './lines/hot-seqs.ts';
import { idleSocket } from './lines/idle-socket.ts';
import { largeGroup } from './lines/large-group.ts';
import { reconnectDrops } from './lines/reconnect-drops.ts';
import { reconnects } from './lines/reconnects.ts';
import { snapshotBytes } from './lines/snapshot-bytes.ts';
import { socketIoEmit } from './lines/socket-io-emit.ts';
import { stateFanOut, stateFanOutClient } from './lines/state-fan-out.ts';
import { stateMemory } from './lines/state-memory.ts';
import { uniqueDelta } from './lines/unique-delta.ts';
import { warmSnapshot } from './lines/warm-snapshot.ts';

export const LINES: Readonly<Record<string, Line>> = {
  'group-size': groupSize,
  'large-group': largeGroup,
  'cold-user': coldUser,
  'cold-user-mysql': coldUserMysql,
  'cold-user-capped': coldUserCapped,
  'hot-seqs': hotSeqs,
  'ack-batches': ackBatches,
  'state-fan-out': stateFanOut,
  'state-fan-out-client': stateFanOutClient,
  'state-memory': stateMemory,
  'warm-snapshot': warmSnapshot,
  'snapshot-bytes': snapshotBytes,
  'unique-delta': uniqueDelta,
  'socket-io-emit': socketIoEmit,
  'hello-noop': helloNoop,
  'hello-cost': helloCost,
  'idle-socket': idleSocket,
  'hot-group-frames': hotGroupFrames,
  'hot-group-gain': hotGroupGain,
  'delta-bytes': deltaBytes,
  'foreground-bytes': foregroundBytes,
  'badge-p50': badgeP50,
  'badge-p99': badgeP99,
  'badge-overload': badgeOverload,
  'end-to-end': endToEnd,
  'end-to-end-broadcast': endToEndBroadcast,
  reconnects,
  'reconnect-drops': reconnectDrops,
  'cut-time': cutTime,
  'cut-resumed': cutResumed,
  'client-size': clientSize,
};
