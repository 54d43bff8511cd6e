import { Unavailable } from '../../src/errors.ts';
import type { StateAnswer, StateCall, StateStore } from '../../src/ports.ts';

/** A state store on a bad line: while `losing`, calls are answered as if the user had no live state, and nothing is stored. */
export class LossyState implements StateStore {
  readonly #inner: StateStore;
  losing = false;
  /** Whether every call fails, as when no server answers. */
  away = false;
  /** Counts what reaches the store. */
  calls = 0;

  constructor(inner: StateStore) {
    this.#inner = inner;
  }

  get outlivesProcess(): boolean {
    return this.#inner.outlivesProcess;
  }

  async apply(calls: readonly StateCall[]): Promise<StateAnswer[]> {
    this.#demand();
    if (this.losing) return calls.map(() => ({ kind: 'missing' }));
    this.calls += calls.length;
    return this.#inner.apply(calls);
  }

  read: StateStore['read'] = async (user, sinceVersion) => {
    this.#demand();
    return this.#inner.read(user, sinceVersion);
  };
  beginBuild: StateStore['beginBuild'] = (user, token, takeOverAfterMs) =>
    this.#inner.beginBuild(user, token, takeOverAfterMs);
  completeBuild: StateStore['completeBuild'] = (user, token, epoch, rows, evenIfDirty) =>
    this.#inner.completeBuild(user, token, epoch, rows, evenIfDirty);
  abandonBuild: StateStore['abandonBuild'] = (user, token) => this.#inner.abandonBuild(user, token);
  raiseLarge: StateStore['raiseLarge'] = (revs) => this.#inner.raiseLarge(revs);
  drop: StateStore['drop'] = (user) => this.#inner.drop(user);
  ping: StateStore['ping'] = () => this.#inner.ping();
  close: StateStore['close'] = () => this.#inner.close();

  #demand(): void {
    if (this.away) throw new Unavailable('the state store is away', 100);
  }
}
