import type { AckedItem, AckItem } from '../../protocol/index.ts';
import type { StateCall } from '../core/change-set.ts';
import { ackRequest, draftAcks, type UserAck } from '../core/commands/acks.ts';
import { draftClear, planAway } from '../core/commands/clear.ts';
import {
  type CommandDraft,
  type CommandOutcome,
  commandRequest,
  draftOf,
  settle,
  unknown,
} from '../core/commands/command.ts';
import { draftMark } from '../core/commands/mark.ts';
import { draftPrefs } from '../core/commands/prefs.ts';
import type { RowFacts } from '../core/facts.ts';
import { deriveRow, reportedUnread } from '../core/row.ts';
import type { ConvUser, FactRequest, Facts, OutboxTarget } from '../core/transaction-facts.ts';
import type { Deadline } from '../deadline.ts';
import type { Truth, TruthTransaction } from '../ports.ts';

export type UserCommand =
  | { readonly kind: 'ack'; readonly items: readonly AckItem[] }
  | {
      readonly kind: 'mark';
      readonly conv: string;
      readonly fromSeq: number | undefined;
      readonly readEpoch: number | undefined;
    }
  | {
      readonly kind: 'prefs';
      readonly conv: string;
      readonly muted: boolean | undefined;
      readonly hidden: boolean | undefined;
    }
  | { readonly kind: 'clear'; readonly conv: string; readonly upToSeq: number | undefined };

/** Commands of one user that run as one: any number of acks, or one other command. */
export interface UserJob {
  readonly user: string;
  readonly commands: readonly UserCommand[];
  /** The latest of those of the commands. */
  readonly deadline: Deadline | undefined;
}

export interface JobOutcome {
  /** One list a command, one item a conversation named, in order. */
  readonly items: AckedItem[][];
  /** The rows of all conversations named, as of the commit; null when the user is a member of none of them. */
  readonly call: StateCall | null;
  readonly outboxIds: readonly number[];
}

interface Deps {
  readonly truth: Truth;
  readonly groupThreshold: number;
  readonly keepsOutbox: boolean;
}

const OPS = { ack: 'read', mark: 'mark', prefs: 'prefs', clear: 'clear' } as const;

/** One transaction for the jobs of many users (each user once). */
export function commitJobs(
  { truth, groupThreshold, keepsOutbox }: Deps,
  jobs: readonly UserJob[],
): Promise<JobOutcome[]> {
  return truth.transact(async (tx) => {
    const { outcomes, outboxIds } = await storeJobs(tx, jobs, keepsOutbox);
    // AK2: the rows of stale acks are derived too, so that a state that lags behind truth is put right by them.
    const rowsOf = await rowsByUser(tx, jobs);
    return jobs.map((job, i): JobOutcome => {
      const rows = (rowsOf.get(job.user) ?? []).map((facts) => deriveRow(facts, groupThreshold));
      const unread = new Map(rows.map((row) => [row.conv, reportedUnread(row)]));
      const items = (outcomes[i] as CommandOutcome[][]).map((list) => list.map((one) => ackedItem(one, unread)));
      const kind = (job.commands[0] as UserCommand).kind;
      const call = rows.length > 0 ? { user: job.user, op: OPS[kind], rows, parts: [] } : null;
      return { items, call, outboxIds: outboxIds[i] as number[] };
    });
  });
}

interface Stored {
  /** A list a job, of a list a command. */
  readonly outcomes: CommandOutcome[][][];
  /** A list a job: of the conversations in which its user's membership changed. */
  readonly outboxIds: number[][];
}

