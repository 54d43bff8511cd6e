import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ServerFrame } from '../../../protocol/index.ts';
import { buildUserState, headOf } from '../../../src/core/user-state.ts';
import { PushedChange } from '../../../src/gateway/pushed-change.ts';
import type { Change } from '../../../src/ports.ts';
import { heldRow } from '../../support/held-rows.ts';
import { Line } from '../../support/outbound-line.ts';

/**
 * Any history of one user's state, any fate of its pushes (late, lost, doubled, in another order), any pace of the reader, with syncs,
 * answers to commands and heartbeats in between: the device never has to ask for a repair, every command is answered once and after its
 * effect, and in the end the device shows what the state holds.
 */
type Step =
  | {
      readonly do: 'change';
      readonly convs: readonly number[];
      readonly fate: 'push' | 'hold' | 'lose' | 'double';
      readonly acked: boolean;
    }
  | { readonly do: 'leave'; readonly conv: number }
  | { readonly do: 'rebuild'; readonly told: boolean }
  | { readonly do: 'release' | 'read' | 'stand' | 'sync' | 'beat' | 'turn' | 'compare' };

const conv = fc.integer({ min: 0, max: 11 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('change' as const),
      convs: fc.uniqueArray(conv, { minLength: 1, maxLength: 4 }),
      fate: fc.constantFrom('push', 'push', 'push', 'hold', 'lose', 'double'),
      acked: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('leave' as const), conv }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('rebuild' as const), told: fc.boolean() }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom('release', 'read', 'stand', 'sync', 'beat', 'turn', 'compare') }),
  },
);

test('[SY1][SY3][SY4][SY5][SY7][SY10] whatever happens to the pushes, the device ends where the state does', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 5 }),
      fc.boolean(),
      run,
    ),
    { numRuns: 150 },
  );
});

async function run(steps: readonly Step[], pageRowsMax: number, takesAtOnce: boolean): Promise<void> {
  const line = new Line(
    Array.from({ length: 8 }, (_, n) => heldRow(`c${n}`, { activity: n })),
    pageRowsMax,
  );
  line.stream.takesAtOnce = takesAtOnce;
  const held: Change[] = [];
  let epochs = 1;
  let acks = 0;
  let unread = 1;
  line.hello();
  const push = (change: Change): void => void line.outbound.offer(new PushedChange(change));

  async function take(one: Step): Promise<void> {
    switch (one.do) {
      case 'change': {
        unread++;
        const change = line.change(Object.fromEntries(one.convs.map((n) => [`c${n}`, unread + n])));
        if (one.fate === 'hold') held.push(change);
        else if (one.fate !== 'lose') push(change);
        if (one.fate === 'double') push(change);
        if (one.acked) line.ack(++acks, [], change, 1);
        return;
      }
      case 'leave':
        return line.state.rows.get(`c${one.conv}`)?.member === true ? push(line.leave(`c${one.conv}`)) : undefined;
      case 'rebuild': {
        line.state = buildUserState(
          'u1',
          `epoch${++epochs}`,
          [...line.state.rows.values()].filter(({ member }) => member),
        );
        const head = headOf(line.state);
        if (one.told) push({ ...head, user: 'u1', baseVersion: head.syncVersion, op: 'merged', rows: [] });
        return;
      }
      case 'release':
        return held.splice(0).toReversed().forEach(push);
      case 'read':
        return line.stream.read();
      case 'stand':
        line.stream.isReading = false;
        return;
      case 'sync': {
        // A device asks only where it stands, and not before it has been told.
        if (line.device.isSettled) line.outbound.ask({ kind: 'sync', ...line.device.sync(), askedAtMs: 0 });
        return;
      }
      case 'beat':
        return line.outbound.beat(1);
      case 'compare':
        return line.outbound.compare(headOf(line.state));
      case 'turn':
        return arriveSome(line);
    }
  }

  for (const one of steps) await take(one);
  held.splice(0).forEach(push);
  line.stream.read();
  await line.arrive();
  line.outbound.compare(headOf(line.state));
  await line.arrive();
  await line.clock.pass(1000);
  await line.arrive();
  line.mustBeSettled();
  const answered = line.log.flatMap((frame) => (frame.t === 'acked' ? [frame.id] : []));
  expect(answered).toEqual(Array.from({ length: acks }, (_, i) => i + 1));
  mustFollow(line.log);
}

async function arriveSome(line: Line): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
  const frames = line.stream.frames();
  line.device.take(...frames);
  line.log.push(...frames);
}

/** [SY4] Every delta starts where the frame before it ended, and no frame is ahead of the deltas. */
function mustFollow(log: readonly ServerFrame[]): void {
  let at = { epoch: '', version: 0, asked: 0 };
  for (const frame of log) {
    if (frame.t === 'welcome' || frame.t === 'synced') {
      // A catch-up starts at the cursor of the asker, which may be behind what was under way.
      at = {
        epoch: frame.epoch,
        version: frame.mode === 'delta' ? at.version : frame.sync_version,
        asked: frame.sync_version,
      };
    } else if (frame.t === 'delta') {
      expect([frame.epoch, frame.base_version <= at.version]).toEqual([at.epoch, true]);
      at = { ...at, version: frame.sync_version };
    } else if (frame.t === 'hb') expect([frame.epoch, frame.sync_version]).toEqual([at.epoch, at.version]);
    else if (frame.t === 'acked') expect(frame.sync_version).toBe(at.version);
  }
}
