import type { EventError } from '../../protocol/index.ts';
import type { Reply } from './stream-link.ts';

/** An entry as the script hands it out. */
export interface StreamEntry {
  readonly id: string;
  /** The field `event`; null where there is none, or none that may be read. */
  readonly event: Buffer | null;
  /** Null where the event may be tried. */
  readonly fault: EventError | null;
  /** Deleted before it was settled: there is nothing left to try. */
  readonly isGone: boolean;
}

/** What an entry says, to be posted, or why it cannot be. */
export type EntryValue =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: EventError };

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** `reply`: see scripts/take.lua. */
export function readEntry(reply: readonly Reply[]): StreamEntry {
  const [id, event, bytes] = reply as [Buffer, (Buffer | null)?, number?];
  const isGone = event === undefined;
  return { id: id.toString(), event: event ?? null, fault: event ? null : faultOf(isGone, bytes), isGone };
}

/** An event without an event_id takes `entryName`, so that however often its entry is delivered, it is applied once. */
export function valueOf({ event, fault }: StreamEntry, entryName: string): EntryValue {
  if (event === null) return { ok: false, error: fault as EventError };
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(event));
  } catch {
    return { ok: false, error: { code: 'malformed_json', message: 'the event is not JSON in UTF-8', field: 'event' } };
  }
  return { ok: true, value: isObject(value) && !('event_id' in value) ? { ...value, event_id: entryName } : value };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function faultOf(isGone: boolean, bytes: number | undefined): EventError {
  if (isGone) {
    return { code: 'invalid_field', message: 'the entry was deleted before it was applied', field: 'event' };
  }
  if (bytes !== undefined) {
    return { code: 'too_large', message: `the event has ${bytes} bytes`, field: 'event' };
  }
  return { code: 'invalid_field', message: 'an entry has a field named event', field: 'event' };
}
