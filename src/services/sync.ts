/**
 * Flow 5, hello and sync: the state of one user, built from truth where it is missing and brought up to date where it lags
 * (ARCHITECTURE, flows). Warm and small it is one read of the state and no SQL.
 */
import { deriveRow } from '../core/row.ts';
import { buildUserState, headOf, rowsSince } from '../core/user-state.ts';
import { Bug, Unavailable } from '../errors.ts';
import type { Metrics } from '../metrics.ts';
import type { Clock, EpochSource, Random, StateHead, StateStore, StateView, Truth, Wakeup } from '../ports.ts';
import type { Refresh } from './refresh.ts';
import { turn } from './turn.ts';

export interface SyncDeps {
  readonly truth: Truth;
  readonly state: StateStore;
  readonly epochs: EpochSource;
  readonly wakeup: Wakeup;
  readonly refresh: Refresh;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: Metrics;
  readonly groupThreshold: number;
  /** Builds under way at once; the rest wait, so that a storm of cold users does not starve the deltas. */
  readonly buildsMax: number;
  /** SY7: the second divergence of a user within this time is answered by a build from truth. */
  readonly divergenceCoolDownMs: number;
  /** Told of faults that no caller waits for. */
  readonly onError: (error: unknown) => void;
}

/** When a device of a user was last found to differ, and whether a build from truth has been the answer. */
interface Divergence {
  readonly atMs: number;
  readonly isRebuilt: boolean;
}

const BUILD_TOKEN_LENGTH = 16;
/** Longer than an epoch that is kept, so that the two never meet. */
const ONCE_EPOCH_LENGTH = 12;
/** A marker of a node that died is taken over after this (ARCHITECTURE, flows). */
const BUILD_TAKEOVER_MS = 10_000;
const BUILD_POLL_MS = 25;
const BACK_POLL_MS = 100;
/** Who changes all the time is not kept waiting for a moment of quiet. */
const BUILD_ROUNDS_MAX = 5;
const BUILDS_WAITING_MAX = 20_000;
/** A key can be evicted between its build and the read of it; more often in a row is no accident. */
const READS_MAX = 10;
const DIVERGED_USERS_MAX = 10_000;

export class Sync {
  readonly #deps: SyncDeps;
  readonly #builds = new Map<string, Promise<void>>();
  #buildsRunning = 0;
  #buildsWaiting: (() => void)[] = [];
  readonly #diverged = new Map<string, Divergence>();

  constructor(deps: SyncDeps) {
    this.#deps = deps;
  }

  /**
   * Where the user stands, with the rows above `sinceVersion` (all without it). At least as new as truth was when it was called,
   * except for what the fan-out of small conversations still has in hand.
   */
  async view(user: string, sinceVersion?: number): Promise<StateView> {
    const { state, truth, refresh } = this.#deps;
    const view = await this.#readOrBuild(user, sinceVersion);
    if (view.largeBehind.length === 0) return view;
    await state.raiseLarge(await truth.revsOf(view.largeBehind));
    await refresh.refresh([{ user, convs: view.largeBehind, op: 'merged' }]);
    return this.#readOrBuild(user, sinceVersion);
  }

  /** Where the user stands, without rows. */
  async head(user: string): Promise<StateHead> {
    const { epoch, syncVersion, total, badge, mentions, digest } = await this.view(user, Number.MAX_SAFE_INTEGER);
    return { epoch, syncVersion, total, badge, mentions, digest };
  }

  /** DT8: like `view`, but while the state store is away the rows come from truth, under an epoch used once. */
  async pull(user: string, sinceVersion?: number): Promise<StateView> {
    try {
      return await this.view(user, sinceVersion);
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      const { truth, random, groupThreshold } = this.#deps;
      const rows = (await truth.rowsOfUser(user)).map((facts) => deriveRow(facts, groupThreshold));
      const once = buildUserState(user, random.token(ONCE_EPOCH_LENGTH), rows);
      const { tombstoneFloor } = once;
      return { ...headOf(once), user, tombstoneFloor, rows: rowsSince(once, sinceVersion), large: [], largeBehind: [] };
    }
  }

