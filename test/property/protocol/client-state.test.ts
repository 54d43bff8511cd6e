import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  formatDigest,
  initialState,
  isListed,
  reconnect,
  reduce,
  requestSync,
  sumsOf,
} from '../../../protocol/index.ts';
import type { ClientState, Row, ServerFrame, Sync, SyncCause } from '../../../protocol/index.ts';
import { heldRows, ModelServer, sumFields } from './model-server.ts';

const anyChange = fc.record(
  {
    conv: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    unread: fc.nat(5),
    gone: fc.boolean(),
    muted: fc.boolean(),
    hidden: fc.boolean(),
  },
  { requiredKeys: ['conv', 'unread'] },
);
const anyStep = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('change' as const),
      rows: fc.array(anyChange, { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('deliver' as const), frames: fc.integer({ min: 1, max: 4 }) }) },
  {
    weight: 9,
    arbitrary: fc.record({ do: fc.constantFrom('push' as const, 'page' as const, 'beat' as const, 'serve' as const) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('foreground' as const, 'cut' as const, 'rebuild' as const) }),
  },
);
const anyFault = fc.record({
  do: fc.constantFrom('drop' as const, 'duplicate' as const, 'swap' as const),
  at: fc.nat(20),
});

/** A device, a server and the line between them; what the server sends waits on the line until it is delivered. */
class World {
  readonly server: ModelServer;
  state: ClientState = initialState();
  readonly causes: SyncCause[] = [];
  #line: ServerFrame[] = [];
  #asked: Sync[] = [];

  constructor(pageRows: number) {
    this.server = new ModelServer(pageRows);
  }

  connect(): void {
    this.server.disconnect();
    this.#asked = [];
    const { state, hello } = reconnect(this.state);
    this.state = state;
    this.#line = this.server.hello(hello);
  }

  step(step: { do: string; rows?: Parameters<ModelServer['change']>[0]; frames?: number; at?: number }): void {
    const at = this.#line.length === 0 ? 0 : (step.at ?? 0) % this.#line.length;
    const frame = this.#line[at];
    if (step.do === 'change') this.server.change(step.rows ?? []);
    else if (step.do === 'push') this.#line.push(...this.server.push());
    else if (step.do === 'page') this.#line.push(...this.server.page());
    else if (step.do === 'beat') this.#line.push(...this.server.beat());
    else if (step.do === 'rebuild') this.#line.push(...this.server.rebuild());
    else if (step.do === 'foreground') this.#ask();
    else if (step.do === 'serve') this.#serve();
    else if (step.do === 'cut') this.connect();
    else if (step.do === 'deliver') for (let i = 0; i < (step.frames ?? 1); i++) this.#deliver();
    else if (step.do === 'drop') this.#line.splice(at, 1);
    else if (step.do === 'duplicate' && frame !== undefined) this.#line.splice(at, 0, frame);
    else if (step.do === 'swap' && frame !== undefined) this.#line.splice(at + 1, 0, ...this.#line.splice(at, 1));
  }

  /** The line is good from here on: everything is answered and delivered, a few heartbeats pass. */
  calm(): void {
    for (let beats = 0; beats < 12; beats++) {
      for (let more = true; more;) {
        this.#serve();
        this.#line.push(...this.server.page());
        more = this.#line.length > 0;
        while (this.#line.length > 0) this.#deliver();
        more ||= this.#asked.length > 0;
      }
      this.#line.push(...this.server.beat());
    }
    while (this.#line.length > 0) this.#deliver();
  }

  #deliver(): void {
    const frame = this.#line.shift();
    if (frame === undefined) return;
    const { state, actions } = reduce(this.state, frame);
    this.state = state;
    this.causes.push(...actions.map(({ cause }) => cause));
    if (actions.length > 0) this.#ask();
  }

  #ask(): void {
    const { state, frame } = requestSync(this.state);
    this.state = state;
    this.#asked.push(frame);
  }

  #serve(): void {
    for (const { cursor, digest } of this.#asked.splice(0)) this.#line.push(...this.server.sync(cursor, digest));
  }
}

test('[SY3][SY4][SY6] on a good line every frame fits: the device never has to ask', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3 }), fc.array(anyStep, { maxLength: 60 }), (pageRows, steps) => {
      const world = new World(pageRows);
      world.connect();
      for (const step of steps) {
        world.step(step);
        expectRight(world);
      }
      world.calm();
      // Heartbeats that piled up on the line may make it ask a second time for an answer that is still on its way.
      expect(world.causes.filter((cause) => cause !== 'stalled')).toEqual([]);
      expectEqual(world);
    }),
    { numRuns: 400 },
  );
});

