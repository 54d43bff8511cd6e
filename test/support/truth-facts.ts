import type { Adjustment, Conversation, Membership, Message, RowFacts } from '../../src/core/facts.ts';
import type { Truth, Writes } from '../../src/ports.ts';

/** Facts for tests of truth: plain ones, of which a test names the fields it is about. */
export function conversationFacts(fields: Partial<Conversation> & { conv: string }): Conversation {
  return {
    headSeq: 0,
    headOrd: 0,
    memberCount: 0,
    rev: 1,
    membersRev: 1,
    purgeSeq: 0,
    purgeOrd: 0,
    lateCount: 0,
    dissolved: false,
    activity: 1,
    ...fields,
  };
}

export function membershipFacts(fields: Partial<Membership> & { conv: string; user: string }): Membership {
  return {
    member: true,
    joinSeq: 0,
    readSeq: 0,
    readEpoch: 0,
    clearSeq: 0,
    floorSeq: 0,
    floorOrd: 0,
    floorOwn: 0,
    ownOrd: 0,
    hiddenOrd: -1,
    hiddenLate: 0,
    awayOrd: -1,
    awayLate: 0,
    muted: false,
    marked: false,
    memberVersion: -1,
    rev: 1,
    ...fields,
  };
}

export function messageFacts(fields: Partial<Message> & { conv: string; seq: number }): Message {
  return {
    messageId: `m${fields.seq}`,
    sender: 'somebody',
    ord: fields.seq,
    ownOrd: fields.seq,
    tookOrd: true,
    countable: true,
    recalled: false,
    mentionAll: false,
    ...fields,
  };
}

export function adjustmentFacts(fields: Partial<Adjustment> & { conv: string; seq: number }): Adjustment {
  return { sender: 'somebody', delta: -1, lateNo: 0, ...fields };
}

export async function store(truth: Truth, writes: Writes): Promise<readonly number[]> {
  return truth.transact(async (tx) => tx.store(writes));
}

export async function rowOf(truth: Truth, conv: string, user: string): Promise<RowFacts> {
  const [row] = await truth.rows([{ conv, user }]);
  if (row === undefined) throw new Error(`no conversation ${conv}`);
  return row;
}
