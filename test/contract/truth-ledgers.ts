import { describe, expect, test } from 'vitest';
import type { OutboxRow, Truth } from '../../src/ports.ts';
import { freshName } from '../support/fresh-name.ts';
import { store } from '../support/truth-facts.ts';

const HOUR_MS = 3_600_000;

/** Lists that grow with each transaction and are cut again: what the fan-out owes, and the event ids used. */
export function truthLedgers(truth: () => Truth): void {
  describe('outbox', () => {
    test('rows come back under the ids that were answered, oldest first, until they are done', async () => {
      const conv = freshName('conv');
      const ids = await store(truth(), {
        outbox: [
          { conv, user: null },
          { conv, user: 'ann' },
        ],
      });
      const [third] = await store(truth(), { outbox: [{ conv, user: 'bob' }] });
      expect(ids).toHaveLength(2);
      const rows = await ofConv(truth(), conv);
      expect(rows.map(({ id, user }) => [id, user])).toEqual([
        [ids[0], null],
        [ids[1], 'ann'],
        [third, 'bob'],
      ]);
      expect(Math.abs((rows[0]?.createdAtMs ?? 0) - Date.now())).toBeLessThan(HOUR_MS);

      await truth().outboxDone([ids[1]!]);
      expect((await ofConv(truth(), conv)).map(({ id }) => id)).toEqual([ids[0], third]);
      await truth().outboxDone([...ids, third!]);
      expect(await ofConv(truth(), conv)).toEqual([]);
    });

    test('only rows of the age asked for are handed out', async () => {
      const conv = freshName('conv');
      const ids = await store(truth(), { outbox: [{ conv, user: null }] });
      expect((await truth().outbox(HOUR_MS, 1000)).filter((row) => row.conv === conv)).toEqual([]);
      expect(await ofConv(truth(), conv)).toHaveLength(1);
      await truth().outboxDone(ids);
    });

    test('at most as many as asked for', async () => {
      const conv = freshName('conv');
      const ids = await store(truth(), { outbox: Array.from({ length: 5 }, () => ({ conv, user: null })) });
      expect(await truth().outbox(0, 2)).toHaveLength(2);
      await truth().outboxDone(ids);
    });

    test("an id is never given out twice, so done said twice takes nobody else's row away", async () => {
      const conv = freshName('conv');
      const first = await store(truth(), { outbox: [{ conv, user: null }] });
      await truth().outboxDone(first);
      const second = await store(truth(), { outbox: [{ conv, user: null }] });
      expect(second[0]).toBeGreaterThan(first[0]!);
      await truth().outboxDone(first);
      expect((await ofConv(truth(), conv)).map(({ id }) => id)).toEqual(second);
      await truth().outboxDone(second);
      await truth().outboxDone([]);
    });

    test('a transaction that fails owes nothing', async () => {
      const conv = freshName('conv');
      const attempt = truth().transact(async (tx) => {
        await tx.store({ outbox: [{ conv, user: null }] });
        throw new Error('taken back');
      });
      await expect(attempt).rejects.toThrow('taken back');
      expect(await ofConv(truth(), conv)).toEqual([]);
    });
  });

  describe('event ids', () => {
    test('those accepted before a moment are forgotten, so many at a time', async () => {
      const eventIds = Array.from({ length: 5 }, () => freshName('old-event'));
      const kept = freshName('event');
      // Far before whatever else the store holds.
      await store(truth(), {
        events: [
          ...eventIds.map((eventId, n) => ({ eventId, fingerprint: 'f', seq: 0, acceptedAt: 10 + n })),
          { eventId: kept, fingerprint: 'f', seq: 0, acceptedAt: Date.now() },
        ],
      });
      expect(await truth().trimEvents(14, 3)).toBe(3);
      expect(await truth().trimEvents(14, 3)).toBe(1);
      expect(await truth().trimEvents(14, 3)).toBe(0);
      const facts = await truth().transact(async (tx) => tx.load({ eventIds: [...eventIds, kept] }));
      expect(eventIds.map((id) => facts.event(id) !== null)).toEqual([false, false, false, false, true]);
      expect(facts.event(kept)).not.toBeNull();
    });
  });

  test('ping answers while truth does', async () => {
    await expect(truth().ping()).resolves.toBeUndefined();
  });
}

async function ofConv(truth: Truth, conv: string): Promise<OutboxRow[]> {
  return (await truth.outbox(0, 1000)).filter((row) => row.conv === conv);
}
