import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { ROOT } from './source-tree.ts';

/** `node FILE …` in a process of its own, with these settings and no others. It is gone when the test has ended. */
export interface NodeProcess {
  readonly child: ChildProcess;
  /** Lines of standard output so far. */
  readonly lines: string[];
  /** Text of standard error so far. */
  errors(): string;
  /** Exit code, or the name of the signal that ended it. */
  readonly exit: Promise<number | string | null>;
  /** The URL of the ready line; rejects when the process ends without one. */
  readonly ready: Promise<string>;
}

export function runNode(args: string[], settings: Record<string, string>): NodeProcess {
  return runProgram(process.execPath, args, settings);
}

/** The same of a program that becomes `node FILE …`, or of another Node. */
export function runProgram(program: string, args: string[], settings: Record<string, string>): NodeProcess {
  const child = spawn(program, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'], env: settings });
  const gone = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    // It writes into folders that are removed next.
    await gone;
  });
  const lines: string[] = [];
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const exit = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string);
  const ready = new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line);
      if (!line.startsWith('{')) return;
      const { msg, url } = JSON.parse(line) as { msg?: string; url?: string };
      if (msg === 'ready' && url !== undefined) resolve(url);
    });
    void exit.then((code) => reject(new Error(`ended with ${code} and without being ready: ${errors}`)));
  });
  // Not every test waits for it.
  ready.catch(() => {});
  return { child, lines, errors: () => errors, exit, ready };
}