test('[SY3][SY4][SY7] whatever is lost, doubled or swapped, the device is right or asks, and is right in the end', () => {
  const steps = fc.array(fc.oneof({ weight: 4, arbitrary: anyStep }, { weight: 1, arbitrary: anyFault }), {
    maxLength: 80,
  });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3 }), steps, (pageRows, list) => {
      const world = new World(pageRows);
      world.connect();
      for (const step of list) {
        world.step(step);
        expectRight(world);
      }
      world.calm();
      expectEqual(world);
    }),
    { numRuns: 1000 },
  );
});

test('[SY7][CD5] a server that sends any frames at all is asked without haste, and the own sums stay those of the rows', () => {
  const version = fc.nat(6);
  const anySums = { total: fc.nat(9), badge: fc.nat(9), mentions: fc.nat(3), digest: fc.constant('000000000000') };
  const epoch = fc.constantFrom('e0', 'e1');
  const anyRow = fc.record(
    { conv: fc.constantFrom('a', 'b', 'c'), version, unread: fc.nat(9), mentions: fc.nat(3), gone: fc.boolean() },
    { requiredKeys: ['conv', 'version', 'unread', 'mentions'] },
  );
  const rows = fc.array(
    anyRow.map((row) => ({ ...row, read_seq: 0, read_epoch: 0, head_seq: row.unread })),
    { maxLength: 3 },
  );
  const anyFrame: fc.Arbitrary<ServerFrame> = fc.oneof(
    fc.record({
      t: fc.constant('synced' as const),
      epoch,
      sync_version: version,
      mode: fc.constantFrom('noop' as const, 'delta' as const, 'snapshot' as const),
      expires_at: fc.constant(1),
      ...anySums,
    }),
    fc.record({
      t: fc.constant('snapshot' as const),
      epoch,
      sync_version: version,
      page: fc.integer({ min: 1, max: 3 }),
      rows,
      end: fc.boolean(),
      ...anySums,
    }),
    fc.record({
      t: fc.constant('delta' as const),
      epoch,
      base_version: version,
      sync_version: version,
      rows,
      op: fc.constant('merged' as const),
      ...anySums,
    }),
    fc.record({
      t: fc.constant('hb' as const),
      epoch,
      sync_version: version,
      total: fc.nat(9),
      digest: anySums.digest,
    }),
  );
  fc.assert(
    fc.property(fc.array(anyFrame, { maxLength: 40 }), (frames) => {
      let state = initialState();
      for (const frame of frames) {
        const asked = state.repairs;
        const step = reduce(state, frame);
        const slow = step.actions.every(({ delayMs }) => (delayMs === 0) === (asked === 0 || step.state.repairs === 1));
        expect(slow).toBe(true);
        state = step.state.sync === 'wanted' ? requestSync(step.state).state : step.state;
        expect(state.own).toEqual(sumsOf(state.rows.values()));
        expect([...state.rows.values()].filter(({ gone }) => gone === true)).toEqual([]);
      }
    }),
    { numRuns: 1000 },
  );
});

/** The list that is shown is exactly what the server had at that version, or the device has asked and not yet found the sums equal. */
function expectRight({ state, server }: World): void {
  const version = server.at(state.epoch ?? '', state.syncVersion);
  const right =
    version !== undefined &&
    isDeepStrictEqual(rowsOf(state).filter(isListed), heldRows(version).filter(isListed)) &&
    isDeepStrictEqual(sumsShown(state), sumFields(version));
  expect(right || state.repairs > 0 || state.sync === 'asked' || state.epoch === null).toBe(true);
}

function expectEqual({ state, server }: World): void {
  expect(state).toMatchObject({ epoch: server.now.epoch, syncVersion: server.now.syncVersion, sync: 'idle' });
  expect(state).toMatchObject({ catchup: null, snapshot: null });
  expect(rowsOf(state)).toEqual(heldRows(server.now));
  expect(sumsShown(state)).toEqual(sumFields(server.now));
}

function sumsShown({ total, badge, mentions, own }: ClientState): ReturnType<typeof sumFields> {
  return { total, badge, mentions, digest: formatDigest(own.digest) };
}

function rowsOf(state: ClientState): Row[] {
  return [...state.rows.values()].sort((a, b) => (a.conv < b.conv ? -1 : 1));
}
