import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EventResult } from '../../../protocol/index.ts';
import type { StateCall } from '../../../src/core/change-set.ts';
import { fingerprintText } from '../../../src/core/ingest/fingerprint.ts';
import type { IngestPlan } from '../../../src/core/ingest/plan.ts';
import type { DerivedRow } from '../../../src/core/row.ts';
import { buildUserState, offer, recount, type UserState } from '../../../src/core/user-state.ts';
import { CoreRun } from '../../support/core-run.ts';
import { type Command, CONVS, histories, type Step, USERS } from '../../support/histories.ts';
import { Model, type ModelResult, type ModelRow, NO_ROW } from '../../support/model.ts';

/** `HISTORIES=20000` plays more of them. */
const RUNS = Number(process.env['HISTORIES'] ?? 400);

test('[CN1][CN2][CN4][CN5][CN6][CN7][CN9][LC1][LC2][LC3][LC4][LC6][OR2][OR3][AK1][AK2][AK7][DT2][DT3][DT4] random histories: rules over ordinals = counting by definition', () => {
  fc.assert(
    fc.property(histories, (steps) => {
      const run = new CoreRun();
      const model = new Model();
      for (const step of steps) {
        expect(play(run, step)).toEqual(playModel(model, step));
        for (const [user, conv] of PAIRS) expect(shown(run.row(user, conv))).toEqual(model.row(user, conv));
      }
    }),
    { numRuns: RUNS },
  );
});

test('[SY9][CN9] random histories: revs rise by one where something changed, and only there', () => {
  fc.assert(
    fc.property(histories, (steps) => {
      const run = new CoreRun();
      for (const step of steps) {
        const before = revsOf(run);
        const { convs, pairs } = changedBy(run, step);
        const after = revsOf(run);
        const rose = [...after].filter(([name, rev]) => rev !== (before.get(name) ?? 0));
        expect(new Set(rose.map(([name]) => name))).toEqual(new Set([...convs, ...pairs]));
        for (const [name, rev] of rose) expect(rev).toBe((before.get(name) ?? 0) + 1);
      }
    }),
    { numRuns: RUNS },
  );
});

test('[OR2][CN6][CN9][DT3][DT8] random histories: what was accepted is known when it is sent again, and changes nothing', () => {
  fc.assert(
    fc.property(histories, (steps) => {
      const run = new CoreRun();
      steps.forEach((step, n) => {
        if (step.kind !== 'events') return void command(run, step);
        const events = step.events.map((event, i) => ({ event_id: `${n}-${i}`, ...event }));
        const { results } = run.post(...events);
        const accepted = events.filter((_, i) => results[i]?.ok);
        const stored = run.base.dump();
        const again = run.post(...accepted);
        expect(again.results.map(shorten)).toEqual(results.filter(({ ok }) => ok).map(asDuplicate));
        // Messages and recalls have a name of their own to be known by.
        const bare = accepted
          .filter(({ type }) => type === 'message.created' || type === 'message.recalled')
          .map((event) => ({ ...event, event_id: undefined }));
        expect([...again.changes, ...run.post(...bare).changes]).toEqual([]);
        expect(run.base.dump()).toBe(stored);
      });
    }),
    { numRuns: RUNS },
  );
});

test('[SY1][SY3][SY9] random histories: states fed with parts and touched rows alone end at the rows of truth', () => {
  fc.assert(
    fc.property(histories, (steps) => {
      const run = new CoreRun();
      const model = new Model();
      const states = new Map(USERS.map((user) => [user as string, buildUserState(user, 'epoch', [])]));
      for (const step of steps) {
        if (step.kind === 'events') {
          for (const event of step.events) model.post(event, fingerprintText(event));
          fanOut(run, model, states, run.post(...step.events));
        } else {
          modelled(model, step);
          for (const { conv, user } of changedPairs(run, step)) give(states.get(user), rowsOf(run, user, conv), []);
        }
        for (const [user, conv] of PAIRS) {
          expect(visible(states.get(user)?.rows.get(conv))).toEqual(visible(run.row(user, conv)));
        }
      }
      for (const state of states.values()) expect(recount(state)).toEqual(state.sums);
    }),
    { numRuns: RUNS },
  );
});

// ------------------------------------------------------------------------------------------------------------ the two sides

const PAIRS = USERS.flatMap((user) => CONVS.map((conv): [string, string] => [user, conv]));

