import { expect, test } from 'vitest';
import type { InspectedRow } from '../../../protocol/http.ts';
import { openServiceBench, type ServiceBench } from '../../support/service-bench.ts';

async function opened(): Promise<ServiceBench> {
  const bench = openServiceBench();
  await bench.accept({ type: 'conversation.created', conv: 'a', members: ['ann', 'bob'] });
  await bench.accept({ type: 'conversation.created', conv: 'b', members: ['ann', 'bob'] });
  await bench.say('a', 'bob', ['m1', 'm2']);
  await bench.say('b', 'bob', ['m3']);
  return bench;
}

/** Writes over a row of the state, its sums with it. */
async function spoil({ services, state }: ServiceBench, conv: string, with_: { unread: number }): Promise<void> {
  const { rows, ...repairAt } = await services.sync.view('ann');
  const row = rows.find((one) => one.conv === conv);
  if (row === undefined) throw new Error(`there is no row of ${conv}`);
  await state.apply([{ user: 'ann', op: 'merged', parts: [], rows: [{ ...row, ...with_ }], repairAt }]);
}

function verdictsOf(rows: readonly InspectedRow[]): string[] {
  return rows.map(({ conv, verdict, differ }) => `${conv} ${verdict} ${differ.join(' ')}`.trim());
}

test('looking builds nothing; what is not held is said so', async () => {
  const bench = await opened();
  const { state, truth, verdicts, rows } = await bench.services.inspect.inspect('ann', 200);
  expect(state).toBeNull();
  expect(truth).toMatchObject({ total: 3, badge: 3, mentions: 0, rows: 2 });
  expect(verdicts).toEqual({ same: 2, behind: 0, ahead: 0, wrong: 0 });
  expect(rows.map(({ conv, state: held }) => [conv, held])).toEqual([
    ['b', null],
    ['a', null],
  ]);
  expect(await bench.state.read('ann')).toBeNull();
  expect(await bench.services.inspect.inspect('nobody', 200)).toMatchObject({
    truth: { rows: 0 },
    state: null,
    rows: [],
  });
});

test('[CN1][CN3] truth and state that agree do so in every sum and row', async () => {
  const bench = await opened();
  const { epoch, syncVersion, total, badge, mentions, digest } = await bench.services.sync.view('ann');
  const sums = { total, badge, mentions, digest };
  const { truth, state, rows } = await bench.services.inspect.inspect('ann', 200);
  expect(truth).toEqual({ ...sums, rows: 2 });
  expect(state).toEqual({ ...sums, rows: 2, epoch, sync_version: syncVersion, of_rows: sums });
  expect(verdictsOf(rows)).toEqual(['b same', 'a same']);
  for (const row of rows) expect(row.state).toEqual({ ...row.truth, version: 1 });
});

test('[CN1] a wrong row comes first, with the fields that differ; one that lags is behind, and one without facts is wrong', async () => {
  const bench = await opened();
  await spoil(bench, 'a', { unread: 41 });
  const one = await bench.services.inspect.inspect('ann', 200);
  expect(verdictsOf(one.rows)).toEqual(['a wrong unread', 'b same']);
  expect(one.verdicts).toEqual({ same: 1, behind: 0, ahead: 0, wrong: 1 });
  expect([one.truth.total, one.state?.total, one.state?.of_rows.total]).toEqual([3, 42, 42]);

  bench.state.losing = true;
  await bench.say('b', 'bob', ['m4']);
  bench.state.losing = false;
  const two = await bench.services.inspect.inspect('ann', 200);
  expect(verdictsOf(two.rows)).toEqual(['b behind conv_rev unread head_seq', 'a wrong unread']);

  const { rows } = await bench.services.sync.view('ann');
  await bench.state.apply([{ user: 'ann', op: 'merged', parts: [], rows: [{ ...rows[0]!, conv: 'ghost' }] }]);
  const three = await bench.services.inspect.inspect('ann', 200);
  expect(three.rows.find(({ conv }) => conv === 'ghost')).toMatchObject({ verdict: 'wrong', truth: null });

  await bench.services.reconcile.run({ users: ['ann'], repair: true });
  const mended = await bench.services.inspect.inspect('ann', 200);
  expect(mended.verdicts).toEqual({ same: 2, behind: 0, ahead: 0, wrong: 0 });
  expect([mended.state?.total, mended.state?.of_rows.total]).toEqual([4, 4]);
});

test('a row that knows more than truth is ahead, which no repair may undo', async () => {
  const bench = await opened();
  const { rows } = await bench.services.sync.view('ann');
  await bench.state.apply([{ user: 'ann', op: 'merged', parts: [], rows: [{ ...rows[0]!, convRev: 99, unread: 7 }] }]);
  const { verdicts } = await bench.services.inspect.inspect('ann', 200);
  expect(verdicts).toEqual({ same: 1, behind: 0, ahead: 1, wrong: 0 });
});

test('the answer has an end: rows that differ, and so many of the newest', async () => {
  const bench = await opened();
  for (let i = 0; i < 5; i++) await bench.say(`c${i}`, 'bob', [`x${i}`], { members: ['ann', 'bob'] });
  await spoil(bench, 'a', { unread: 41 });
  const { rows, left_out } = await bench.services.inspect.inspect('ann', 2);
  expect(verdictsOf(rows)).toEqual(['a wrong unread', 'c4 same', 'c3 same']);
  expect(left_out).toBe(4);
});

test('of a state that is wrong all over so many rows are shown', async () => {
  const bench = openServiceBench();
  const convs = Array.from({ length: 1010 }, (_, i) => `c${i}`);
  for (let i = 0; i < convs.length; i += 500) {
    const part = convs.slice(i, i + 500);
    await bench.accept(...part.map((conv) => ({ type: 'conversation.created', conv, members: ['ann'] })));
  }
  const { rows, ...repairAt } = await bench.services.sync.view('ann');
  const wrong = rows.map((row) => ({ ...row, unread: row.unread + 1 }));
  await bench.state.apply([{ user: 'ann', op: 'merged', parts: [], rows: wrong, repairAt }]);
  const answer = await bench.services.inspect.inspect('ann', 1000);
  expect([answer.rows.length, answer.left_out, answer.verdicts.wrong]).toEqual([1000, 10, 1010]);
});