  /**
   * SY7: a device at the state's version had another digest. The first time the snapshot that it gets repairs it; if that did not
   * help, the state itself is in doubt: it is built from truth under a new epoch. If that did not help either, it is the device, and
   * until the cool-down is over its user's other devices are not made to start over again.
   */
  async diverged(user: string): Promise<void> {
    const { metrics, clock, divergenceCoolDownMs } = this.#deps;
    metrics.diverged();
    const nowMs = clock.steadyMs();
    const before = this.#diverged.get(user);
    const isAgain = before !== undefined && nowMs - before.atMs < divergenceCoolDownMs;
    if (isAgain && before.isRebuilt) return;
    this.#diverged.delete(user);
    this.#diverged.set(user, { atMs: nowMs, isRebuilt: isAgain });
    for (const oldest of this.#diverged.keys()) {
      if (this.#diverged.size <= DIVERGED_USERS_MAX) break;
      this.#diverged.delete(oldest);
    }
    if (isAgain) await this.rebuild(user);
  }

  /** From truth, under a new epoch: devices start over. */
  async rebuild(user: string): Promise<void> {
    await this.#deps.state.drop(user);
    await this.#build(user);
  }

  async #readOrBuild(user: string, sinceVersion: number | undefined): Promise<StateView> {
    for (let tries = 0; tries < READS_MAX; tries++) {
      const view = await this.#deps.state.read(user, sinceVersion);
      if (view) return view;
      await this.#build(user);
    }
    throw new Unavailable(`the state of one user does not stay: read ${READS_MAX} times`, 1000);
  }

  /** One build a user at a time on this node; the marker sees to it over all nodes. */
  #build(user: string): Promise<void> {
    const running = this.#builds.get(user);
    if (running) return running;
    const build = this.#limited(() => this.#buildFromTruth(user)).finally(() => this.#builds.delete(user));
    this.#builds.set(user, build);
    return build;
  }

  async #limited(run: () => Promise<void>): Promise<void> {
    if (this.#buildsRunning >= this.#deps.buildsMax) {
      if (this.#buildsWaiting.length >= BUILDS_WAITING_MAX)
        throw new Unavailable('too many users are being loaded', 2000);
      await new Promise<void>((resolve) => this.#buildsWaiting.push(resolve));
    }
    this.#buildsRunning++;
    try {
      await run();
    } finally {
      this.#buildsRunning--;
      this.#buildsWaiting.shift()?.();
    }
  }

  /** What was begun is brought to an end where the store is away for a moment; a marker that is older than that is taken over. */
  async #whenBack<T>(run: () => Promise<T>): Promise<T> {
    const { clock } = this.#deps;
    const endMs = clock.steadyMs() + BUILD_TAKEOVER_MS;
    for (;;) {
      try {
        return await run();
      } catch (error) {
        if (!(error instanceof Unavailable) || clock.steadyMs() >= endMs) throw error;
      }
      await new Promise<void>((resolve) => clock.after(BACK_POLL_MS, resolve));
    }
  }

  /**
   * SY10: marker first, then one consistent read of truth, then the rows under a new epoch; what was changed meanwhile is on the
   * marker's dirty list and is derived again before anything is stored: a node that dies in between leaves only its marker.
   */
  async #buildFromTruth(user: string): Promise<void> {
    const { state, truth, epochs, random, clock, refresh, wakeup, metrics, groupThreshold } = this.#deps;
    const startedAtMs = clock.steadyMs();
    const token = random.token(BUILD_TOKEN_LENGTH);
    while (!(await state.beginBuild(user, token, BUILD_TAKEOVER_MS))) {
      await new Promise<void>((resolve) => clock.after(BUILD_POLL_MS, resolve));
      if (await state.read(user, Number.MAX_SAFE_INTEGER)) return;
    }
    try {
      // Between two builds everybody else is served: a batch may ask for hundreds of users.
      await turn(clock);
      const facts = await truth.rowsOfUser(user);
      const rows = new Map(facts.map((one) => [one.membership.conv, deriveRow(one, groupThreshold)]));
      const epoch = await epochs.draw(user);
      let { stored, dirty } = await state.completeBuild(user, token, epoch, [...rows.values()]);
      for (let round = 1; !stored; round++) {
        if (dirty.length === 0) return;
        for (const call of await refresh.derive([{ user, convs: dirty, op: 'merged' }])) {
          for (const row of call.rows) rows.set(row.conv, row);
        }
        const isLast = round === BUILD_ROUNDS_MAX;
        ({ stored, dirty } = await state.completeBuild(user, token, epoch, [...rows.values()], isLast));
      }
      // They count as answered already, so nobody else derives them.
      await this.#whenBack(async () => {
        if (dirty.length > 0) await refresh.refresh([{ user, convs: dirty, op: 'merged' }]);
      });
      metrics.rebuilt((clock.steadyMs() - startedAtMs) / 1000);
    } catch (error) {
      // The next build waits for it, and whoever asked does not.
      this.#whenBack(() => state.abandonBuild(user, token)).catch(this.#deps.onError);
      throw error;
    }
    const view = await state.read(user, Number.MAX_SAFE_INTEGER);
    if (!view) return;
    // Sockets of the user that are open at another epoch start over (SY10); for all others this says nothing new.
    if (view.rows.length > 0) throw new Bug('rows above the highest version');
    const { epoch, syncVersion, total, badge, mentions, digest } = view;
    const head = { epoch, syncVersion, total, badge, mentions, digest };
    await wakeup.publishChanges([{ ...head, user, baseVersion: syncVersion, op: 'merged', rows: [] }]);
  }
}
