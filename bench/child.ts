/** A server to be measured, in a process of its own that answers questions: so its CPU time and memory are its own. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { NODE_FLAGS } from '../loadtest/server-process.ts';

export interface Child {
  ask<T>(what: string, given?: object): Promise<T>;
  stop(): Promise<void>;
}

export type Answers = Record<string, (given: never) => unknown>;

interface Question {
  readonly id: number;
  readonly what: string;
  readonly given: object;
}

interface Reply {
  readonly id: number;
  readonly answer?: unknown;
  readonly fault?: string;
}

/** Same flags for all, so that memory can be compared: those of the product. */
const FLAGS = ['--expose-gc', ...NODE_FLAGS];
const FOLDER = path.join(import.meta.dirname, 'servers');

export function startChild(program: string, ...args: string[]): Child {
  const child: ChildProcess = fork(path.join(FOLDER, program), args, { execArgv: FLAGS, serialization: 'advanced' });
  const waiting = new Map<number, { resolve: (answer: never) => void; reject: (error: Error) => void }>();
  let asked = 0;
  child.on('message', ({ id, answer, fault }: Reply) => {
    const asker = waiting.get(id);
    waiting.delete(id);
    if (fault === undefined) asker?.resolve(answer as never);
    else asker?.reject(new Error(`${program}: ${fault}`));
  });
  child.once('exit', (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`${program} ended with ${code}`));
  });
  return {
    ask: (what, given = {}) =>
      new Promise((resolve, reject) => {
        const id = asked++;
        waiting.set(id, { resolve, reject });
        child.send({ id, what, given } satisfies Question);
      }),
    async stop() {
      if (child.exitCode !== null) return;
      child.disconnect();
      await once(child, 'exit');
    },
  };
}

/** In the child: what it answers. */
export function answerQuestions(answers: Answers): void {
  // Also when whoever asks has gone without a word.
  process.once('disconnect', () => process.exit(0));
  process.on('message', ({ id, what, given }: Question) => {
    void (async () => {
      try {
        const run = answers[what];
        if (run === undefined) throw new Error(`no answer to ${what}`);
        process.send?.({ id, answer: await run(given as never) } satisfies Reply);
      } catch (error) {
        process.send?.({ id, fault: error instanceof Error ? (error.stack ?? error.message) : String(error) });
      }
    })();
  });
}

/** CPU time of this process so far, in µs. */
export function cpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Resident memory when nothing is left to be collected, in bytes. */
export async function restingRss(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return process.memoryUsage.rss();
}

/** Writes to every socket so many times, as `push` does it once; answers the CPU time of a write in µs. */
export async function pushTimes(sockets: number, times: number, push: (round: number) => () => void): Promise<number> {
  let spentUs = 0;
  for (let round = 0; round < times; round++) {
    const run = push(round);
    const sinceUs = cpuUs();
    run();
    // Two turns: what the system did not take at once, and the callbacks of what it did.
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    spentUs += cpuUs() - sinceUs;
  }
  return spentUs / (sockets * times);
}
