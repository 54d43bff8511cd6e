// What a row will look like once the server has carried out the commands that wait for it. Pure: the effect of a command
// ends by itself when a row arrives that is at least as far, and when the command leaves the queue, confirmed or refused.
//
// Numbers are never worked out here. A row that is read to the last message this device knows of shows 0; as soon as
// anything newer has come, the server's number stands again.
import type { Row } from '../protocol/server-frames.ts';
import type { SingleCommand } from './command.ts';

/** `uncounted`: unread again from some message on; how many those are the server has yet to say. */
export type ShownRow = Row & { uncounted?: boolean };

/** The same object when no command changes anything. */
export function overlaid(row: Row, commands: readonly SingleCommand[]): ShownRow {
  return commands.reduce(withEffect, row);
}

/** Whether there is anything to read. */
export function isUnread(row: ShownRow): boolean {
  return row.unread > 0 || row.marked === true || row.uncounted === true;
}

function withEffect(row: ShownRow, command: SingleCommand): ShownRow {
  switch (command.t) {
    case 'ack':
      return withAck(row, command.seq, command.read_epoch);
    case 'mark':
      return withMark(row, command.from_seq, command.read_epoch);
    case 'prefs': {
      const muted = command.muted ?? row.muted;
      // A newer message brings a hidden conversation back (LC4). Nothing is brought back in advance: the numbers of a hidden
      // row are not in the digest, and may be old.
      const hidden = row.hidden === true || (command.hidden === true && row.head_seq <= command.heldHead);
      return { ...row, muted, hidden };
    }
    case 'clear':
      return row.head_seq <= command.up_to_seq ? { ...row, gone: true } : row;
  }
}

function withAck(row: ShownRow, seq: number, readEpoch: number | undefined): ShownRow {
  if (readEpoch !== undefined && readEpoch !== row.read_epoch) return row;
  const toEnd = seq >= row.head_seq;
  if (seq <= row.read_seq && !(toEnd && row.marked === true)) return row;
  const readSeq = Math.max(row.read_seq, Math.min(seq, row.head_seq));
  const read = { ...row, read_seq: readSeq, marked: false };
  if (row.floor_seq !== undefined) read.floor_seq = Math.max(row.floor_seq, readSeq);
  return toEnd ? { ...read, unread: 0, mentions: 0, capped: false, uncounted: false } : read;
}

function withMark(row: ShownRow, fromSeq: number | undefined, readEpoch: number | undefined): ShownRow {
  if (readEpoch !== undefined && readEpoch !== row.read_epoch) return row;
  const next = { ...row, read_epoch: row.read_epoch + 1 };
  if (fromSeq === undefined) return row.marked === true ? row : { ...next, marked: true };
  // A floor above the watermark comes from a join, a clear or a purge, which a mark does not go below.
  const fixed = row.floor_seq !== undefined && row.floor_seq > row.read_seq ? row.floor_seq : 0;
  return { ...next, uncounted: true, read_seq: fromSeq - 1, floor_seq: Math.max(fixed, fromSeq - 1) };
}
