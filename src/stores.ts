import { join } from 'node:path';
import { claimedTruth } from './claimed-truth.ts';
import type { Config } from './config.ts';
import { inDataFolder } from './data-folder.ts';
import type { Metrics } from './metrics.ts';
import type { Clock, EpochSource, Leases, Random, StateStore, Truth, Wakeup } from './ports.ts';
import { claimSoleNode } from './sole-node.ts';
import { claimedState } from './state/claimed-state.ts';
import { createMemoryEpochs } from './state/memory-epochs.ts';
import { createMemoryState } from './state/memory.ts';
import { createMemoryWakeup } from './state/memory-wakeup.ts';
import { openRedis } from './state/redis/open.ts';
import { openMysqlTruth } from './truth/mysql/open.ts';
import { openSqliteTruth } from './truth/sqlite/open.ts';

/** What the services stand on. */
export interface Stores {
  readonly truth: Truth;
  readonly state: StateStore;
  readonly epochs: EpochSource;
  readonly wakeup: Wakeup;
  readonly leases: Leases;
  readonly close: () => Promise<void>;
}

export interface StoresDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: Metrics;
  /** Told of what no caller waits for. */
  readonly onError: (error: unknown) => void;
  /** Told once, if truth does not answer at the start, or another node has it: why, and how long it is waited for. */
  readonly onWait?: (error: unknown, patienceMs: number) => void;
  /** Told once, when this node may no longer be served from: it has to end. Without it `onError` is told. */
  readonly onLost?: (error: Error) => void;
  /** Instead of what the settings name. */
  readonly truth?: Truth | undefined;
  readonly state?: StateStore | undefined;
  readonly wakeup?: Wakeup | undefined;
}

/** The adapters that the settings name: embedded, truth in a database, or truth in a database and state in Redis. */
export async function openStores(config: Config, deps: StoresDeps): Promise<Stores> {
  const { mysqlUrl, redisUrl } = config;
  if (mysqlUrl !== null && redisUrl !== null) return openShared(config, mysqlUrl, redisUrl, deps);
  if (mysqlUrl !== null) return openSole(config, mysqlUrl, deps);
  const { dataDir } = config;
  const truth = deps.truth ?? inDataFolder(dataDir, () => openSqliteTruth({ file: join(dataDir, 'truth.sqlite') }));
  return closing({ ...inMemory(config, deps), truth, leases: alone });
}

/** Truth in a database, and the one node that uses it. */
async function openSole(config: Config, mysqlUrl: string, deps: StoresDeps): Promise<Stores> {
  const { clock, random, metrics, onWait, onError, onLost = onError } = deps;
  const truth = await openMysqlTruth({ url: mysqlUrl, clock, random, metrics, onWait });
  try {
    const { leases } = truth;
    const sole = await claimSoleNode({ leases, clock, onWait, onError, onLost });
    const { state, ...memory } = inMemory(config, deps);
    const isHeld = (): boolean => sole.isHeld();
    const claimed = { state: claimedState(state, isHeld), truth: claimedTruth(deps.truth ?? truth, isHeld) };
    const stores = closing({ ...memory, ...claimed, leases });
    const close = async (): Promise<void> => {
      await sole.release();
      await stores.close();
    };
    return { ...stores, close };
  } catch (error) {
    await truth.close();
    throw error;
  }
}

function inMemory(config: Config, deps: StoresDeps): Pick<Stores, 'state' | 'epochs' | 'wakeup'> {
  const { clock, random } = deps;
  const wakeup = createMemoryWakeup();
  const isConnected = (user: string): boolean => wakeup.holds(user);
  return {
    state: deps.state ?? createMemoryState({ clock, usersMax: config.stateUsersMax, isConnected }),
    epochs: createMemoryEpochs({ random }),
    wakeup: deps.wakeup ?? wakeup,
  };
}

/** Stores that any number of nodes share; the fences and epochs of the state are kept in truth. */
async function openShared(config: Config, mysqlUrl: string, redisUrl: string, deps: StoresDeps): Promise<Stores> {
  const { clock, random, metrics, onError, onWait } = deps;
  const truth = await openMysqlTruth({ url: mysqlUrl, clock, random, metrics, onWait });
  try {
    const { state, wakeup } = await openRedis({
      url: redisUrl,
      clock,
      random,
      fence: truth.fences,
      comparisonMs: config.heartbeatMs,
      onError,
    });
    return closing({
      truth: deps.truth ?? truth,
      state: deps.state ?? state,
      epochs: truth.epochs,
      wakeup: deps.wakeup ?? wakeup,
      leases: truth.leases,
    });
  } catch (error) {
    await truth.close();
    throw error;
  }
}

/** Of a store that one process holds. */
const alone: Leases = { hold: async () => true, keep: async () => true };

/** What only hints goes first, truth last. */
function closing(stores: Omit<Stores, 'close'>): Stores {
  return {
    ...stores,
    async close() {
      await stores.wakeup.close();
      await stores.state.close();
      await stores.truth.close();
    },
  };
}
