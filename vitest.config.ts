import { defineConfig } from 'vitest/config';
import { tallyReporter } from './scripts/tally-reporter.ts';

/**
 * One project for each kind of test, run in this order: what tells most in the least time comes first.
 * `npx vitest run --project unit` runs one kind alone. Timeouts bound a hang, also on a machine that is slow and busy with other
 * things; no test asserts a duration.
 */
const SECOND_MS = 1_000;
/** Kinds of which most files hold properties. */
const PROPERTIES = ['property', 'contract'];
const tallyFile = process.env['TEST_TALLY_FILE'];

export default defineConfig({
  test: {
    reporters: tallyFile === undefined ? ['default'] : ['default', tallyReporter(tallyFile)],
    projects: [
      project(1, 'unit', 30 * SECOND_MS, ['test/unit/**/*.test.ts', 'test/*.test.ts']),
      project(2, 'property', 300 * SECOND_MS),
      project(3, 'contract', 300 * SECOND_MS),
      project(4, 'integration', 180 * SECOND_MS),
      project(5, 'simulation', 180 * SECOND_MS),
      project(6, 'e2e', 180 * SECOND_MS),
    ],
  },
});

function project(groupOrder: number, name: string, timeoutMs: number, include = [`test/${name}/**/*.test.ts`]) {
  return {
    test: {
      name,
      include,
      pool: 'forks' as const,
      // Written for two cores. An end-to-end test starts whole processes of its own, so those files run one by one.
      maxWorkers: name === 'e2e' ? 1 : 2,
      sequence: { groupOrder },
      testTimeout: timeoutMs,
      hookTimeout: timeoutMs,
      // What is waited for, and the seed of what is random, are told before the test is over.
      expect: { poll: { timeout: timeoutMs / 3 } },
      provide: { propertyMs: 0.75 * timeoutMs },
      setupFiles: PROPERTIES.includes(name) ? ['test/support/property-limits.ts'] : [],
      teardownTimeout: 10 * SECOND_MS,
    },
  };
}
