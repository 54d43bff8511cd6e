import type { ConversationPart } from './change-set.ts';

/** What the messages of a part come to for one user. */
export interface PartTally {
  /** CN1, CN4, CN5: countable messages of others. */
  readonly unread: number;
  /** CN2: of these, the ones that name the user or all; a message counts once. */
  readonly mentions: number;
  /** DT2: anything countable brings a hidden or cleared row back, an own message too. */
  readonly brings: boolean;
}

/** The messages are at the head, so they lie above every floor. */
export function tallyPart(part: ConversationPart, user: string): PartTally {
  let unread = 0;
  let mentions = 0;
  let brings = false;
  for (const message of part.messages) {
    if (!message.counts) continue;
    brings = true;
    if (message.sender === user) continue;
    unread++;
    if (message.mentionAll || names(message.mentions, user)) mentions++;
  }
  return { unread, mentions, brings };
}

/** A list that is longer is looked up in a set: every member of the conversation asks. */
const SHORT_LIST_MAX = 16;
const longLists = new WeakMap<readonly string[], ReadonlySet<string>>();

function names(mentions: readonly string[], user: string): boolean {
  if (mentions.length <= SHORT_LIST_MAX) return mentions.includes(user);
  const known = longLists.get(mentions) ?? new Set(mentions);
  longLists.set(mentions, known);
  return known.has(user);
}

/** The same for many users, in one walk over the messages: nearly all of them have neither written nor been named. */
export function tallyPartForMany(part: ConversationPart): (user: string) => PartTally {
  let counted = 0;
  let toAll = 0;
  const own = new Map<string, { counted: number; toAll: number }>();
  const named = new Map<string, number>();
  for (const { counts, sender, mentionAll, mentions } of part.messages) {
    if (!counts) continue;
    counted++;
    if (mentionAll) toAll++;
    const mine = own.get(sender) ?? { counted: 0, toAll: 0 };
    own.set(sender, { counted: mine.counted + 1, toAll: mine.toAll + (mentionAll ? 1 : 0) });
    if (mentionAll) continue;
    for (const user of new Set(mentions)) if (user !== sender) named.set(user, (named.get(user) ?? 0) + 1);
  }
  const brings = counted > 0;
  const usual: PartTally = { unread: counted, mentions: toAll, brings };
  return (user) => {
    const mine = own.get(user);
    const byName = named.get(user);
    if (mine === undefined && byName === undefined) return usual;
    const unread = counted - (mine?.counted ?? 0);
    return { unread, mentions: toAll - (mine?.toAll ?? 0) + (byName ?? 0), brings };
  };
}
