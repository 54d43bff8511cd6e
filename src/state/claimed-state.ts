import { Unavailable } from '../errors.ts';
import type { StateAnswer, StateStore } from '../ports.ts';

const RETRY_MS = 1_000;
const MISSING: StateAnswer = { kind: 'missing' };

/**
 * State in the memory of a node that must be the only one. While it is not sure of that, others may have changed what is held here, so
 * the state is away: pulls are answered from truth. Whoever changes then is forgotten, and built again when that is over.
 */
export function claimedState(state: StateStore, isHeld: () => boolean): StateStore {
  return {
    ...state,
    async apply(calls) {
      if (isHeld()) return state.apply(calls);
      await Promise.all(calls.map(({ user }) => state.drop(user)));
      return calls.map(() => MISSING);
    },
    async read(...args) {
      demandClaim(isHeld);
      return state.read(...args);
    },
    async beginBuild(...args) {
      demandClaim(isHeld);
      return state.beginBuild(...args);
    },
    async completeBuild(...args) {
      demandClaim(isHeld);
      return state.completeBuild(...args);
    },
    async ping() {
      demandClaim(isHeld);
      await state.ping();
    },
  };
}

export function demandClaim(isHeld: () => boolean): void {
  if (!isHeld()) throw new Unavailable('truth has not confirmed that this is the only node', RETRY_MS);
}
