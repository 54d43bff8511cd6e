import { expect } from 'vitest';
import type { ConversationPart, PlainMessage, StateCall } from '../../src/core/change-set.ts';
import { listingOf } from '../../src/core/row.ts';
import type { DerivedRow } from '../../src/core/row.ts';
import { buildUserState, headOf } from '../../src/core/user-state.ts';
import type { StateAnswer, StateStore, StateView } from '../../src/ports.ts';
import { plainRow } from '../support/truth-model.ts';
import type { StateUnderTest } from './state.ts';

/** Longer than any test takes. */
export const NEVER_MS = 3_600_000;

export function message(fields: Partial<PlainMessage> = {}): PlainMessage {
  return { seq: 1, sender: 'other', counts: true, mentionAll: false, mentions: [], ...fields };
}

/** One countable message of somebody else, from rev 1 to rev 2. */
export function part(fields: Partial<ConversationPart> = {}): ConversationPart {
  const place = { fromRev: 1, toRev: 2, headSeq: 1, activity: 2 };
  return { conv: 'c', ...place, messages: [message()], ...fields };
}

/** Builds the state as the services do, with nothing happening meanwhile. */
export async function build(
  state: StateStore,
  user: string,
  epoch: string,
  rows: readonly DerivedRow[],
): Promise<void> {
  const token = `token of ${epoch}`;
  expect(await state.beginBuild(user, token, NEVER_MS)).toBe(true);
  expect(await state.completeBuild(user, token, epoch, rows)).toEqual({ stored: true, dirty: [] });
}

/** A fresh user whose live state holds these rows. */
export async function live(under: StateUnderTest, ...rows: Parameters<typeof plainRow>[0][]): Promise<string> {
  const user = under.freshUser();
  await build(under.state, user, 'epoch-1', rows.map(plainRow));
  return user;
}

export async function offer(state: StateStore, user: string, call: Partial<StateCall>): Promise<StateAnswer> {
  const [answer] = await state.apply([{ user, op: 'message', rows: [], parts: [], ...call }]);
  return answer!;
}

/** The answer of a live state. */
export async function applied(state: StateStore, user: string, call: Partial<StateCall>) {
  const answer = await offer(state, user, call);
  if (answer.kind !== 'applied') throw new Error(`expected a live state, got ${answer.kind}`);
  return answer;
}

/** The view of a live state, with its rows in the order of their names, checked against itself: sums and digest are those of its rows. */
export async function viewOf(state: StateStore, user: string, sinceVersion?: number): Promise<StateView> {
  const view = await state.read(user, sinceVersion);
  if (!view) throw new Error('expected a live state, found none');
  const rows = view.rows.toSorted((a, b) => (a.conv < b.conv ? -1 : 1));
  const all = sinceVersion === undefined ? rows : (await viewOf(state, user)).rows;
  const { total, badge, mentions, digest } = headOf(buildUserState(user, view.epoch, all));
  expect(view).toMatchObject({ total, badge, mentions, digest });
  for (const row of all) expect(row.version > 0 || listingOf(row) === 'gone').toBe(true);
  return { ...view, rows };
}