/** The results of events, or the statuses of commands. */
function play(run: CoreRun, step: Step): unknown {
  return step.kind === 'events' ? run.post(...step.events).results.map(shorten) : command(run, step);
}

function playModel(model: Model, step: Step): unknown {
  if (step.kind !== 'events') return modelled(model, step);
  return step.events.map((event) => model.post(event, fingerprintText(event)));
}

function shorten(result: EventResult): ModelResult {
  if (!result.ok) return result.error.code;
  const { ok: _, ...rest } = result;
  return rest;
}

function asDuplicate(result: EventResult): ModelResult {
  return result.ok && result.seq !== undefined ? { seq: result.seq, duplicate: true } : { duplicate: true };
}

function shown(row: DerivedRow | null): ModelRow {
  if (row === null || !row.member) return NO_ROW;
  const { member, unread, mentions, readSeq, readEpoch, floorSeq, headSeq, muted, marked, hidden, away } = row;
  return { member, unread, mentions, readSeq, readEpoch, floorSeq, headSeq, muted, marked, hidden, away };
}

function command(run: CoreRun, step: Command): unknown {
  switch (step.kind) {
    case 'acks':
      return run.acks(step.acks).outcomes.map(({ status }) => status);
    case 'mark':
      return run.mark(step).outcomes[0]?.status;
    case 'prefs':
      return run.prefs(step).outcomes[0]?.status === 'unknown' ? 'unknown' : 'known';
    case 'clear':
      return run.clear(step).outcomes[0]?.status;
  }
}

function modelled(model: Model, step: Command): unknown {
  switch (step.kind) {
    case 'acks':
      return step.acks.map(({ user, item }) =>
        model.ack(user, item.conv, item.seq ?? item.message_id ?? '', item.read_epoch),
      );
    case 'mark':
      return model.mark(step.user, step.conv, step.fromSeq, step.readEpoch);
    case 'prefs':
      return model.prefs(step.user, step.conv, step);
    case 'clear':
      return model.clear(step.user, step.conv, step.upToSeq);
  }
}

// --------------------------------------------------------------------------------------------------------------------- revs

function revsOf(run: CoreRun): Map<string, number> {
  const revs = CONVS.map((conv): [string, number] => [conv, run.base.conversation(conv)?.rev ?? 0]);
  return new Map([
    ...revs,
    ...PAIRS.map(([user, conv]): [string, number] => [`${user} ${conv}`, run.base.membership(conv, user)?.rev ?? 0]),
  ]);
}

function changedBy(run: CoreRun, step: Step): { convs: string[]; pairs: string[] } {
  if (step.kind !== 'events') {
    return { convs: [], pairs: changedPairs(run, step).map(({ user, conv }) => `${user} ${conv}`) };
  }
  const { changes } = run.post(...step.events);
  return {
    convs: changes.map(({ conv }) => conv),
    pairs: changes.flatMap(({ conv, touched }) => touched.map((user) => `${user} ${conv}`)),
  };
}

function changedPairs(run: CoreRun, step: Command) {
  switch (step.kind) {
    case 'acks':
      return run.acks(step.acks).changed;
    case 'mark':
      return run.mark(step).changed;
    case 'prefs':
      return run.prefs(step).changed;
    case 'clear':
      return run.clear(step).changed;
  }
}

// ------------------------------------------------------------------------------------------------------------------- states

/** As the fan-out does it for a small conversation. */
function fanOut(run: CoreRun, model: Model, states: Map<string, UserState>, { changes }: IngestPlan): void {
  for (const { conv, part, touched } of changes) {
    for (const user of new Set([...model.members(conv), ...touched])) {
      const derived = part === null || touched.includes(user);
      give(states.get(user), derived ? rowsOf(run, user, conv) : [], derived ? [] : [part]);
    }
  }
}

function rowsOf(run: CoreRun, user: string, conv: string): DerivedRow[] {
  const row = run.row(user, conv);
  return row === null ? [] : [row];
}

function give(state: UserState | undefined, rows: StateCall['rows'], parts: StateCall['parts']): void {
  if (state === undefined) return;
  expect(offer(state, { user: state.user, op: 'merged', rows, parts }).derive).toEqual([]);
}

/** What the state has to know of a row; of one that is gone, nothing else. `large` is brought up to date when the threshold is crossed. */
function visible(row: DerivedRow | null | undefined) {
  if (!row || !row.member) return 'gone';
  const { memberRev, convRev, othersEver } = row;
  return { ...shown(row), memberRev, convRev, othersEver };
}
