import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Row } from '../../protocol/index.ts';
import { listingOf, toWireRow } from '../../src/core/row.ts';
import type { DerivedRow } from '../../src/core/row.ts';
import type { Change, StateAnswer, StateCall, StateHead, StateView } from '../../src/ports.ts';
import { derivePart, factsOf, TruthModel } from '../support/truth-model.ts';
import type { ModelChange } from '../support/truth-model.ts';
import { NEVER_MS, viewOf } from './state-offers.ts';
import type { StateUnderTest } from './state.ts';

const CONVS = ['c0', 'c1', 'c2'];
const conv = fc.constantFrom(...CONVS);
const who = fc.nat({ max: 2 });
const place = fc.nat({ max: 1000 });
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constantFrom('post', 'post-notice', 'mention-all', 'recall'), conv, who, place }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('join', 'leave', 'ack', 'hide', 'clear', 'mute', 'unmute'),
      conv,
      who,
      place,
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constantFrom('deliver', 'deliver', 'deliver-all', 'double'), conv, who, place }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('begin', 'take-over', 'read-truth', 'complete', 'abandon', 'evict', 'look'),
      conv,
      who,
      place,
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

interface Build {
  readonly user: string;
  readonly token: string;
  rows: readonly DerivedRow[] | null;
}

/** What a device holds that follows its user by reading since its version, and by nothing else. */
interface Device {
  readonly epoch: string;
  readonly syncVersion: number;
  readonly rows: Map<string, Row>;
}

/** A few users on two nodes; every step is one call to the store, so any interleaving of fan-outs and builds can be written down. */
class Nodes {
  readonly #under: StateUnderTest;
  readonly #truth = new TruthModel();
  readonly #users: readonly string[];
  #calls: StateCall[] = [];
  #builds: Build[] = [];
  #drawn = 0;
  readonly #given = new Map<string, Change>();
  readonly #devices = new Map<string, Device>();

  constructor(under: StateUnderTest) {
    this.#under = under;
    this.#users = [under.freshUser(), under.freshUser(), under.freshUser()];
    for (const c of CONVS) this.#truth.create(c, this.#users);
  }

  async run(one: Step): Promise<void> {
    const truth = this.#truth;
    const user = this.#users[one.who]!;
    const at = one.place % Math.max(1, this.#calls.length);
    const build = this.#builds[one.place % Math.max(1, this.#builds.length)];
    if (one.do === 'post') this.#tell(truth.post(one.conv, [{ sender: user, mentions: [this.#users[0]!] }]));
    else if (one.do === 'post-notice')
      this.#tell(truth.post(one.conv, [{ sender: user, counts: false }, { sender: 'bot' }]));
    else if (one.do === 'mention-all')
      this.#tell(truth.post(one.conv, [{ sender: user }, { sender: user, mentionAll: true }]));
    else if (one.do === 'recall') this.#tell(truth.recall(one.conv, one.place % (truth.headSeq(one.conv) + 1)));
    else if (one.do === 'join') this.#tell(truth.join(one.conv, user));
    else if (one.do === 'leave') this.#tell(truth.leave(one.conv, user));
    else if (one.do === 'deliver') await this.#deliver(this.#calls.splice(at, 1));
    else if (one.do === 'deliver-all') await this.#deliver(this.#calls.splice(0));
    else if (one.do === 'double') await this.#deliver(this.#calls.slice(at, at + 1));
    else if (one.do === 'begin') await this.#begin(user, NEVER_MS);
    else if (one.do === 'take-over') await this.#begin(user, 0);
    else if (one.do === 'read-truth') this.#readTruth(build);
    else if (one.do === 'complete') await this.#complete(build);
    else if (one.do === 'abandon') await this.#abandon(build);
    else if (one.do === 'evict') await this.#under.evict(user);
    else if (one.do === 'look') await this.#look(user);
    else this.#command(one, user);
  }

  /** Everything that is under way arrives, and every user asks. */
  async settle(): Promise<void> {
    while (this.#builds.length > 0) {
      this.#readTruth(this.#builds[0]);
      await this.#complete(this.#builds[0]);
    }
    while (this.#calls.length > 0) await this.#deliver(this.#calls.splice(0, 5));
    for (const user of this.#users) {
      if (!(await this.#under.other.read(user))) {
        await this.#begin(user, 0);
        this.#readTruth(this.#builds.at(-1));
        await this.#complete(this.#builds.at(-1));
      }
      await this.#look(user);
      expectTruth(await viewOf(this.#under.state, user), this.#truth.rowsOf(user));
    }
  }

  #command(one: Step, user: string): void {
    const truth = this.#truth;
    if (one.do === 'ack') truth.ack(one.conv, user, one.place % (truth.headSeq(one.conv) + 1));
    else if (one.do === 'hide') truth.hide(one.conv, user, one.place % 2 === 0);
    else if (one.do === 'clear') truth.clear(one.conv, user);
    else truth.mute(one.conv, user, one.do === 'mute');
    this.#calls.push(this.#rowsNow(user, [one.conv]));
  }

  #tell(change: ModelChange): void {
    for (const user of new Set([...change.members, ...change.touched])) {
      const part = change.touched.includes(user) || !change.part ? derivePart(change) : change.part;
      this.#calls.push({ user, op: 'message', rows: [], parts: [part] });
    }
  }

  #rowsNow(user: string, convs: readonly string[]): StateCall {
    return { user, op: 'merged', rows: convs.map((c) => this.#truth.row(c, user)), parts: [] };
  }

  async #deliver(calls: readonly StateCall[]): Promise<void> {
    const node = calls.length % 2 === 0 ? this.#under.state : this.#under.other;
    const answers = await node.apply(calls);
    for (const [i, call] of calls.entries()) this.#answered(call.user, answers[i]!);
  }

  #answered(user: string, answer: StateAnswer): void {
    if (answer.kind !== 'applied') return;
    if (answer.derive.length > 0) this.#calls.push(this.#rowsNow(user, answer.derive));
    if (answer.change) expectGivenOnce(this.#given, user, answer.change, answer.head);
  }

  async #begin(user: string, takeOverAfterMs: number): Promise<void> {
    const token = `token-${this.#drawn++}`;
    if (await this.#under.state.beginBuild(user, token, takeOverAfterMs))
      this.#builds.push({ user, token, rows: null });
  }

  #readTruth(build: Build | undefined): void {
    if (build) build.rows ??= this.#truth.rowsOf(build.user);
  }

  async #complete(build: Build | undefined): Promise<void> {
    if (!build?.rows) return;
    this.#builds = this.#builds.filter((other) => other !== build);
    const { user, token, rows } = build;
    const isLast = this.#drawn % 2 === 0;
    const { stored, dirty } = await this.#under.other.completeBuild(
      user,
      token,
      `epoch-${this.#drawn++}`,
      rows,
      isLast,
    );
    if (dirty.length === 0) return;
    const now = this.#rowsNow(user, dirty);
    if (stored) this.#calls.push(now);
    else this.#builds.push({ user, token, rows: [...rows.filter(({ conv: c }) => !dirty.includes(c)), ...now.rows] });
  }

