import type { Op } from '../../protocol/index.ts';
import { deriveRow } from '../core/row.ts';
import { Bug, Unavailable } from '../errors.ts';
import type { Change, Clock, ConvUser, StateAnswer, StateCall, StateStore, Truth, Wakeup } from '../ports.ts';
import { turn } from './turn.ts';

export interface RefreshDeps {
  readonly truth: Truth;
  readonly state: StateStore;
  readonly wakeup: Wakeup;
  readonly clock: Pick<Clock, 'soon'>;
  readonly groupThreshold: number;
}

/** Rows of one user to be derived from truth and offered to the state. */
export interface RefreshTarget {
  readonly user: string;
  readonly convs: readonly string[];
  readonly op: Op;
}

/** Users of one state call: about a millisecond of one Redis core at 4–6 µs a user (ARCHITECTURE, truth and state). */
const CALL_USERS_MAX = 200;
/** Pairs of one read of truth, so that no read holds a connection, or the thread, for long. */
const READ_PAIRS_MAX = 1000;
/** A row is offered again when the revs cross; every round reads newer ones, so more than a few rounds mean a defect. */
const ROUNDS_MAX = 20;

/**
 * The one way in which the state comes to know truth: offer change sets, push what changed, and derive anew what the state could
 * not decide. Any number of calls, in any order, by any node, ends at the same rows, because revs decide (ARCHITECTURE, truth and state).
 */
export class Refresh {
  readonly #deps: RefreshDeps;

  constructor(deps: RefreshDeps) {
    this.#deps = deps;
  }

  /**
   * Offers the calls, follows up on what must be derived, and publishes every change. Answers the last answer of each user. Throws
   * Unavailable where some could not be reached, when all others have been served.
   */
  async offer(calls: readonly StateCall[]): Promise<Map<string, StateAnswer>> {
    const answers = new Map<string, StateAnswer>();
    let awayMs = 0;
    let open = calls;
    for (let round = 0; open.length > 0; round++) {
      if (round === ROUNDS_MAX) throw new Bug(`rows of ${open.length} users do not settle`);
      const again: RefreshTarget[] = [];
      for (let i = 0; i < open.length; i += CALL_USERS_MAX) {
        if (i > 0) await turn(this.#deps.clock);
        const part = open.slice(i, i + CALL_USERS_MAX);
        const changes: Change[] = [];
        const missing: string[] = [];
        const got = await this.#deps.state.apply(part);
        part.forEach((call, j) => {
          const answer = got[j] as StateAnswer;
          answers.set(call.user, answer);
          if (answer.kind === 'missing') missing.push(call.user);
          if (answer.kind === 'away') awayMs = Math.max(awayMs, answer.retryMs);
          if (answer.kind !== 'applied') return;
          if (answer.change) changes.push(answer.change);
          if (answer.derive.length > 0) again.push({ user: call.user, convs: answer.derive, op: call.op });
        });
        if (changes.length > 0) await this.#deps.wakeup.publishChanges(changes);
        if (missing.length > 0) await this.#deps.wakeup.publishMissing(missing);
      }
      open = await this.derive(again);
    }
    if (awayMs > 0) throw new Unavailable('the state of some users cannot be reached', awayMs);
    return answers;
  }

  /** Derives the rows from truth and offers them. */
  async refresh(targets: readonly RefreshTarget[]): Promise<Map<string, StateAnswer>> {
    return this.offer(await this.derive(targets));
  }

  /** State calls that carry the rows as truth has them now, one a user. */
  async derive(targets: readonly RefreshTarget[]): Promise<StateCall[]> {
    const pairs: ConvUser[] = targets.flatMap(({ user, convs }) => convs.map((conv) => ({ conv, user })));
    const rowsOf = new Map<string, StateCall['rows'][number][]>();
    for (let i = 0; i < pairs.length; i += READ_PAIRS_MAX) {
      if (i > 0) await turn(this.#deps.clock);
      for (const facts of await this.#deps.truth.rows(pairs.slice(i, i + READ_PAIRS_MAX))) {
        const user = facts.membership.user;
        const rows = rowsOf.get(user);
        const row = deriveRow(facts, this.#deps.groupThreshold);
        if (rows) rows.push(row);
        else rowsOf.set(user, [row]);
      }
    }
    return targets
      .map(({ user, op }) => ({ user, op, rows: rowsOf.get(user) ?? [], parts: [] }))
      .filter((call) => call.rows.length > 0);
  }
}
