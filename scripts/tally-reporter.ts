import { writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/** What one vitest run came to. A file that does not load and an error outside any test each count as one failure. */
export interface Tally {
  passed: string[];
  failed: string[];
  skipped: { title: string; reason: string }[];
  /** Files that had begun and not ended when this was written: where a run that was cut off stood. */
  running: string[];
}

/**
 * Writes the {@link Tally} of a run to a file, with the reasons of skipped tests, which vitest's own JSON leaves out. It is written
 * after each test file, so that a run that is cut off has a result, too.
 */
export function tallyReporter(file: string): Reporter {
  // By name: the object that a file is queued as is not the one that it ends as.
  const running = new Set<string>();
  const ended = new Set<TestModule>();
  const write = (modules: Iterable<TestModule>, errors: readonly { message: string }[]): void => {
    const tally: Tally = { passed: [], failed: [], skipped: [], running: [...running] };
    for (const module of modules) count(module, tally);
    for (const error of errors) tally.failed.push(`error outside any test: ${error.message}`);
    writeFileSync(file, JSON.stringify(tally));
  };
  return {
    onTestModuleQueued(module) {
      running.add(nameOf(module));
      write(ended, []);
    },
    onTestModuleEnd(module) {
      running.delete(nameOf(module));
      ended.add(module);
      write(ended, []);
    },
    onTestRunEnd: (modules, unhandledErrors) => write(modules, unhandledErrors),
  };
}

function nameOf(module: TestModule): string {
  return module.relativeModuleId;
}

function count(module: TestModule, tally: Tally): void {
  const inside = nameOf(module);
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
