/**
 * Flow 8, reconcile: walks users, derives their rows from truth, compares, repairs through the same door as everything else
 * (ARCHITECTURE, flows). A row is called wrong only at equal revs: one that lags is on its way. A sample is also counted from the message
 * rows themselves, so that truth's ordinals are not believed blindly.
 */
import type { ReconcileAnswer } from '../../protocol/index.ts';
import { floorOf } from '../core/counting.ts';
import type { RowFacts } from '../core/facts.ts';
import { judge, type Judgement, sameTotals, totalsOf } from '../core/comparison.ts';
import { deriveRow, type DerivedRow } from '../core/row.ts';
import type { Deadline } from '../deadline.ts';
import type { Metrics } from '../metrics.ts';
import type { Clock, Random, StateStore, StateView, Truth } from '../ports.ts';
import type { Refresh } from './refresh.ts';
import type { Sync } from './sync.ts';
import { turn } from './turn.ts';

export interface ReconcileDeps {
  readonly truth: Truth;
  readonly state: StateStore;
  readonly refresh: Refresh;
  readonly sync: Pick<Sync, 'rebuild'>;
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
      const look = () => this.#user(user, repair);
      const outcome = await (deadline?.again(look) ?? look());
      answer.checked++;
      if (outcome !== 'right') answer.wrong++;
      if (outcome === 'repaired') answer.repaired++;
      deadline?.goesOn();
      await turn(this.#deps.clock);
    }
    this.#deps.metrics.reconciled(users.length, (this.#deps.clock.steadyMs() - startedAtMs) / 1000);
  }

  async #user(user: string, repair: boolean): Promise<'right' | 'wrong' | 'repaired'> {
    const { truth, state, refresh, sync, metrics, groupThreshold } = this.#deps;
    const view = await state.read(user);
    const facts = await truth.rowsOfUser(user);
    const rows = facts.map((one) => deriveRow(one, groupThreshold));
    const miscounted = await this.#miscounted(facts);
    if (!view) return miscounted ? 'wrong' : 'right';
    const { wrong, behind, isTorn } = compare(view, rows);
    const isWrong = wrong > 0 || isTorn;
    // Sums that are not those of right rows: something has drifted, too.
    if (isWrong) metrics.drifted('state', Math.max(wrong, 1));
    if (repair && (isWrong || behind > 0)) {
      const repairAt = { epoch: view.epoch, syncVersion: view.syncVersion };
      // A repair moves the sums by what it changes, which leaves sums wrong that are not those of the rows.
      if (!isTorn) await refresh.offer([{ user, op: 'merged', rows, parts: [], repairAt }]);
      if (isWrong && !(await this.#isRight(user, rows))) await sync.rebuild(user);
      if (isWrong && !miscounted && (await this.#isRight(user, rows))) return 'repaired';
    }
    return isWrong || miscounted ? 'wrong' : 'right';
  }

  async #isRight(user: string, rows: readonly DerivedRow[]): Promise<boolean> {
    const view = await this.#deps.state.read(user);
    if (!view) return false;
    const { wrong, isTorn } = compare(view, rows);
    return wrong === 0 && !isTorn;
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
      metrics.drifted('truth', 1);
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

/** How many rows are wrong or lag, and whether the sums of the state are others than those of its rows. */
function compare(view: StateView, rows: readonly DerivedRow[]): { wrong: number; behind: number; isTorn: boolean } {
  const held = new Map(view.rows.map((row) => [row.conv, row]));
  const judgements = rows.map((row) => judge(held.get(row.conv), row));
  for (const { conv } of rows) held.delete(conv);
  for (const row of held.values()) judgements.push(judge(row, undefined));
  const count = (what: Judgement): number => judgements.filter((one) => one === what).length;
  return { wrong: count('wrong'), behind: count('behind'), isTorn: !sameTotals(view, totalsOf(view.rows)) };
}
