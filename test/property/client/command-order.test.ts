import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TidemarkClient } from '../../../client/index.ts';
import { ClientWorld } from '../../support/client-world.ts';
import { CountedTruth } from '../../support/counted-truth.ts';
import type { Fault } from '../../support/virtual-network.ts';

/**
 * One device, nobody else, a line that breaks all the time: the commands of the user end where the same commands end that
 * are carried out one by one. So none is lost, none is done twice with effect, and none overtakes another.
 */
const CONVS = ['c0', 'c1', 'c2'];
const MESSAGES = 8;
const RUNS = Number(process.env['TEST_CLIENT_RUNS'] ?? 200);

type Command = { conv: string } & (
  | { do: 'read'; upTo: number | undefined }
  | { do: 'unread'; fromSeq: number | undefined }
  | { do: 'mute' | 'hide'; flag: boolean }
  | { do: 'clear' | 'read all' }
);
type Step = { wait: number } | { fault: Fault | 'kill all' | 'offline' | 'unavailable' } | Command;

const conv = fc.constantFrom(...CONVS);
const seq = fc.option(fc.integer({ min: 1, max: MESSAGES }), { nil: undefined });
const is = <K extends Command['do']>(...kinds: K[]) => fc.constantFrom(...kinds);
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: is('read'), conv, upTo: seq }) },
  { weight: 4, arbitrary: fc.record({ do: is('unread'), conv, fromSeq: seq }) },
  { weight: 2, arbitrary: fc.record({ do: is('mute', 'hide'), conv, flag: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: is('clear', 'read all', 'read all'), conv }) },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: command },
  { weight: 3, arbitrary: fc.record({ wait: fc.integer({ min: 0, max: 40 }) }) },
  { weight: 1, arbitrary: fc.record({ wait: fc.integer({ min: 100, max: 20_000 }) }) },
  { weight: 3, arbitrary: fc.record({ fault: fc.constantFrom('drop', 'swap', 'kill all', 'offline', 'unavailable') }) },
);

function filled(truth: CountedTruth): void {
  for (const conv of CONVS) {
    truth.create(conv, ['u1', 'u2']);
    for (let i = 0; i < MESSAGES; i++) truth.post(conv, 'u2', { mentions: i % 3 === 0 ? ['u1'] : [] });
  }
}

function give(client: TidemarkClient, command: Command): void {
  const { conv } = command;
  switch (command.do) {
    case 'read':
      return client.markRead(conv, command.upTo === undefined ? {} : { upTo: command.upTo });
    case 'unread':
      return client.markUnread(conv, command.fromSeq === undefined ? {} : { fromSeq: command.fromSeq });
    case 'mute':
      return client.mute(conv, command.flag);
    case 'hide':
      return client.hide(conv, command.flag);
    case 'clear':
      return client.clear(conv);
    case 'read all':
      return client.markAllRead();
  }
}

function carryOut(truth: CountedTruth, command: Command): void {
  const { conv } = command;
  switch (command.do) {
    case 'read':
      return void truth.ack('u1', [{ conv, seq: command.upTo ?? truth.headOf(conv) }]);
    case 'unread':
      return void truth.mark('u1', conv, command.fromSeq, undefined);
    case 'mute':
      return void truth.prefs('u1', conv, command.flag, undefined);
    case 'hide':
      return void truth.prefs('u1', conv, undefined, command.flag);
    case 'clear':
      return void truth.clear('u1', conv, undefined);
    case 'read all':
      return void truth.readAll('u1', undefined, truth.state('u1').version);
  }
}

/** What the user sees. */
function meaning(truth: CountedTruth) {
  // Not the versions: over a broken line there may be more of them.
  const rows = truth.rowsOf('u1').map((row) => ({ ...row, version: 0 }));
  return rows.toSorted((a, b) => (a.conv < b.conv ? -1 : 1));
}

test('[AK4][AK7][AK8] what one device asks for over a broken line ends where it would end over a whole one', async () => {
  const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60, size: 'max' }), async (steps) => {
    const world = new ClientWorld({ server: { heartbeatMs: 5_000 } });
    const model = new CountedTruth(world.server.settings.unreadCap, { changed: () => {}, rebuilt: () => {} });
    for (const truth of [world.truth, model]) filled(truth);
    let fault: Fault = 'none';
    // What a line does not do, and a server might: lose a push. Answers come as long as the line stands.
    world.network.fault = ({ t }) => {
      if (t !== 'delta') return 'none';
      const now = fault;
      fault = 'none';
      return now;
    };
    const client = await world.live('u1');
    for (const one of steps) {
      if ('wait' in one) await world.clock.pass(one.wait);
      else if (!('fault' in one)) {
        if (client.get(one.conv) === undefined) continue;
        give(client, one);
        carryOut(model, one);
      } else if (one.fault === 'kill all') world.network.killAll();
      else if (one.fault === 'offline') world.network.down = !world.network.down;
      else if (one.fault === 'unavailable') {
        world.server.refuseWith = world.server.refuseWith === null ? { code: 'unavailable', retry_ms: 100 } : null;
      } else fault = one.fault;
    }
    world.network.down = false;
    world.server.refuseWith = null;
    await world.until(() => client.state === 'live' && client.pending().length === 0, 600_000);
    expect(meaning(world.truth)).toEqual(meaning(model));
    await client.close();
  });
  await fc.assert(property, { numRuns: RUNS });
});
