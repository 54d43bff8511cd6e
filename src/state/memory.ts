import { buildUserState, headOf, largeOf, movedOn, offer, rowsSince } from '../core/user-state.ts';
import type { UserState } from '../core/user-state.ts';
import type { Clock, StateAnswer, StateCall, StateStore } from '../ports.ts';

export interface MemoryStateOptions {
  readonly clock: Clock;
  /** Users held at most; above it the least recently used are forgotten, and built again when they ask. */
  readonly usersMax?: number;
  /** Users who are connected here are kept above the limit too: to one who is forgotten no change can be pushed. */
  readonly isConnected?: (user: string) => boolean;
  /** A user who has not asked for so long is forgotten. */
  readonly idleTtlMs?: number;
  /** Large conversations whose rev is held at most; one forgotten counts as not known, so its row is derived when asked for. */
  readonly largeMax?: number;
}

const USERS_MAX = 1_000_000;
const IDLE_TTL_MS = 30 * 24 * 3_600_000;
const LARGE_MAX = 1_000_000;
/** Users looked at for one who comes new, however many of the least recently used are connected. */
const LOOKS_MAX = 64;

const MISSING: StateAnswer = { kind: 'missing' };
const BUILDING: StateAnswer = { kind: 'building' };

interface Live {
  readonly kind: 'live';
  readonly state: UserState;
  usedAtMs: number;
}

/** The marker of a build (ARCHITECTURE, flows): what changes meanwhile goes to the dirty list, since nobody knows whether the build read it. */
interface Building {
  readonly kind: 'building';
  readonly token: string;
  readonly usedAtMs: number;
  /** No more conversations than the user is a member of. */
  readonly dirty: Set<string>;
}

/**
 * The state of all users in the memory of one process. Used means asked for (read or built): changes that only arrive neither
 * keep a user nor cost the upkeep of the order of use.
 */
export function createMemoryState(options: MemoryStateOptions): StateStore {
  const { clock, usersMax = USERS_MAX, isConnected = () => false } = options;
  const { idleTtlMs = IDLE_TTL_MS, largeMax = LARGE_MAX } = options;
  /** Least recently used first. */
  const users = new Map<string, Live | Building>();
  const largeRevs = createLargeRevs(largeMax);

  function entryOf(user: string, nowMs: number): Live | Building | undefined {
    const entry = users.get(user);
    if (entry === undefined || nowMs - entry.usedAtMs < idleTtlMs) return entry;
    users.delete(user);
    return undefined;
  }

  function putLast(user: string, entry: Live | Building): void {
    users.delete(user);
    users.set(user, entry);
  }

  function makeRoomFor(newest: string, nowMs: number): void {
    let looks = 0;
    for (const [user, entry] of users) {
      if (user === newest || looks++ === LOOKS_MAX) break;
      if (users.size <= usersMax && nowMs - entry.usedAtMs < idleTtlMs) break;
      if (entry.kind === 'live' && isConnected(user)) {
        entry.usedAtMs = nowMs;
        putLast(user, entry);
      } else users.delete(user);
    }
  }

  function applyOne(call: StateCall, nowMs: number): StateAnswer {
    const entry = entryOf(call.user, nowMs);
    if (entry === undefined) return MISSING;
    if (entry.kind === 'building') {
      for (const { conv } of call.rows) entry.dirty.add(conv);
      for (const { conv } of call.parts) entry.dirty.add(conv);
      return BUILDING;
    }
    const { change, derive } = offer(entry.state, call);
    return { kind: 'applied', head: change ?? headOf(entry.state), change, derive };
  }

  return {
    outlivesProcess: false,

    async apply(calls) {
      const nowMs = clock.steadyMs();
      return calls.map((call) => applyOne(call, nowMs));
    },

    async read(user, sinceVersion) {
      const nowMs = clock.steadyMs();
      const entry = entryOf(user, nowMs);
      if (entry?.kind !== 'live') return null;
      entry.usedAtMs = nowMs;
      putLast(user, entry);
      const { state } = entry;
      const large = largeOf(state);
      return {
        ...headOf(state),
        user,
        tombstoneFloor: state.tombstoneFloor,
        rows: rowsSince(state, sinceVersion),
        large,
        largeBehind: movedOn(state, large, largeRevs.of),
      };
    },

    async beginBuild(user, token, takeOverAfterMs) {
      const nowMs = clock.steadyMs();
      const entry = entryOf(user, nowMs);
      if (entry?.kind === 'building' && entry.token !== token && nowMs - entry.usedAtMs < takeOverAfterMs) return false;
      // What was dirty under an older marker was committed before this one: the read of truth that follows sees it.
      putLast(user, { kind: 'building', token, usedAtMs: nowMs, dirty: new Set() });
      makeRoomFor(user, nowMs);
      return true;
    },

    async completeBuild(user, token, epoch, rows, evenIfDirty = false) {
      const nowMs = clock.steadyMs();
      const entry = entryOf(user, nowMs);
      if (entry?.kind !== 'building' || entry.token !== token) return { stored: false, dirty: [] };
      const dirty = [...entry.dirty];
      if (dirty.length > 0 && !evenIfDirty) {
        entry.dirty.clear();
        return { stored: false, dirty };
      }
      putLast(user, { kind: 'live', state: buildUserState(user, epoch, rows), usedAtMs: nowMs });
      return { stored: true, dirty };
    },

    async abandonBuild(user, token) {
      const entry = users.get(user);
      if (entry?.kind === 'building' && entry.token === token) users.delete(user);
    },

    async raiseLarge(revs) {
      largeRevs.raise(revs);
    },

    async drop(user) {
      users.delete(user);
    },

    async ping() {},

    async close() {
      users.clear();
      largeRevs.clear();
    },
  };
}

/** Revs of large conversations, as far as they have been made known. */
function createLargeRevs(max: number) {
  /** Least recently raised first. */
  const revs = new Map<string, number>();
  return {
    of: (conv: string): number | undefined => revs.get(conv),
    raise(raised: ReadonlyMap<string, number>): void {
      for (const [conv, rev] of raised) {
        const known = revs.get(conv) ?? 0;
        revs.delete(conv);
        revs.set(conv, Math.max(known, rev));
      }
      for (const conv of revs.keys()) {
        if (revs.size <= max) break;
        revs.delete(conv);
      }
    },
    clear: (): void => revs.clear(),
  };
}
