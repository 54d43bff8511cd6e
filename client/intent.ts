// From what the user does to the command that says it as a fact: what this device holds is named, so that a late or repeated
// command means the same.
import type { ClientState } from '../protocol/client-state.ts';
import type { AckCommand, Command } from './command.ts';
import { ID_BYTES_MAX } from './limits.ts';
import { isUnread } from './overlay.ts';
import type { ShownRow } from './overlay.ts';
import { TidemarkError } from './tidemark-error.ts';

/** [CN8] The head of a capped row is not kept up to date on devices; the server clamps this to it. */
const END_OF_CAPPED = Number.MAX_SAFE_INTEGER;

/** Null: there is nothing to say. `row` is the row as shown, pending commands included. */
export function readIntent(conv: string, row: ShownRow | undefined, upTo: number | undefined): AckCommand | null {
  checkSeq('upTo', upTo, 0);
  if (row === undefined) {
    if (upTo === undefined) throw notHeld();
    return { t: 'ack', conv, seq: upTo };
  }
  const seq = upTo ?? (row.capped === true ? END_OF_CAPPED : row.head_seq);
  return seq <= row.read_seq && !isUnread(row) ? null : { t: 'ack', conv, seq, read_epoch: row.read_epoch };
}

/** What is marked already is not marked again: each mark has to raise the read_epoch, or acks given after it could pass it. */
export function unreadIntent(conv: string, row: ShownRow | undefined, fromSeq: number | undefined): Command | null {
  checkSeq('fromSeq', fromSeq, 1);
  if (fromSeq === undefined && row?.marked === true) return null;
  return { t: 'mark', conv, from_seq: fromSeq, read_epoch: row?.read_epoch };
}

export function prefsIntent(
  conv: string,
  row: ShownRow | undefined,
  prefs: { muted?: boolean; hidden?: boolean },
): Command {
  return { t: 'prefs', conv, ...prefs, heldHead: row?.head_seq ?? 0 };
}

/** [LC3] A client names what it holds: a message that it has not heard of is not deleted unseen. */
export function clearIntent(conv: string, row: ShownRow | undefined, upTo: number | undefined): Command {
  checkSeq('upTo', upTo, 0);
  if (row === undefined && upTo === undefined) throw notHeld();
  return { t: 'clear', conv, up_to_seq: upTo ?? row?.head_seq ?? 0 };
}

/** [AK8] `rows`: as shown. */
export function readAllIntent(state: ClientState, rows: Iterable<ShownRow>): Command | null {
  if (state.epoch === null) throw new TidemarkError('not_synced', 'not synced');
  const heads: AckCommand[] = [];
  for (const row of rows) {
    if (row.gone === true || !isUnread(row)) continue;
    heads.push({ t: 'ack', conv: row.conv, seq: row.head_seq, read_epoch: row.read_epoch });
  }
  return heads.length === 0 ? null : { t: 'read_all', epoch: state.epoch, sync_version: state.syncVersion, heads };
}

/** As the schema `id` of the protocol has it. */
export function checkConv(conv: unknown): void {
  const bytes = typeof conv === 'string' && conv.isWellFormed() ? new TextEncoder().encode(conv).length : 0;
  demand(bytes > 0 && bytes <= ID_BYTES_MAX, 'conv', `text of 1 to ${ID_BYTES_MAX} bytes`);
}

function checkSeq(field: string, value: number | undefined, min: number): void {
  const fits = value === undefined || (Number.isSafeInteger(value) && value >= min);
  demand(fits, field, `an integer from ${min} to 2^53-1`);
}

function demand(fits: boolean, field: string, what: string): void {
  if (!fits) throw new TidemarkError('invalid_argument', `${field} must be ${what}`, { field });
}

function notHeld(): TidemarkError {
  return new TidemarkError('not_synced', 'no row yet: give upTo', { field: 'conv' });
}
