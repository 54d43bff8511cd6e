import { expect, test } from 'vitest';
import { Unavailable } from '../../../src/errors.ts';
import { Batcher } from '../../../src/services/batcher.ts';

const atOnce = (run: () => void): void => run();

test('while one batch is in flight the next gathers, and every item gets its own answer', async () => {
  const batches: number[][] = [];
  const batcher = new Batcher<number, number>({
    run: async (items) => {
      batches.push([...items]);
      await new Promise((resolve) => setImmediate(resolve));
      return items.map((item) => item * 10);
    },
    batchWeightMax: 3,
    waitingWeightMax: 100,
    soon: atOnce,
  });
  const answers = await Promise.all([1, 2, 3, 4, 5, 6].map((item) => batcher.add(item)));
  expect(answers).toEqual([10, 20, 30, 40, 50, 60]);
  expect(batches).toEqual([[1], [2, 3, 4], [5, 6]]);
  await batcher.idle();
});

test('an item heavier than a batch makes a batch of its own; order stays', async () => {
  const batches: string[][] = [];
  const batcher = new Batcher<string, null>({
    run: async (items) => {
      batches.push([...items]);
      return items.map(() => null);
    },
    weightOf: (item) => item.length,
    batchWeightMax: 4,
    waitingWeightMax: 100,
    soon: (run) => setImmediate(run),
  });
  await Promise.all(['ab', 'c', 'defghij', 'k'].map((item) => batcher.add(item)));
  expect(batches).toEqual([['ab', 'c'], ['defghij'], ['k']]);
});

test('one culprit fails alone where its error isolates, and all fail together where it does not', async () => {
  const isolates = (error: unknown): boolean => !(error instanceof Unavailable);
  const open = (error: Error) =>
    new Batcher<number, number>({
      run: async (items) => {
        if (items.includes(3)) throw error;
        return [...items];
      },
      isolates,
      batchWeightMax: 10,
      waitingWeightMax: 100,
      soon: (run) => setImmediate(run),
    });
  const outcomes = async (batcher: Batcher<number, number>) =>
    (await Promise.allSettled([1, 2, 3, 4].map((item) => batcher.add(item)))).map(({ status }) => status);
  expect(await outcomes(open(new Error('poison')))).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  expect(await outcomes(open(new Unavailable('away', 10)))).toEqual(['rejected', 'rejected', 'rejected', 'rejected']);
});

test('overload is refused with a time to come back, and what was taken is still carried out', async () => {
  const held: (() => void)[] = [];
  const batcher = new Batcher<number, number>({
    run: async (items) => {
      await new Promise<void>((resolve) => held.push(resolve));
      return [...items];
    },
    batchWeightMax: 1,
    waitingWeightMax: 2,
    soon: atOnce,
  });
  const taken = [1, 2, 3].map((item) => batcher.add(item));
  await expect(batcher.add(4)).rejects.toMatchObject({ code: 'unavailable', retryMs: 1000 });
  for (const count of [1, 2, 3]) {
    await expect.poll(() => held.length).toBe(count);
    held[count - 1]?.();
  }
  expect(await Promise.all(taken)).toEqual([1, 2, 3]);
});
