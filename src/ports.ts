/**
 * The few interfaces between the services and the outside. Truth is durable before any answer and holds facts; state is derived,
 * per user, and may be lost at any moment; wake-up only says that something changed. Adapters move rows and keep no rules:
 * the rules are in core/.
 */
import type { InspectedDevice, Op } from '../protocol/index.ts';
import type { Change, StateCall, StateHead } from './core/change-set.ts';
import type { RowFacts } from './core/facts.ts';
import type { DerivedRow, HeldRow } from './core/row.ts';
import type { ConvUser, FactRequest, Facts, OutboxTarget, Writes } from './core/transaction-facts.ts';

export type { Change, ConversationPart, StateCall, StateHead } from './core/change-set.ts';
export type {
  ConvSeq,
  ConvUser,
  FactRequest,
  Facts,
  MentionSet,
  MessageDetails,
  OutboxTarget,
  Place,
  Writes,
} from './core/transaction-facts.ts';

export interface Clock {
  /** Unix ms. Never decides an order, and may be set forward and back at any moment: for what others have written down or are told. */
  nowMs(): number;
  /** ms since some moment; never goes back, and no faster or slower than time does. For deadlines, rates and durations. */
  steadyMs(): number;
  /** Runs `run` once after `delayMs`; answers how to cancel it. */
  after(delayMs: number, run: () => void): () => void;
  /** Runs `run` as soon as the input that is already here has been read: what arrives together is handled together. */
  soon(run: () => void): void;
}

export interface Random {
  /** Uniform in [0, 1). */
  fraction(): number;
  /** `length` characters of [0-9a-z], unguessable. */
  token(length: number): string;
}

// ---------------------------------------------------------------------------------------------------------------- truth

export interface OutboxRow extends OutboxTarget {
  readonly id: number;
  readonly createdAtMs: number;
}

export interface TruthTransaction {
  load(request: FactRequest): Promise<Facts>;
  /** Answers the ids of the outbox rows, in the order given. */
  store(writes: Writes): Promise<readonly number[]>;
  /** RowFacts as `Truth.rows`, but inside this transaction: what will be true at its commit. */
  rows(pairs: readonly ConvUser[]): Promise<RowFacts[]>;
}

/** Why a number is what it is: counted from the message rows themselves, not from ordinals. */
export interface CountedMessages {
  readonly unread: number;
  readonly mentions: number;
  /** The first 20 counted seqs above the floor, ascending. */
  readonly counted: readonly number[];
  readonly leftOut: { readonly own: number; readonly nonCountable: number; readonly recalled: number };
}

