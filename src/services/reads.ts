/** The numbers by request: what the pull side of the server API answers (SPEC §12). */
import type { BatchGetConvsAnswer, CheckAnswer, CheckItem, Row, UserTotals } from '../../protocol/index.ts';
import { listingOf, toWireRow } from '../core/row.ts';
import type { Deadline } from '../deadline.ts';
import type { StateView, Truth } from '../ports.ts';
import type { Sync } from './sync.ts';

export interface ReadsDeps {
  readonly truth: Truth;
  readonly sync: Sync;
}

/** Users looked at in parallel by one batchGet. */
const PARALLEL_USERS = 16;

export class Reads {
  readonly #deps: ReadsDeps;

  constructor(deps: ReadsDeps) {
    this.#deps = deps;
  }

  /** All of a user's state, for lists and pages. */
  view(user: string): Promise<StateView> {
    return this.#deps.sync.pull(user);
  }

  /** Totals of many users, each of one sync_version (CN3), in the order asked. */
  async totals(users: readonly string[], deadline?: Deadline): Promise<UserTotals[]> {
    const answers: UserTotals[] = [];
    for (let i = 0; i < users.length; i += PARALLEL_USERS) {
      deadline?.demand();
      const part = users.slice(i, i + PARALLEL_USERS);
      const views = await Promise.all(part.map((user) => this.#deps.sync.pull(user, Number.MAX_SAFE_INTEGER)));
      for (const { user, total, badge, mentions, syncVersion } of views) {
        answers.push({ user, total, badge, mentions, sync_version: syncVersion });
      }
      deadline?.goesOn();
    }
    return answers;
  }

  /** The rows of these conversations, hidden ones too; conversations that the user does not have are left out. */
  async rows(user: string, convs: readonly string[]): Promise<BatchGetConvsAnswer> {
    const view = await this.#deps.sync.pull(user);
    const wanted = new Map(view.rows.map((row) => [row.conv, row]));
    const rows: Row[] = [];
    for (const conv of new Set(convs)) {
      const row = wanted.get(conv);
      if (row && listingOf(row) !== 'gone') rows.push(toWireRow(row));
    }
    return { epoch: view.epoch, sync_version: view.syncVersion, rows };
  }

  /** Which conversations differ from what the caller believes: events that were lost before they came here. */
  async check(items: readonly CheckItem[]): Promise<CheckAnswer> {
    const heads = await this.#deps.truth.heads(items.map(({ conv }) => conv));
    const differ: CheckAnswer['differ'] = [];
    for (const { conv, head_seq, countable } of items) {
      const known = heads.get(conv);
      if (known && known.headSeq === head_seq && known.countable === countable) continue;
      differ.push({
        conv,
        known: known !== undefined,
        head_seq: known?.headSeq ?? 0,
        countable: known?.countable ?? 0,
      });
    }
    return { differ };
  }
}
