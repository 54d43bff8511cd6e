import type { ConversationCreated, EventResult, MemberJoined, MemberLeft } from '../../../protocol/index.ts';
import type { Membership } from '../facts.ts';
import type { ConversationDraft } from './conversation-draft.ts';
import { ACCEPTED, dissolved, unknownConversation } from './result.ts';
import type { WorkingSet } from './working-set.ts';

/** A new conversation's founding members have floor 0 (LC1); on a known one, those who are missing are added (DT4). */
export function conversationCreated(event: ConversationCreated, work: WorkingSet): EventResult {
  const draft = work.conversation(event.conv) ?? work.createConversation(event.conv);
  if (draft.conversation.dissolved) return dissolved(event.conv);
  addMembers(draft, event.members);
  // One without members is made too.
  if (draft.conversation.rev === 0) draft.noteMembers('join');
  return ACCEPTED;
}

export function memberJoined(event: MemberJoined, work: WorkingSet): EventResult {
  const draft = work.conversation(event.conv);
  if (draft === null) return unknownConversation(event.conv);
  if (draft.conversation.dissolved) return dissolved(event.conv);
  addMembers(draft, event.users, event.member_version);
  return ACCEPTED;
}

/** LC2. Leaving a dissolved conversation, or a second time, is accepted without effect: it is as the event says. */
export function memberLeft(event: MemberLeft, work: WorkingSet): EventResult {
  const draft = work.conversation(event.conv);
  if (draft === null) return unknownConversation(event.conv);
  if (draft.conversation.dissolved) return ACCEPTED;
  for (const user of new Set(event.users)) leave(draft, user, event.member_version);
  return ACCEPTED;
}

/** LC1: floor = head at the join, which in a conversation without messages is 0. Who is in stays as they are. */
export function addMembers(draft: ConversationDraft, users: readonly string[], memberVersion?: number): void {
  for (const user of new Set(users)) join(draft, user, memberVersion);
}

function join(draft: ConversationDraft, user: string, memberVersion: number | undefined): void {
  const { conversation, members } = draft;
  const held = members.row(user) ?? emptyMembership(draft, user);
  const version = acceptedVersion(held, memberVersion);
  if (version === null) return;
  if (held.member) {
    if (version !== held.memberVersion) members.store({ ...held, memberVersion: version });
    return;
  }
  // A rejoin starts anew, as if the user had never been in; only rev, member_version and own ordinal go on.
  members.revise({
    ...emptyMembership(draft, user),
    member: true,
    joinSeq: conversation.headSeq,
    floorSeq: conversation.headSeq,
    floorOrd: conversation.headOrd,
    floorOwn: held.ownOrd,
    memberVersion: version,
  });
  conversation.memberCount += 1;
  conversation.membersRev += 1;
  draft.noteMembers('join');
}

function leave(draft: ConversationDraft, user: string, memberVersion: number | undefined): void {
  const { conversation, members } = draft;
  const held = members.row(user);
  if (held === null && memberVersion === undefined) return;
  const membership = held ?? emptyMembership(draft, user);
  const version = acceptedVersion(membership, memberVersion);
  if (version === null) return;
  if (!membership.member) {
    // Kept also for one who never was in, so that the join that this leave has overtaken stays without effect (CN9).
    if (version !== membership.memberVersion) members.store({ ...membership, memberVersion: version });
    return;
  }
  members.revise({ ...membership, member: false, memberVersion: version });
  conversation.memberCount -= 1;
  conversation.membersRev += 1;
  draft.noteMembers('leave');
}

/** CN9: null for an event older than the member's last. Without a member_version, events count in the order they are accepted. */
function acceptedVersion(held: Readonly<Membership>, memberVersion: number | undefined): number | null {
  if (memberVersion === undefined) return held.memberVersion;
  return memberVersion < held.memberVersion ? null : memberVersion;
}

function emptyMembership(draft: ConversationDraft, user: string): Membership {
  return {
    user,
    conv: draft.conversation.conv,
    member: false,
    joinSeq: 0,
    readSeq: 0,
    readEpoch: 0,
    clearSeq: 0,
    floorSeq: 0,
    floorOrd: 0,
    floorOwn: 0,
    ownOrd: draft.members.ownOrd(user),
    hiddenOrd: -1,
    hiddenLate: 0,
    awayOrd: -1,
    awayLate: 0,
    muted: false,
    marked: false,
    memberVersion: -1,
    rev: 0,
  };
}
