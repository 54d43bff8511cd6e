import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { initialState, reduce } from '../../../protocol/client-state.ts';
import type { ClientState } from '../../../protocol/client-state.ts';
import { formatDigest, isListed } from '../../../protocol/index.ts';
import type { ServerFrame } from '../../../protocol/index.ts';
import type { Change, StateCall } from '../../../src/core/change-set.ts';
import { listingOf, toWireRow } from '../../../src/core/row.ts';
import type { DerivedRow } from '../../../src/core/row.ts';
import { buildUserState, headOf, offer, recount } from '../../../src/core/user-state.ts';
import type { StateRow, UserState } from '../../../src/core/user-state.ts';
import { derivePart, factsOf, joinParts, TruthModel } from '../../support/truth-model.ts';
import type { ModelChange } from '../../support/truth-model.ts';

const ME = 'me';
const USERS = [ME, 'ann', 'bob'];
const CONVS = ['c0', 'c1', 'c2', 'c3'];
const LARGE = 'c3';

const conv = fc.constantFrom(...CONVS);
const user = fc.constantFrom(...USERS);
const posted = fc.record({
  sender: user,
  counts: fc.boolean(),
  mentionAll: fc.boolean(),
  mentions: fc.subarray(USERS),
});
const place = fc.nat({ max: 1000 });

/** What happens to truth, and what happens to the calls on their way from truth to the state. */
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('post'), conv, posts: fc.array(posted, { minLength: 1, maxLength: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('recall'), conv, place }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('join', 'leave'), conv, user }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('ack', 'mark', 'mark-row', 'mute', 'unmute', 'hide', 'unhide', 'clear'),
      conv,
      place,
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constantFrom('deliver', 'deliver', 'deliver', 'double', 'join-parts', 'bundle'),
      place,
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
const lossy = fc.oneof(
  { weight: 10, arbitrary: step },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('drop'), place }) },
);
/** Whether the next change is told as a whole row rather than as a part. */
const asRow = fc.array(fc.boolean(), { minLength: 1, maxLength: 12 });
const length = { maxLength: 80, size: 'max' } as const;
const settings = { numRuns: 300 };

/** One user between truth and a device: changes of truth become calls, calls arrive in any order, changes reach the device. */
class World {
  readonly truth = new TruthModel();
  readonly state: UserState;
  readonly offered: DerivedRow[] = [];
  readonly #asRow: readonly boolean[];
  #told = 0;
  #calls: StateCall[] = [];
  device: ClientState = initialState();

  constructor(asRow: readonly boolean[]) {
    this.#asRow = asRow;
    for (const c of CONVS) this.truth.create(c, c === 'c2' ? ['ann', 'bob'] : USERS, c === LARGE);
    this.truth.post('c0', [{ sender: 'ann' }, { sender: ME }, { sender: 'bob', mentionAll: true }]);
    this.state = buildUserState(ME, 'epoch-1', this.truth.rowsOf(ME));
    const head = wireHead(this.state);
    const pages = { ...head, page: 1, rows: listed(this.state).map(toWireRow), end: true };
    this.show({ t: 'synced', ...head, mode: 'snapshot', reason: 'first', expires_at: 0 });
    this.show({ t: 'snapshot', ...pages });
  }

  run(step: Step | { do: 'drop'; place: number }): void {
    const { truth } = this;
    if ('posts' in step) this.#tell(truth.post(step.conv, step.posts));
    else if ('user' in step)
      this.#tell(step.do === 'join' ? truth.join(step.conv, step.user) : truth.leave(step.conv, step.user));
    else if (!('conv' in step)) this.#onTheWay(step.do, step.place);
    else if (step.do === 'recall') this.#tell(truth.recall(step.conv, seqAt(truth, step.conv, step.place)));
    else {
      command(truth, step.do, step.conv, step.place);
      this.#calls.push(this.rowsNow([step.conv]));
    }
  }