  async #abandon(build: Build | undefined): Promise<void> {
    if (!build) return;
    this.#builds = this.#builds.filter((other) => other !== build);
    await this.#under.state.abandonBuild(build.user, build.token);
  }

  /** The device reads since its version, or anew, and then holds what a full read shows. */
  async #look(user: string): Promise<void> {
    const head = await this.#under.state.read(user, Number.MAX_SAFE_INTEGER);
    if (!head) return;
    const device = this.#devices.get(user) ?? { epoch: '', syncVersion: 0, rows: new Map() };
    const follows = device.epoch === head.epoch && device.syncVersion >= head.tombstoneFloor;
    if (!follows) device.rows.clear();
    const { rows } = await viewOf(this.#under.other, user, follows ? device.syncVersion : undefined);
    for (const row of rows) device.rows.set(row.conv, toWireRow(row));
    expectSameShown(device, await viewOf(this.#under.state, user));
    this.#devices.set(user, { ...device, epoch: head.epoch, syncVersion: head.syncVersion });
  }
}

/** SY1: a version stands for one change set of an epoch. */
function expectGivenOnce(given: Map<string, Change>, user: string, change: Change, head: StateHead): void {
  expect(change.syncVersion).toBe(change.baseVersion + 1);
  expect(head).toMatchObject({ epoch: change.epoch, syncVersion: change.syncVersion, digest: change.digest });
  const name = `${user} ${change.epoch} ${change.syncVersion}`;
  expect(given.get(name)).toBeUndefined();
  given.set(name, change);
}

function expectSameShown(device: Device, { epoch, syncVersion, rows }: StateView): void {
  expect(device.epoch !== epoch || syncVersion >= device.syncVersion).toBe(true);
  const all = rows.filter((row) => listingOf(row) !== 'gone').map(toWireRow);
  expect(shown(device.rows.values())).toEqual(shown(all));
}

/** Head and floor are raised without a version, so a device may hold older ones. */
function shown(rows: Iterable<Row>): unknown[] {
  const kept = [...rows].filter((row) => row.gone !== true);
  const visible = kept.map((row) =>
    row.hidden ? { conv: row.conv, hidden: true } : { ...row, head_seq: 0, floor_seq: 0 },
  );
  return visible.sort((a, b) => (a.conv < b.conv ? -1 : 1));
}

function expectTruth(view: StateView, rows: readonly DerivedRow[]): void {
  const members = (all: readonly DerivedRow[]) => all.filter((row) => row.member).map(factsOf);
  expect(members(view.rows)).toEqual(members(rows));
}

/** Any interleaving of fan-outs, builds, take-overs and evictions ends at the truth, and gives no version twice. */
export function interleavingsContract(under: StateUnderTest): void {
  describe('any interleaving of fan-outs, builds and evictions', () => {
    test('[SY1][SY10][CN9] ends at the truth; no version is given twice inside an epoch; a device that reads since its version misses nothing', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 100, size: 'max' }), async (steps) => {
          const nodes = new Nodes(under);
          for (const one of steps) await nodes.run(one);
          await nodes.settle();
        }),
        { numRuns: 100 },
      );
    });
  });
}
