/** What truth says of a user and what the state holds, side by side: for the person who hears "my badge is wrong". */
import type { InspectAnswer, InspectedRow } from '../../protocol/index.ts';
import { differingFields, factsOfRow, judge, totalsOf } from '../core/comparison.ts';
import { type DerivedRow, deriveRow, type HeldRow } from '../core/row.ts';
import type { StateStore, StateView, Truth, Wakeup } from '../ports.ts';

export interface InspectDeps {
  readonly truth: Truth;
  readonly state: StateStore;
  readonly wakeup: Pick<Wakeup, 'rollCall'>;
  readonly groupThreshold: number;
}

/** Rows that differ and are listed; a state so far off is to be built anew, not to be read. */
const DIFFERING_MAX = 1000;

export class Inspect {
  readonly #deps: InspectDeps;

  constructor(deps: InspectDeps) {
    this.#deps = deps;
  }

  /** Looks and changes nothing: what is missing is not built, and what lags is not brought up to date. `newest`: rows besides those that differ. */
  async inspect(user: string, newest: number): Promise<InspectAnswer> {
    const { truth, state, wakeup, groupThreshold } = this.#deps;
    // In this order, so that what changes in between makes the state look older and never ahead of truth.
    const view = await state.read(user);
    const [facts, { devices, nodes }] = await Promise.all([truth.rowsOfUser(user), wakeup.rollCall(user)]);
    const due = facts.map((one) => deriveRow(one, groupThreshold));
    const pairs = pairUp(view?.rows ?? [], due);
    const verdicts = { same: 0, behind: 0, ahead: 0, wrong: 0 };
    const rows = pairs.map((pair) => inspectedRow(pair, view !== null));
    for (const { verdict } of rows) verdicts[verdict]++;
    const differing = rows.filter(({ differ }) => differ.length > 0).slice(0, DIFFERING_MAX);
    const others = rows.filter(({ differ }) => differ.length === 0).slice(0, newest);
    return {
      user,
      truth: { ...totalsOf(due), rows: due.length },
      state: view && inspectedState(view),
      verdicts,
      rows: [...differing, ...others],
      left_out: rows.length - differing.length - others.length,
      devices: [...devices],
      nodes,
    };
  }
}

interface Pair {
  readonly held: HeldRow | undefined;
  readonly due: DerivedRow | undefined;
}

/** The newest first. */
function pairUp(held: readonly HeldRow[], due: readonly DerivedRow[]): Pair[] {
  const rest = new Map(held.map((row) => [row.conv, row]));
  const pairs: Pair[] = due.map((row) => ({ held: rest.get(row.conv), due: row }));
  for (const { conv } of due) rest.delete(conv);
  for (const row of rest.values()) pairs.push({ held: row, due: undefined });
  return pairs.toSorted((a, b) => activityOf(b) - activityOf(a));
}

function activityOf({ held, due }: Pair): number {
  return due?.activity ?? held?.activity ?? 0;
}

/** Where no state is held at all there is nothing to compare. */
function inspectedRow({ held, due }: Pair, isHeld: boolean): InspectedRow {
  return {
    conv: held?.conv ?? due?.conv ?? '',
    verdict: isHeld ? judge(held, due) : 'same',
    differ: isHeld ? differingFields(held, due) : [],
    truth: due === undefined ? null : factsOfRow(due),
    state: held === undefined ? null : { ...factsOfRow(held), version: held.version },
  };
}

function inspectedState(view: StateView): InspectAnswer['state'] {
  const { epoch, syncVersion, total, badge, mentions, digest, rows } = view;
  const sums = { total, badge, mentions, digest };
  return { ...sums, epoch, sync_version: syncVersion, rows: rows.length, of_rows: totalsOf(rows) };
}
