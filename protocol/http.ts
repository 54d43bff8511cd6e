// Bodies and answers of the server API (SPEC §12). Bodies are checked; answers are types.
import { ackItem } from './client-frames.ts';
import type { EventError } from './events.ts';
import { count, id } from './ids.ts';
import { limits } from './limits.ts';
import { array, atLeastOneOf, boolean, object, optional } from './schema.ts';
import type { Infer, Schema } from './schema.ts';
import type { AckedItem, Op, Row, Synced } from './server-frames.ts';

export type EventsBody = Infer<typeof eventsBody>;
export type ReadBody = Infer<typeof readBody>;
export type ReadAllBody = Infer<typeof readAllBody>;
export type MarkBody = Infer<typeof markBody>;
export type PrefsBody = Infer<typeof prefsBody>;
export type ReconcileBody = Infer<typeof reconcileBody>;
export type BatchGetUsersBody = Infer<typeof batchGetUsersBody>;
export type BatchGetConvsBody = Infer<typeof batchGetConvsBody>;
export type CheckBody = Infer<typeof checkBody>;
export type CheckItem = CheckBody['items'][number];
export type DisconnectBody = Infer<typeof disconnectBody>;

const anything: Schema<unknown> = { shape: 'any', fault: () => null };

/** The envelope only; each event is checked by `checkEvent`, so that one bad event does not stop the others. */
export const eventsBody = object({ events: array(anything, limits.eventsMax) });
export const readBody = object({ items: array(ackItem, limits.ackItemsMax) });
export const readAllBody = object({ epoch: optional(id), sync_version: optional(count) });
export const markBody = object({ from_seq: optional(count), read_epoch: optional(count) });
export const prefsBody = atLeastOneOf(
  object({ muted: optional(boolean), hidden: optional(boolean) }),
  'muted',
  'hidden',
);
export const reconcileBody = object({
  users: optional(array(id, limits.reconcileUsersMax)),
  repair: optional(boolean),
});
export const batchGetUsersBody = object({ users: array(id, limits.batchUsersMax) });
export const batchGetConvsBody = object({ convs: array(id, limits.batchConvsMax) });
/** `head_seq` and the number of countable messages as the caller knows them. */
export const checkBody = object({
  items: array(object({ conv: id, head_seq: count, countable: count }), limits.checkItemsMax),
});
export const disconnectBody = object({ device: optional(id) });

export type ErrorBody = { error: EventError & { retry_ms?: number | undefined } };

/** What one accepted event answers beside `ok`. */
export type EventAnswer = { seq?: number; duplicate?: boolean; late?: boolean };
export type EventResult = ({ ok: true } & EventAnswer) | { ok: false; error: EventError };
export type EventsAnswer = { results: EventResult[] };

export type Sums = { total: number; badge: number; mentions: number; digest: string };
export type UnreadAnswer = Sums & { epoch: string; sync_version: number; rows: Row[]; next?: string };
export type UserTotals = { user: string; total: number; badge: number; mentions: number; sync_version: number };
export type BatchGetUsersAnswer = { users: UserTotals[] };
export type BatchGetConvsAnswer = { epoch: string; sync_version: number; rows: Row[] };

/** The answer to read, read_all, mark, prefs and clear: what became of each item, and the state that has the effect in it. */
export type CommandAnswer = Sums & { items: AckedItem[]; epoch: string; sync_version: number };

/** Conversations in which the caller's numbers and truth differ; both of truth are 0 where it does not know the conversation. */
export type CheckAnswer = { differ: { conv: string; known: boolean; head_seq: number; countable: number }[] };
/** The sockets may be on other nodes, so nobody counts them. */
export type DisconnectAnswer = Record<string, never>;
export type ReconcileAnswer = { checked: number; wrong: number; repaired: number };

/** The pull fallback (DT7): the fields of `synced` and the rows. */
export type PullAnswer = Omit<Synced, 't'> & { rows: Row[]; next?: string };

export type FloorSource = 'read' | 'join' | 'clear' | 'purge' | 'none';
export type ExplainAnswer = {
  conv: string;
  user: string;
  head: number;
  floor: number;
  floor_from: FloorSource;
  unread: number;
  mentions: number;
  /** The first seqs that count, at most `limits.explainSeqsMax`. */
  counted: number[];
  left_out: { own: number; not_countable: number; recalled: number; capped: number };
};

/** One row as one side has it. */
export type InspectedFacts = {
  conv_rev: number;
  member_rev: number;
  listing: 'listed' | 'hidden' | 'gone';
  unread: number;
  capped: boolean;
  mentions: number;
  read_seq: number;
  read_epoch: number;
  floor_seq: number;
  head_seq: number;
  muted: boolean;
  marked: boolean;
};
export type InspectedRow = {
  conv: string;
  /** `wrong` only at equal revs; `behind`: a change is on its way to the state, or waits until the user asks (CN8). */
  verdict: 'same' | 'behind' | 'ahead' | 'wrong';
  /** Fields whose values differ. */
  differ: string[];
  truth: InspectedFacts | null;
  state: (InspectedFacts & { version: number }) | null;
};
/** A live connection. */
export type InspectedDevice = {
  device: string;
  conn: string;
  codec: string;
  connected_ms: number;
  /** Until the next heartbeat. */
  beat_in_ms: number;
  /** Since the heartbeat after which nothing was heard; null: it was answered. */
  silent_ms: number | null;
  queued_bytes: number;
  /** Where it was last told that it stands; null: it has not been welcomed yet. */
  told: { epoch: string; sync_version: number; total: number; digest: string } | null;
};
export type InspectAnswer = {
  user: string;
  truth: Sums & { rows: number };
  /** `of_rows`: what the rows add up to that the state holds. Null: nothing is held, and it will be built when asked for. */
  state: (Sums & { epoch: string; sync_version: number; rows: number; of_rows: Sums }) | null;
  /** How many conversations got which verdict. */
  verdicts: { same: number; behind: number; ahead: number; wrong: number };
  /** Those that differ, then the newest. */
  rows: InspectedRow[];
  left_out: number;
  devices: InspectedDevice[];
  /** Whose connections `devices` are: those nodes that answered in time. */
  nodes: { asked: number; answered: number };
};
/** One change of a user as the devices get it. */
export type WatchedChange = Sums & { epoch: string; base_version: number; sync_version: number; op: Op; rows: Row[] };
