/**
 * Flow 8, reconcile: walks users, derives their rows from truth, compares, repairs through the same door as everything else
 * (DESIGN §3). A row is called wrong only at equal revs: one that lags is on its way. A sample is also counted from the message
 * rows themselves, so that truth's ordinals are not believed blindly.
 */
import type { ReconcileAnswer } from '../../protocol/index.ts';
import { floorOf } from '../core/counting.ts';
import type { RowFacts } from '../core/facts.ts';
import { deriveRow, type DerivedRow, type HeldRow, listingOf, looksSame } from '../core/row.ts';
import type { Deadline } from '../deadline.ts';
import type { Metrics } from '../metrics.ts';
import type { Clock, Random, StateStore, StateView, Truth } from '../ports.ts';
import type { Refresh } from './refresh.ts';
import { turn } from './turn.ts';

export interface ReconcileDeps {
  readonly truth: Truth;
  readonly state: StateStore;
  readonly refresh: Refresh;
  readonly random: Random;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly groupThreshold: number;
  /** Rows a user that are counted from their messages. */
  readonly sampleRows: number;
}

const USERS_A_PAGE = 500;
/** Messages above the floor of a row that is counted: a walk over more would hold up everybody else. */
const SAMPLE_MESSAGES_MAX = 5000;

export class Reconcile {
  readonly #deps: ReconcileDeps;

  constructor(deps: ReconcileDeps) {
    this.#deps = deps;
  }

  /** `users` absent: everybody. `wrong` and `repaired` count users. */
  async run(
    { users, repair = false }: { users?: readonly string[] | undefined; repair?: boolean | undefined },
    deadline?: Deadline,
  ): Promise<ReconcileAnswer> {
    const answer = { checked: 0, wrong: 0, repaired: 0 };
    if (users) await this.#page(users, repair, answer, deadline);
    else {
      let after: string | null = null;
      for (;;) {
        const page: string[] = await this.#deps.truth.users(after, USERS_A_PAGE);
        if (page.length === 0) break;
        await this.#page(page, repair, answer, deadline);
        after = page.at(-1) as string;
      }
    }
    return answer;
  }

  /** One page of the walk; answers the user to go on after, or null at the end. For a job that spreads the walk over time. */
  async step(
    after: string | null,
    limit: number,
    repair: boolean,
  ): Promise<{ answer: ReconcileAnswer; next: string | null }> {
    const page = await this.#deps.truth.users(after, limit);
    const answer = { checked: 0, wrong: 0, repaired: 0 };
    await this.#page(page, repair, answer);
    return { answer, next: page.length < limit ? null : (page.at(-1) ?? null) };
  }

  async #page(users: readonly string[], repair: boolean, answer: ReconcileAnswer, deadline?: Deadline): Promise<void> {
    const startedAtMs = this.#deps.clock.steadyMs();
    for (const user of users) {
      deadline?.demand();
      const outcome = await this.#user(user, repair);
      answer.checked++;
      if (outcome !== 'right') answer.wrong++;
      if (outcome === 'repaired') answer.repaired++;
      deadline?.goesOn();
      await turn(this.#deps.clock);
    }
    this.#deps.metrics.reconciled(users.length, (this.#deps.clock.steadyMs() - startedAtMs) / 1000);
  }

  async #user(user: string, repair: boolean): Promise<'right' | 'wrong' | 'repaired'> {
    const { truth, state, refresh, metrics, groupThreshold } = this.#deps;
    const view = await state.read(user);
    const facts = await truth.rowsOfUser(user);
    const rows = facts.map((one) => deriveRow(one, groupThreshold));
    const miscounted = await this.#miscounted(facts);
    if (!view) return miscounted ? 'wrong' : 'right';
    const { wrong, behind } = compare(view, rows);
    if (wrong > 0) metrics.drifted('state');
    if (repair && wrong + behind > 0) {
      const repairAt = { epoch: view.epoch, syncVersion: view.syncVersion };
      await refresh.offer([{ user, op: 'merged', rows, parts: [], repairAt }]);
      const after = await state.read(user);
      if (after && wrong > 0 && compare(after, rows).wrong === 0 && !miscounted) return 'repaired';
    }
    return wrong > 0 || miscounted ? 'wrong' : 'right';
  }

  /** Whether truth's formula and a count of its message rows differ in a sample of the rows. */
  async #miscounted(facts: readonly RowFacts[]): Promise<boolean> {
    const { truth, random, sampleRows, groupThreshold, metrics } = this.#deps;
    const rows = facts.filter(isCountedSoon);
    for (let i = 0; i < Math.min(sampleRows, rows.length); i++) {
      const one = rows[Math.floor(random.fraction() * rows.length)] as RowFacts;
      const { conv, user } = one.membership;
      const floor = floorOf(one);
      const counted = await truth.countMessages({ conv, user }, floor.seq);
      const [again] = await truth.rows([{ conv, user }]);
      // Counted between two equal looks: nothing was changed meanwhile.
      if (again?.conversation.rev !== one.conversation.rev || again.membership.rev !== one.membership.rev) continue;
      const row = deriveRow(one, groupThreshold);
      if (row.unread === counted.unread && row.mentions === counted.mentions) continue;
      metrics.drifted('truth');
      return true;
    }
    return false;
  }
}

/** A living row with so few messages above its floor, by truth's own word, that they may be counted one by one. */
function isCountedSoon(facts: RowFacts): boolean {
  const { conversation, membership } = facts;
  return (
    membership.member && !conversation.dissolved && conversation.headOrd - floorOf(facts).ord <= SAMPLE_MESSAGES_MAX
  );
}

/** `behind`: rows that the state has at lower revs, or not yet at all. */
function compare(view: StateView, rows: readonly DerivedRow[]): { wrong: number; behind: number } {
  const held = new Map<string, HeldRow>(view.rows.map((row) => [row.conv, row]));
  let wrong = 0;
  let behind = 0;
  for (const row of rows) {
    const mine = held.get(row.conv);
    held.delete(row.conv);
    if (!mine || mine.convRev < row.convRev || mine.memberRev < row.memberRev) behind++;
    else if (mine.convRev === row.convRev && mine.memberRev === row.memberRev && !looksSame(mine, row)) wrong++;
  }
  for (const row of held.values()) if (listingOf(row) !== 'gone') wrong++;
  return { wrong, behind };
}
