/** Why a number is what it is: counted from the message rows themselves, beside the formula and the state (CN1). */
import type { ExplainAnswer } from '../../protocol/index.ts';
import { floorOf } from '../core/counting.ts';
import { deriveRow, isCapped, reportedUnread } from '../core/row.ts';
import type { Deadline } from '../deadline.ts';
import { UserFault } from '../errors.ts';
import type { Truth } from '../ports.ts';

/** A count takes as long as there is to count, and whoever asks for one has asked why. */
const COUNT_WITHIN_MS = 20_000;

export interface ExplainDeps {
  readonly truth: Truth;
  readonly groupThreshold: number;
}

export class Explain {
  readonly #deps: ExplainDeps;

  constructor(deps: ExplainDeps) {
    this.#deps = deps;
  }

  async explain(user: string, conv: string, deadline?: Deadline): Promise<ExplainAnswer> {
    const { truth, groupThreshold } = this.#deps;
    const [facts] = await truth.rows([{ conv, user }]);
    if (!facts?.membership.member || facts.conversation.dissolved) {
      throw new UserFault('unknown_conversation', 'the user is not a member of this conversation', 'conv');
    }
    const row = deriveRow(facts, groupThreshold);
    const floor = floorOf(facts);
    deadline?.goesOn(COUNT_WITHIN_MS);
    const { counted, leftOut } = await truth.countMessages({ conv, user }, floor.seq);
    const unread = reportedUnread(row);
    return {
      conv,
      user,
      head: row.headSeq,
      floor: floor.seq,
      floor_from: floor.seq === 0 ? 'none' : floor.from,
      unread,
      mentions: row.mentions,
      counted: [...counted],
      left_out: {
        own: leftOut.own,
        not_countable: leftOut.nonCountable,
        recalled: leftOut.recalled,
        capped: isCapped(row) ? row.unread - unread : 0,
      },
    };
  }
}
