import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { InspectorApi } from '../../../inspector/page/inspector-api.ts';
import { lookAt } from '../../../inspector/page/looked-at.ts';
import type { InspectAnswer, WatchedChange } from '../../../protocol/http.ts';

const ANSWER = {} as InspectAnswer;
const CHANGE = {} as WatchedChange;
/** Longer than a change waits for others, and than the page waits between two looks. */
const [A_CHANGE_LATER_MS, A_LOOK_LATER_MS] = [200, 2500];

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('document', Object.assign(new EventTarget(), { visibilityState: 'visible' }));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A page before a server that answers when it is told to. */
function scene() {
  const open: ((answer: InspectAnswer) => void)[] = [];
  const page = { looks: 0, answers: 0, change: (): void => {} };
  const api: Pick<InspectorApi, 'inspect' | 'watch'> = {
    inspect: async () => {
      page.looks++;
      return new Promise((resolve) => open.push(resolve));
    },
    watch: async (_, { changed }) => {
      page.change = () => changed(CHANGE);
      return new Promise(() => {});
    },
  };
  lookAt('ann', api as InspectorApi, {
    answer: () => void page.answers++,
    change: () => {},
    live: () => {},
    failed: (error) => {
      throw error;
    },
  });
  const passes = (ms: number) => vi.advanceTimersByTimeAsync(ms);
  const answer = async (): Promise<void> => {
    open.shift()?.(ANSWER);
    await passes(0);
  };
  return { page, passes, answer };
}

test('a user is looked at again and again, and soon when something has changed', async () => {
  const { page, passes, answer } = scene();
  await answer();
  expect(page).toMatchObject({ looks: 1, answers: 1 });
  await passes(A_LOOK_LATER_MS);
  expect(page.looks).toBe(2);
  await answer();
  page.change();
  page.change();
  await passes(A_CHANGE_LATER_MS);
  expect(page.looks).toBe(3);
});

test('what changes while an answer is long in coming is asked for after it, and the page goes on looking', async () => {
  const { page, passes, answer } = scene();
  page.change();
  await passes(A_CHANGE_LATER_MS);
  expect(page.looks).toBe(1);
  await answer();
  expect(page).toMatchObject({ looks: 2, answers: 1 });
  await answer();
  await passes(A_LOOK_LATER_MS);
  expect(page.looks).toBe(3);
  await answer();
  page.change();
  await passes(A_CHANGE_LATER_MS);
  expect(page.looks).toBe(4);
});
