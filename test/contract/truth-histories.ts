import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Event } from '../../protocol/index.ts';
import { ackRequest, draftAcks } from '../../src/core/commands/acks.ts';
import { draftClear, planAway } from '../../src/core/commands/clear.ts';
import { type CommandDraft, commandRequest, settle } from '../../src/core/commands/command.ts';
import { draftMark } from '../../src/core/commands/mark.ts';
import { draftPrefs } from '../../src/core/commands/prefs.ts';
import { floorOf, mentionsOf, unreadOf } from '../../src/core/counting.ts';
import { fingerprintText } from '../../src/core/ingest/fingerprint.ts';
import { planIngest } from '../../src/core/ingest/plan.ts';
import { ingestDetailsRequest, ingestRequest } from '../../src/core/ingest/request.ts';
import { deriveRow } from '../../src/core/row.ts';
import type { RowFacts } from '../../src/core/facts.ts';
import type { Truth, TruthTransaction } from '../../src/ports.ts';
import { CoreRun } from '../support/core-run.ts';
import { freshName } from '../support/fresh-name.ts';
import { type Command, CONVS, histories, type Step, USERS } from '../support/histories.ts';

const GROUP_THRESHOLD = 3;

export function truthHistories(truth: () => Truth): void {
  test('[CN1][CN2][CN9] random histories end at the same rows as on facts in memory, and as counting by message rows', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        const prefix = `${freshName('history')}/`;
        const steps = history.map((step) => renamed(step, prefix));
        const memory = new CoreRun();
        const activity = counter();
        for (const step of steps) {
          playInMemory(memory, step);
          await truth().transact(async (tx) => play(tx, step, activity));
        }
        const pairs = USERS.flatMap((user) => CONVS.map((conv) => ({ conv: prefix + conv, user })));
        const known = pairs.filter(({ conv, user }) => memory.row(user, conv) !== null);
        const rows = await truth().rows(known);
        expect(rows.map((facts) => deriveRow(facts, GROUP_THRESHOLD))).toEqual(
          known.map(({ conv, user }) => memory.row(user, conv)),
        );
        for (const facts of rows) await expectCounted(truth(), facts);
        for (const conv of CONVS.map((one) => prefix + one)) await expectHead(truth(), conv);
      }),
      { numRuns: 60 },
    );
  });
}

async function expectCounted(truth: Truth, facts: RowFacts): Promise<void> {
  const { unread, mentions } = await truth.countMessages(facts.membership, floorOf(facts).seq);
  expect({ unread, mentions }).toEqual({ unread: unreadOf(facts), mentions: mentionsOf(facts) });
}

async function expectHead(truth: Truth, conv: string): Promise<void> {
  const head = (await truth.heads([conv])).get(conv);
  const { unread, leftOut } = await truth.countMessages({ conv, user: 'nobody' }, 0);
  expect(head?.countable ?? 0).toBe(unread + leftOut.recalled);
}

/** In a store that is shared, every history has conversations and event ids of its own. */
function renamed(step: Step, prefix: string): Step {
  const conv = (name: string): string => prefix + name;
  switch (step.kind) {
    case 'events':
      return { ...step, events: step.events.map((event) => renamedEvent(event, prefix)) };
    case 'acks':
      return { ...step, acks: step.acks.map(({ user, item }) => ({ user, item: { ...item, conv: conv(item.conv) } })) };
    default:
      return { ...step, conv: conv(step.conv) };
  }
}

function renamedEvent(event: Event, prefix: string): Event {
  const named = { ...event, conv: prefix + event.conv };
  return event.event_id === undefined ? named : { ...named, event_id: prefix + event.event_id };
}

function playInMemory(run: CoreRun, step: Step): void {
  if (step.kind === 'events') run.post(...step.events);
  else if (step.kind === 'acks') run.acks(step.acks);
  else run[step.kind](step);
}

/** One transaction, in the steps in which the services do it. */
async function play(tx: TruthTransaction, step: Step, nextActivity: () => number): Promise<void> {
  if (step.kind !== 'events') return carryOut(tx, step);
  const { events } = step;
  const facts = await tx.load(ingestRequest(events));
  const request = ingestDetailsRequest(events, facts);
  const details = request && (await tx.load(request));
  const fingerprints = events.map(fingerprintText);
  await tx.store(planIngest({ events, fingerprints, facts, details, nowMs: 1_700_000_000_000, nextActivity }).writes);
}

async function carryOut(tx: TruthTransaction, command: Command): Promise<void> {
  if (command.kind === 'acks') return finish(tx, draftAcks(command.acks, await tx.load(ackRequest(command.acks))));
  const facts = await tx.load(commandRequest([command]));
  if (command.kind === 'mark') return finish(tx, draftMark(command, facts));
  if (command.kind === 'prefs') return finish(tx, draftPrefs(command, facts));
  const [row] = await tx.rows([command]);
  if (row === undefined) return;
  const draft = draftClear(command, facts, row);
  await finish(tx, draft);
  const [cleared] = await tx.rows([command]);
  if (cleared !== undefined) await tx.store({ memberships: planAway(draft, cleared).memberships });
}

async function finish(tx: TruthTransaction, draft: CommandDraft): Promise<void> {
  const places = draft.places && (await tx.load(draft.places));
  await tx.store({ memberships: settle(draft, places).memberships });
}

function counter(): () => number {
  let last = 0;
  return () => ++last;
}
