import type { Facts } from '../transaction-facts.ts';
import { type CommandDraft, draftOf, memberOf, unknown } from './command.ts';

export interface PrefsCommand {
  readonly user: string;
  readonly conv: string;
  readonly muted?: boolean | undefined;
  readonly hidden?: boolean | undefined;
}

/** LC4, LC5. What is left out stays; a preference that already stands is answered `stale`. */
export function draftPrefs({ user, conv, muted, hidden }: PrefsCommand, facts: Facts): CommandDraft {
  const found = memberOf(facts, conv, user);
  if (found === null) return draftOf([unknown(conv)], []);
  const { conversation, before } = found;
  const after = { ...before };
  if (muted !== undefined) after.muted = muted;
  if (hidden !== undefined) {
    // Hidden until something countable comes: at the head, or inserted below it.
    after.hiddenOrd = hidden ? conversation.headOrd : -1;
    after.hiddenLate = hidden ? conversation.lateCount : 0;
  }
  const draft = draftOf([], [{ conversation, before, after }]);
  const status = draft.revisions.length > 0 ? 'applied' : 'stale';
  return { ...draft, outcomes: [{ conv, status, readSeq: before.readSeq }] };
}