  /** Delivers whatever is still on its way, newest and oldest in turn, until nothing has to be derived any more. */
  settle(): void {
    for (let i = 0; this.#calls.length > 0; i++) this.deliver(i % 2 === 0 ? this.#calls.pop() : this.#calls.shift());
  }

  deliver(call: StateCall | undefined): Change | null {
    if (!call) return null;
    this.offered.push(...call.rows);
    const { change, derive } = checkedOffer(this.state, call);
    // Read now, to arrive some time: until then it may have become old.
    if (derive.length > 0) this.#calls.push(this.rowsNow(derive));
    if (change)
      this.show({
        t: 'delta',
        base_version: change.baseVersion,
        op: change.op,
        rows: [...change.rows],
        ...wireHead(this.state),
      });
    return change;
  }

  show(frame: ServerFrame): void {
    this.device = reduced(this.device, frame);
  }

  rowsNow(convs: readonly string[]): StateCall {
    return { user: ME, op: 'merged', rows: convs.map((c) => this.truth.row(c, ME)), parts: [] };
  }

  #tell(change: ModelChange): void {
    const touched = change.touched.includes(ME);
    if (!touched && !change.members.includes(ME)) return;
    this.#told++;
    if (this.#asRow[this.#told % this.#asRow.length] === true || change.conv === LARGE)
      this.#calls.push(this.rowsNow([change.conv]));
    else {
      const part = touched || !change.part ? derivePart(change) : change.part;
      this.#calls.push({ user: ME, op: 'message', rows: [], parts: [part] });
    }
  }

  #onTheWay(what: string, place: number): void {
    if (this.#calls.length === 0) return;
    const at = place % this.#calls.length;
    const call = this.#calls[at]!;
    if (what === 'double') {
      this.deliver(call);
      return;
    }
    this.#calls.splice(at, 1);
    if (what === 'deliver') this.deliver(call);
    if (what !== 'join-parts' && what !== 'bundle') return;
    const other = this.#calls[at];
    const [first] = call.parts;
    const [second] = other?.parts ?? [];
    if (what === 'join-parts' && first && second && first.conv === second.conv && first.toRev === second.fromRev) {
      this.#calls[at] = {
        ...call,
        parts: [joinParts(first, second), ...call.parts.slice(1), ...other!.parts.slice(1)],
        rows: [...call.rows, ...other!.rows],
      };
    } else if (other)
      this.#calls[at] = {
        ...call,
        op: 'merged',
        rows: [...call.rows, ...other.rows],
        parts: [...call.parts, ...other.parts],
      };
    else this.#calls.push(call);
  }
}

/** A device that takes everything in order never has to ask. */
function reduced(device: ClientState, frame: ServerFrame): ClientState {
  const { state, actions } = reduce(device, frame);
  expect(actions).toEqual([]);
  return state;
}

/** `offer`, with everything checked that holds at any time. */
function checkedOffer(state: UserState, call: StateCall) {
  const before = { ...state, sums: { ...state.sums }, rows: new Map(state.rows) };
  const offered = offer(state, call);
  expect(state.sums).toEqual(recount(state));
  for (const [c, row] of before.rows) {
    if (state.rows.get(c)?.version === row.version) expect(state.rows.get(c)?.activity).toBe(row.activity);
  }
  const { change } = offered;
  if (!change) {
    expect(headOf(state)).toEqual(headOf({ ...before }));
    return offered;
  }
  expect(change.baseVersion).toBe(before.syncVersion);
  expect(change.syncVersion).toBe(before.syncVersion + 1);
  expect(state.syncVersion).toBe(change.syncVersion);
  expect(change).toMatchObject({ total: state.sums.total, digest: formatDigest(state.sums.digest) });
  expect(new Set(change.rows.map((row) => row.conv)).size).toBe(change.rows.length);
  for (const row of change.rows) {
    expect(row.version).toBe(change.syncVersion);
    expect(state.rows.get(row.conv)?.activity).toBe(state.rows.get(row.conv)?.latestActivity);
    expect(visible(state.rows.get(row.conv))).not.toEqual(visible(before.rows.get(row.conv)));
  }
  return offered;
}

function command(truth: TruthModel, what: string, c: string, place: number): void {
  if (what === 'ack') truth.ack(c, ME, seqAt(truth, c, place));
  else if (what === 'mark') truth.markUnread(c, ME, seqAt(truth, c, place));
  else if (what === 'mark-row') truth.markUnread(c, ME, null);
  else if (what === 'clear') truth.clear(c, ME);
  else if (what.endsWith('mute')) truth.mute(c, ME, what === 'mute');
  else truth.hide(c, ME, what === 'hide');
}

