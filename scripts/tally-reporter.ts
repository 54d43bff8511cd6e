import { writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/** What one vitest run came to. A file that does not load and an error outside any test each count as one failure. */
export interface Tally {
  passed: string[];
  failed: string[];
  skipped: { title: string; reason: string }[];
}

/** Writes the {@link Tally} of a run to a file, with the reasons of skipped tests, which vitest's own JSON leaves out. */
export function tallyReporter(file: string): Reporter {
  return {
    onTestRunEnd(modules, unhandledErrors) {
      const tally: Tally = { passed: [], failed: [], skipped: [] };
      for (const module of modules) count(module, tally);
      for (const error of unhandledErrors) tally.failed.push(`error outside any test: ${error.message}`);
      writeFileSync(file, JSON.stringify(tally));
    },
  };
}

function count(module: TestModule, tally: Tally): void {
  const inside = module.relativeModuleId;
  let tests = 0;
  for (const test of module.children.allTests()) {
    tests++;
    const result = test.result();
    const title = `${inside} > ${test.fullName}`;
    if (result.state === 'passed') tally.passed.push(title);
    else if (result.state === 'skipped') tally.skipped.push({ title, reason: result.note ?? 'no reason given' });
    else tally.failed.push(title);
  }
  const broken = module.state() !== 'passed' && module.state() !== 'skipped';
  const told = tally.failed.some((title) => title.startsWith(inside));
  if (tests === 0 || (broken && !told)) tally.failed.push(`${inside} > the file itself`);
}
