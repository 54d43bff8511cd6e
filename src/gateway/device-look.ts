import type { InspectedDevice } from '../../protocol/index.ts';
import type { Session } from './session.ts';

/** A live session as the inspector shows it. `nowMs`: of the steady clock. */
export function lookAt(session: Session, nowMs: number): InspectedDevice {
  const { device, conn, codec, stream, course } = session;
  const { dueMs, probedAtMs, outbound } = course;
  const told = outbound?.position ?? null;
  return {
    device,
    conn,
    codec: codec.subprotocol,
    connected_ms: Math.round(nowMs - (outbound?.liveSinceMs ?? nowMs)),
    beat_in_ms: Math.max(0, Math.round(dueMs - nowMs)),
    silent_ms: probedAtMs === null ? null : Math.round(nowMs - probedAtMs),
    queued_bytes: stream.writableLength,
    told: told && {
      epoch: told.epoch,
      sync_version: told.syncVersion,
      total: told.total,
      digest: told.digest,
    },
  };
}