export interface Truth {
  /**
   * Runs `work` in one transaction, durable when it answers; rolled back when it throws. May run `work` again after a deadlock or a
   * lock wait. Throws Unavailable when truth cannot be reached in time.
   */
  transact<T>(work: (tx: TruthTransaction) => Promise<T>): Promise<T>;
  /** One consistent read, in the order asked. Pairs without a conversation are left out; without a membership: an empty one (rev 0, not a member), and nothing counted. */
  rows(pairs: readonly ConvUser[]): Promise<RowFacts[]>;
  /** All conversations that the user is or was a member of, one consistent read. */
  rowsOfUser(user: string): Promise<RowFacts[]>;
  /** Present members. */
  membersOf(conv: string): Promise<string[]>;
  /** Present revs; conversations that do not exist are left out. */
  revsOf(convs: readonly string[]): Promise<Map<string, number>>;
  /** Counts by scanning messages above `floorSeq` (explain, reconcile's sample). */
  countMessages(pair: ConvUser, floorSeq: number): Promise<CountedMessages>;
  /**
   * Head, and how many messages have their `countable` flag on (recalled ones included), of each conversation that exists. That number
   * follows from the events alone, in whatever order they came: a caller finds it in its own messages by the same count.
   */
  heads(convs: readonly string[]): Promise<Map<string, { headSeq: number; countable: number }>>;
  /** Users with at least one membership, in byte order after `after`, at most `limit`. */
  users(after: string | null, limit: number): Promise<string[]>;
  /** Rows that were written at least `olderThanMs` ago by the clock of truth, oldest first. An id is never given out twice. */
  outbox(olderThanMs: number, limit: number): Promise<OutboxRow[]>;
  /** Ids that are gone already are no error. */
  outboxDone(ids: readonly number[]): Promise<void>;
  /** Forgets event ids accepted before `acceptedBeforeMs`, at most `limit`; answers how many. */
  trimEvents(acceptedBeforeMs: number, limit: number): Promise<number>;
  /** Resolves when truth answers; throws Unavailable otherwise. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Which server of the state store a partition is served by, and since when: the number rises each time another one takes over
 * (ARCHITECTURE, truth and state). Run id and replication id together tell a restart and a promotion from a reconnect.
 */
export interface Fence {
  /** From 1; rises with each raise. */
  readonly number: number;
  readonly runId: string;
  readonly replId: string;
}

export interface FenceStore {
  /** The partitions that have a fence, by their number. */
  read(): Promise<ReadonlyMap<number, Fence>>;
  /**
   * Compare and set, durable when it answers. `expected` null: the partition has no fence yet. False: the stored fence is another
   * one; nothing is changed, and the caller reads again.
   */
  raise(partition: number, expected: Fence | null, next: Fence): Promise<boolean>;
}

/** Of many nodes one at a time does certain work. A hint: who stalls may work on beside the next one, so the work must stand that. */
export interface Leases {
  /** Whether this node is the one, for so long from now on; held already, it goes on from now. */
  hold(name: string, forMs: number): Promise<boolean>;
  /** As `hold`, by the node that held it last: false if another one has held it since, also where that is over. */
  keep(name: string, forMs: number): Promise<boolean>;
}

// ---------------------------------------------------------------------------------------------------------------- state

export type StateAnswer =
  /** No live state of this user: nothing to do, it will be built from truth when asked for. */
  | { readonly kind: 'missing' }
  /** A build is under way; the conversations went to its dirty list. Counts as answered. */
  | { readonly kind: 'building' }
  /** The part of the store that holds this user cannot be reached, while others could: not known whether it was applied. */
  | { readonly kind: 'away'; readonly retryMs: number }
  /**
   * `head`: where the user stands after the call. `derive`: conversations whose row could not be decided here (part does not follow,
   * revs cross) and must be derived from truth.
   */
  | {
      readonly kind: 'applied';
      readonly head: StateHead;
      readonly change: Change | null;
      readonly derive: readonly string[];
    };

export interface StateView extends StateHead {
  readonly user: string;
  /** Cursors below it need a snapshot: tombstones up to it were dropped. */
  readonly tombstoneFloor: number;
  /** Rows with version > since (tombstones included), or all held rows without `since`. In no order. */
  readonly rows: readonly HeldRow[];
  /** All large conversations (CN8) that the user is a member of, whatever `since`: their notices concern this user. */
  readonly large: readonly string[];
  /** Large conversations of the user whose known rev is above that of the row, or not known here. */
  readonly largeBehind: readonly string[];
}

export interface StateStore {
  /** Whether it outlives this process: then every change owes an outbox row. */
  readonly outlivesProcess: boolean;
  /** Many users at once; each call is atomic for its user. Answers in order. Throws Unavailable where nobody could be reached. */
  apply(calls: readonly StateCall[]): Promise<StateAnswer[]>;
  /** Null: missing (never an empty state). `sinceVersion`: only rows above it. */
  read(user: string, sinceVersion?: number): Promise<StateView | null>;
  /** Writes the marker of a build. False: another build is under way and not yet `takeOverAfterMs` old. */
  beginBuild(user: string, token: string, takeOverAfterMs: number): Promise<boolean>;
  /**
   * Stores the rows under a new epoch if the marker is still this token's and nothing changed meanwhile. `dirty`: the conversations that
   * did, handed over and forgotten; the marker stays, and their rows must be derived before it is tried again. `evenIfDirty` stores all
   * the same: then their rows must be derived and applied before anything is answered. Neither stored nor dirty: the build is lost.
   */
  completeBuild(
    user: string,
    token: string,
    epoch: string,
    rows: readonly DerivedRow[],
    evenIfDirty?: boolean,
  ): Promise<{ stored: boolean; dirty: readonly string[] }>;
  abandonBuild(user: string, token: string): Promise<void>;
  /** Makes the revs of large conversations known (only ever raised). */
  raiseLarge(revs: ReadonlyMap<string, number>): Promise<void>;
  /** Forgets the user's state. */
  drop(user: string): Promise<void>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** SY1: the epochs under which states are built from nothing. */
export interface EpochSource {
  /** An epoch that this user has never had, whatever was lost, restored or promoted. */
  draw(user: string): Promise<string>;
}

// -------------------------------------------------------------------------------------------------------------- wake-up

/** "Large conversation `conv` stands at rev": each node derives the rows of its own connected members. */
export interface LargeNotice {
  readonly conv: string;
  readonly rev: number;
  readonly op: Op;
  /** Members whom no view has told yet that they are concerned: those who joined, or all where the conversation has become large. */
  readonly newcomers: readonly string[];
}

/** A connection of a device, in the order in which they were made known. */
export interface OpenedConnection {
  readonly user: string;
  readonly device: string;
  /** Unlike that of any other. */
  readonly conn: string;
  /** SPEC §7; null: its client does not count. */
  readonly attempt: number | null;
}

export interface WakeupListener {
  changes(changes: readonly Change[]): void;
  large(notices: readonly LargeNotice[]): void;
  /** Close the sockets of a user (or of one device) with 4402. */
  disconnect(user: string, device: string | null): void;
  /**
   * All nodes hear of these in one order, whoever opened one included: so of two nodes that each hold a connection of a device both
   * find the same one to be the older.
   */
  opened?(connections: readonly OpenedConnection[]): void;
  /** Hints were lost: of these users; without them, nobody knows of whom. */
  missed?(users?: readonly string[]): void;
  /** Whether it cares for changes of the user now; without it: for those of anybody. */
  holds?(user: string): boolean;
  /** The user's live connections that it has. */
  devicesOf?(user: string): readonly InspectedDevice[];
}

/** The live connections of a user on all nodes that answered in time. */
export interface RollCall {
  readonly devices: readonly InspectedDevice[];
  readonly nodes: { readonly asked: number; readonly answered: number };
}

/** A hint only: it may be lost, and versions tell what is missing. */
export interface Wakeup {
  publishChanges(changes: readonly Change[]): Promise<void>;
  publishLarge(notices: readonly LargeNotice[]): Promise<void>;
  /** The state of these users is gone: of whoever has a connection it is built again, since no change of theirs is pushed until then. */
  publishMissing(users: readonly string[]): Promise<void>;
  /** Throws Unavailable where other nodes could not be told: versions tell nothing of this. */
  publishDisconnect(user: string, device: string | null): Promise<void>;
  publishOpened(connections: readonly OpenedConnection[]): Promise<void>;
  rollCall(user: string): Promise<RollCall>;
  subscribe(listener: WakeupListener): void;
  close(): Promise<void>;
}