function seqAt(truth: TruthModel, c: string, place: number): number {
  return 1 + (place % (truth.headSeq(c) + 1));
}

function wireHead(state: UserState) {
  const { epoch, syncVersion, total, badge, mentions, digest } = headOf(state);
  return { epoch, sync_version: syncVersion, total, badge, mentions, digest };
}

function listed(state: UserState): StateRow[] {
  return [...state.rows.values()].filter((row) => listingOf(row) === 'listed');
}

/** What a client can see of a row, and which messages the number is over where it is exact (SY9). */
function visible(row: StateRow | undefined): unknown {
  if (row === undefined || listingOf(row) === 'gone') return { gone: true };
  if (row.hidden) return { hidden: true };
  const { unread, mentions, read_seq, read_epoch, muted, marked, capped } = toWireRow(row);
  const over = unread > 0 && !capped ? row.othersEver : null;
  return { unread, mentions, read_seq, read_epoch, muted, marked, capped, over };
}

/** The rows of which truth and state must think the same. Of conversations that were left the state may know an older rev. */
function memberRows(rows: Iterable<DerivedRow>): unknown[] {
  const members = [...rows].filter((row) => row.member).map(factsOf);
  return members.sort((a, b) => (a.conv < b.conv ? -1 : 1));
}

function expectTruth({ state, truth }: World): void {
  expect(memberRows(state.rows.values())).toEqual(memberRows(truth.rowsOf(ME)));
  const members = [...state.rows.values()].filter((row) => row.member);
  for (const row of members) expect(row.latestActivity).toBe(truth.row(row.conv, ME).activity);
}

describe('any history of rows and parts', () => {
  test('[CN9][SY1] in any order, doubled and merged, ends as truth has it, each visible change one version higher', () => {
    fc.assert(
      fc.property(fc.array(step, length), asRow, (steps, choices) => {
        const world = new World(choices);
        for (const one of steps) world.run(one);
        world.settle();
        expectTruth(world);
      }),
      settings,
    );
  });

  test('[CN9] with calls that are lost ends as truth has it once the rows are derived again', () => {
    fc.assert(
      fc.property(fc.array(lossy, length), asRow, (steps, choices) => {
        const world = new World(choices);
        for (const one of steps) world.run(one);
        world.settle();
        world.deliver(world.rowsNow(CONVS));
        expectTruth(world);
      }),
      settings,
    );
  });

  test('[CN9] ends as the run in order does, which is right after every step', () => {
    fc.assert(
      fc.property(fc.array(step, length), asRow, (steps, choices) => {
        const shuffled = new World(choices);
        const ordered = new World(choices);
        for (const one of steps) {
          shuffled.run(one);
          if ('conv' in one) ordered.run(one);
          ordered.settle();
          expectTruth(ordered);
        }
        shuffled.settle();
        expect(memberRows(shuffled.state.rows.values())).toEqual(memberRows(ordered.state.rows.values()));
        expect(shuffled.state.sums).toEqual(ordered.state.sums);
      }),
      settings,
    );
  });

  test('[SY3][SY7] fed to a device, every change leaves it with the rows, sums and digest of the state', () => {
    fc.assert(
      fc.property(fc.array(step, length), asRow, (steps, choices) => {
        const world = new World(choices);
        for (const one of [...steps, null]) {
          if (one) world.run(one);
          else world.settle();
          const { device, state } = world;
          expect(device).toMatchObject({ epoch: state.epoch, syncVersion: state.syncVersion, own: state.sums });
          const shown = [...device.rows.values()].filter(isListed).map(({ conv: c, version }) => [c, version]);
          expect(new Map(shown as [string, number][])).toEqual(
            new Map(listed(state).map((row) => [row.conv, row.version])),
          );
        }
      }),
      settings,
    );
  });

  test('[CN9][SY9] offered again, no row of the past changes anything', () => {
    fc.assert(
      fc.property(fc.array(step, length), asRow, (steps, choices) => {
        const world = new World(choices);
        for (const one of steps) world.run(one);
        world.settle();
        const before = headOf(world.state);
        const past = [...world.offered];
        for (const row of past) expect(world.deliver({ user: ME, op: 'merged', rows: [row], parts: [] })).toBeNull();
        world.settle();
        expect(headOf(world.state)).toEqual(before);
      }),
      settings,
    );
  });
});
