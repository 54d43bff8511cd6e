import type { Metrics } from '../metrics.ts';
import type { Clock, EpochSource, Random, StateStore, Truth, Wakeup } from '../ports.ts';
import { Commands } from './commands.ts';
import { Explain } from './explain.ts';
import { FanOut } from './fan-out.ts';
import { Inspect } from './inspect.ts';
import { Post } from './post.ts';
import { Reads } from './reads.ts';
import { Reconcile } from './reconcile.ts';
import { Refresh } from './refresh.ts';
import { Sync } from './sync.ts';
import { Watch } from './watch.ts';

export interface ServicesDeps {
  readonly truth: Truth;
  readonly state: StateStore;
  readonly epochs: EpochSource;
  readonly wakeup: Wakeup;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: Metrics;
  /** CN8: members above which a conversation is large. */
  readonly groupThreshold: number;
  readonly largeMergeMs: number;
  readonly buildsMax: number;
  readonly divergenceCoolDownMs: number;
  readonly reconcileSampleRows: number;
  /** Told of faults that no caller waits for. */
  readonly onError: (error: unknown) => void;
}

export interface Services {
  readonly post: Post;
  readonly fanOut: FanOut;
  readonly commands: Commands;
  readonly sync: Sync;
  readonly reads: Reads;
  readonly explain: Explain;
  readonly reconcile: Reconcile;
  readonly inspect: Inspect;
  readonly watch: Watch;
}

/** The use cases over one set of adapters. */
export function createServices(deps: ServicesDeps): Services {
  const refresh = new Refresh(deps);
  const sync = new Sync({ ...deps, refresh });
  const fanOut = new FanOut({ ...deps, refresh });
  return {
    fanOut,
    sync,
    post: new Post({ ...deps, fanOut, keepsOutbox: deps.state.outlivesProcess }),
    commands: new Commands({ ...deps, refresh, sync, keepsOutbox: deps.state.outlivesProcess }),
    reads: new Reads({ ...deps, sync }),
    explain: new Explain(deps),
    reconcile: new Reconcile({ ...deps, refresh, sync, sampleRows: deps.reconcileSampleRows }),
    inspect: new Inspect(deps),
    watch: new Watch(deps),
  };
}
