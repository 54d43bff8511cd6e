// One store for all tabs: read by all, written by the tab that leads. What the others have asked for it writes with its own, and
// when one of them goes, or is found in the store of a tab that led before, it asks for that itself. So whatever is done twice
// because two tabs ask for it means the same (AK1), and nothing is lost with the tab in which it was done.
import type { Command } from '../command.ts';
import type { ClientRandom } from '../ports.ts';
import type { ClientStore, Kept } from '../store.ts';
import type { Undone } from './tab-message.ts';

export interface SharedStoreHandler {
  leads(): boolean;
  post(message: Undone | { to: null; say: 'forgotten' }): void;
  /** What this tab shows now. */
  kept(kept: Kept): void;
}

/** Tabs that crash say no goodbye: what the oldest had asked for is asked for here. */
const TABS_MAX = 200;

const NOTHING_TOLD = { user: null, undone: [] };

export function createSharedStore(store: ClientStore | undefined, random: ClientRandom, handler: SharedStoreHandler) {
  const tab = `t${random().toString(36).slice(2)}`;
  let take: (commands: readonly Command[]) => void = () => {};
  /** As this tab last had it. */
  let last: Kept | null = null;
  /** What the tab that leads knows of this one's. */
  let told: Pick<Undone, 'user' | 'undone'> = NOTHING_TOLD;
  /** By tab. Those of another user are neither asked for nor kept. */
  const undone = new Map<string, Undone>();
  /** As it stood in the store when this tab came to lead, until it is known whether that is of the same user. */
  let left: Kept | null = null;
  let mayWrite = false;

  function write(): void {
    if (last === null) return;
    const { commands } = last;
    if (!handler.leads()) tell(last);
    else if (mayWrite) {
      const others = [...[...undone.values()].map(ours), left?.commands ?? []];
      const all = others.reduce((known, more) => [...missingIn(known, more), ...known], commands);
      store?.save({ ...last, commands: all });
    }
  }

  function tell({ user, commands }: Kept, isGone = false): void {
    const before = told.undone;
    const isSame = commands.length === before.length && commands.every((command, i) => command === before[i]);
    if (isSame && (user === told.user || commands.length === 0) && !isGone) return;
    told = { user, undone: commands };
    handler.post({ tab, ...told, isGone });
  }

  const ours = (one: Undone | undefined) => (one && one.user === last?.user ? one.undone : []);

  function takeLeft(): void {
    if (left === null || last === null || (left.user !== null && last.user === null)) return;
    const { user, commands } = left;
    left = null;
    if (user === null || user === last.user) takeMissing(commands);
  }

  function takeMissing(commands: readonly Command[]): void {
    const missing = missingIn(last?.commands ?? [], commands);
    if (missing.length > 0) take(missing);
  }

  function takeFrom(other: string): void {
    const commands = ours(undone.get(other));
    undone.delete(other);
    takeMissing(commands);
  }

  const shared: ClientStore = {
    async load() {
      const kept = (await store?.load()) ?? null;
      // Empty, so that the tab that leads has something to write what others ask for with.
      const device = `d${random().toString(36).slice(2)}`;
      return kept ?? { device, user: null, epoch: null, syncVersion: 0, rows: new Map(), commands: [] };
    },
    save(kept) {
      last = kept;
      handler.kept(kept);
      takeLeft();
      write();
    },
    adopts(given) {
      take = given;
    },
    clear() {
      left = null;
      undone.clear();
      store?.clear();
      handler.post({ to: null, say: 'forgotten' });
    },
    settled: async () => store?.settled(),
  };

  /** What another tab has written since is not known here. A failure is told by the write that follows. */
  const reload = async () => (await store?.load().catch(() => null)) ?? null;

  return {
    store: shared,
    reload,

    /** `isHeir`: it has not led from its beginning, when its client has loaded it all itself. */
    async elected(isHeir: boolean): Promise<void> {
      const kept = await reload();
      if (!handler.leads()) return;
      mayWrite = true;
      if (isHeir) left = kept;
      takeLeft();
      write();
    },

    deposed(): void {
      mayWrite = false;
      undone.clear();
      told = NOTHING_TOLD;
    },

    /** Another tab leads, which knows only what is in the store. */
    tellAgain(): void {
      told = NOTHING_TOLD;
      write();
    },

    /** This tab may be gone in a moment. */
    leave: () => handler.leads() || last === null || tell(last, true),

    /** From a tab that follows. */
    heard(said: Undone): void {
      if (!handler.leads()) return;
      const { tab: other, isGone } = said;
      undone.delete(other);
      if (said.undone.length > 0) undone.set(other, said);
      const [oldest] = undone.keys();
      if (isGone) takeFrom(other);
      else if (oldest !== undefined && undone.size > TABS_MAX) takeFrom(oldest);
      write();
    },
  };
}

/** A tab that follows has loaded what was in the store, and says it again: many tabs would make ever more of it. */
function missingIn(known: readonly Command[], commands: readonly Command[]): readonly Command[] {
  if (known.length === 0 || commands.length === 0) return commands;
  const said = new Set(known.map((command) => JSON.stringify(command)));
  return commands.filter((command) => !said.has(JSON.stringify(command)));
}
