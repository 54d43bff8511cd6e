// What a user does with unread numbers, as facts that may be sent again without harm (AK1, AK7, AK8, LC3).
import type { AckItem, ClientFrame } from '../protocol/client-frames.ts';

/** "Read up to seq". Without `readEpoch` the server takes the present one (a row that this device does not hold). */
export type AckCommand = { kind: 'ack'; conv: string; seq: number; readEpoch?: number | undefined };

export type Command =
  | AckCommand
  /** From `fromSeq` on unread again, or, without it, the flag. Applies only at `readEpoch`, so a resend is harmless. */
  | { kind: 'mark'; conv: string; fromSeq?: number | undefined; readEpoch?: number | undefined }
  /** `heldHead`: what this device knew of the conversation; a newer message brings a hidden one back (LC4). */
  | { kind: 'prefs'; conv: string; muted?: boolean | undefined; hidden?: boolean | undefined; heldHead: number }
  | { kind: 'clear'; conv: string; upToSeq: number }
  /** `heads`: the unread rows that this device held, to be acked one by one where the server says `stale`. */
  | { kind: 'read_all'; epoch: string; syncVersion: number; heads: readonly AckCommand[] };

/** Frames carry an id of the queue's own counting; it is never used twice on a connection. */
export function frameOf(command: Exclude<Command, AckCommand>, id: number): ClientFrame {
  switch (command.kind) {
    case 'mark':
      return { t: 'mark', id, conv: command.conv, from_seq: command.fromSeq, read_epoch: command.readEpoch };
    case 'prefs':
      return { t: 'prefs', id, conv: command.conv, muted: command.muted, hidden: command.hidden };
    case 'clear':
      return { t: 'clear', id, conv: command.conv, up_to_seq: command.upToSeq };
    case 'read_all':
      return { t: 'read_all', id, epoch: command.epoch, sync_version: command.syncVersion };
  }
}

export function ackItemOf(command: AckCommand): AckItem {
  const { conv, seq, readEpoch } = command;
  return readEpoch === undefined ? { conv, seq } : { conv, seq, read_epoch: readEpoch };
}