async function storeJobs(tx: TruthTransaction, jobs: readonly UserJob[], keepsOutbox: boolean): Promise<Stored> {
  const acks: UserAck[] = [];
  const pairs: ConvUser[] = [];
  const clearPairs: ConvUser[] = [];
  for (const { user, commands } of jobs) {
    for (const command of commands) {
      if (command.kind === 'ack') acks.push(...command.items.map((item) => ({ user, item })));
      else pairs.push({ conv: command.conv, user });
      if (command.kind === 'clear') clearPairs.push({ conv: command.conv, user });
    }
  }
  const facts = await tx.load(joinRequests([ackRequest(acks), commandRequest(pairs)]));
  const rowsBefore = keyed(clearPairs.length > 0 ? await tx.rows(clearPairs) : []);

  // All acks are one draft, since several of them may move one row; every other command is a draft of its own.
  const ackDraft = draftAcks(acks, facts);
  const others = new Map<UserJob, CommandDraft>();
  for (const job of jobs) {
    const draft = draftOther(job.user, job.commands[0] as UserCommand, facts, rowsBefore);
    if (draft) others.set(job, draft);
  }
  const drafts = [ackDraft, ...others.values()];
  const requests = drafts.flatMap(({ places }) => (places ? [places] : []));
  const places = requests.length > 0 ? await tx.load(joinRequests(requests)) : null;
  const memberships = drafts.flatMap((draft) => settle(draft, places).memberships);
  const outbox: OutboxTarget[] = keepsOutbox ? memberships.map(({ conv, user }) => ({ conv, user })) : [];
  const ids = memberships.length > 0 ? await tx.store({ memberships, outbox }) : [];
  const awayIds = await storeAway(tx, clearPairs, others, keepsOutbox);

  let next = 0;
  const outcomes = jobs.map((job) =>
    job.commands.map((command) => {
      if (command.kind !== 'ack') return [...(others.get(job)?.outcomes ?? [])];
      return ackDraft.outcomes.slice(next, (next += command.items.length));
    }),
  );
  const idsOf = new Map<string, number[]>(jobs.map(({ user }) => [user, []]));
  outbox.forEach(({ user }, i) => idsOf.get(user as string)?.push(ids[i] as number));
  for (const { user, id } of awayIds) idsOf.get(user)?.push(id);
  return { outcomes, outboxIds: jobs.map(({ user }) => idsOf.get(user) as number[]) };
}

function draftOther(
  user: string,
  command: UserCommand,
  facts: Facts,
  rowsBefore: Map<string, RowFacts>,
): CommandDraft | null {
  switch (command.kind) {
    case 'ack':
      return null;
    case 'mark':
      return draftMark({ ...command, user }, facts);
    case 'prefs':
      return draftPrefs({ ...command, user }, facts);
    case 'clear': {
      const row = rowsBefore.get(keyOf({ conv: command.conv, user }));
      return row ? draftClear({ ...command, user }, facts, row) : draftOf([unknown(command.conv)], []);
    }
  }
}

/** LC3, second half: whether anything newer is unread can only be told once the clear itself is in. */
async function storeAway(
  tx: TruthTransaction,
  clearPairs: readonly ConvUser[],
  drafts: ReadonlyMap<UserJob, CommandDraft>,
  keepsOutbox: boolean,
): Promise<{ user: string; id: number }[]> {
  if (clearPairs.length === 0) return [];
  const rows = keyed(await tx.rows(clearPairs));
  const memberships = [...drafts].flatMap(([{ user, commands }, draft]) => {
    const [command] = commands;
    const row = command?.kind === 'clear' ? rows.get(keyOf({ conv: command.conv, user })) : undefined;
    return row ? planAway(draft, row).memberships : [];
  });
  if (memberships.length === 0) return [];
  const outbox = keepsOutbox ? memberships.map(({ conv, user }) => ({ conv, user })) : [];
  const ids = await tx.store({ memberships, outbox });
  return outbox.map(({ user }, i) => ({ user, id: ids[i] as number }));
}

async function rowsByUser(tx: TruthTransaction, jobs: readonly UserJob[]): Promise<Map<string, RowFacts[]>> {
  const pairs = new Map<string, ConvUser>();
  for (const { user, commands } of jobs) {
    for (const command of commands) {
      const convs = command.kind === 'ack' ? command.items.map(({ conv }) => conv) : [command.conv];
      for (const conv of convs) pairs.set(keyOf({ conv, user }), { conv, user });
    }
  }
  const rowsOf = new Map<string, RowFacts[]>();
  for (const facts of await tx.rows([...pairs.values()])) {
    // Never a member: a row would only say that there is none.
    if (facts.membership.rev === 0) continue;
    const rows = rowsOf.get(facts.membership.user);
    if (rows) rows.push(facts);
    else rowsOf.set(facts.membership.user, [facts]);
  }
  return rowsOf;
}

function ackedItem({ conv, status, readSeq }: CommandOutcome, unread: ReadonlyMap<string, number>): AckedItem {
  if (status === 'unknown') return { conv, status };
  return { conv, status, read_seq: readSeq, unread: unread.get(conv) };
}

function joinRequests(requests: readonly FactRequest[]): FactRequest {
  return {
    conversations: requests.flatMap(({ conversations = [] }) => conversations),
    memberships: requests.flatMap(({ memberships = [] }) => memberships),
    messagesById: requests.flatMap(({ messagesById = [] }) => messagesById),
    places: requests.flatMap(({ places = [] }) => places),
    ownPlaces: requests.flatMap(({ ownPlaces = [] }) => ownPlaces),
  };
}

function keyed(rows: readonly RowFacts[]): Map<string, RowFacts> {
  return new Map(rows.map((row) => [keyOf(row.membership), row]));
}

/** Ids may hold any character, so the pair is told apart by the length of its first part. */
function keyOf({ conv, user }: ConvUser): string {
  return `${conv.length}:${conv}${user}`;
}
