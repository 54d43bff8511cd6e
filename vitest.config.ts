import { defineConfig } from 'vitest/config';

/**
 * One project per kind of test, in the order in which they tell most for least time.
 * `npx vitest run --project unit` runs one kind alone. Timeouts bound a hang; no test measures time.
 */
const SECOND_MS = 1_000;

export default defineConfig({
  test: {
    // Two workers: the machines this runs on have two cores, and real servers beside the tests need some of them.
    maxWorkers: 2,
    reporters: ['default'],
    projects: [
      project('unit', 10 * SECOND_MS, ['test/unit/**/*.test.ts', 'test/*.test.ts']),
      project('property', 60 * SECOND_MS),
      project('contract', 60 * SECOND_MS),
      project('integration', 60 * SECOND_MS),
      project('simulation', 180 * SECOND_MS),
      project('e2e', 180 * SECOND_MS),
    ],
  },
});

function project(name: string, timeoutMs: number, include = [`test/${name}/**/*.test.ts`]) {
  return {
    test: {
      name,
      include,
      pool: 'forks' as const,
      testTimeout: timeoutMs,
      hookTimeout: timeoutMs,
      teardownTimeout: 10 * SECOND_MS,
    },
  };
}
