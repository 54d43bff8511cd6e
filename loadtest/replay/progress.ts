/** What the person at the terminal sees: a bar while it runs, plain lines where there is no terminal. */
const BAR_WIDTH = 30;
const SHOW_EVERY_MS = 100;
const PLAIN_EVERY = 0.1;

export class Progress {
  readonly #end: number;
  readonly #isTerminal = process.stdout.isTTY === true;
  readonly #startedAtMs = performance.now();
  #shownAtMs = -Infinity;
  #plainFrom = PLAIN_EVERY;

  constructor(end: number) {
    this.#end = Math.max(1, end);
  }

  show(at: number, events: number): void {
    const done = Math.min(1, at / this.#end);
    const nowMs = performance.now();
    if (this.#isTerminal && nowMs - this.#shownAtMs >= SHOW_EVERY_MS) {
      this.#shownAtMs = nowMs;
      process.stdout.write(`\r${this.#line(done, events, nowMs)}`);
    } else if (!this.#isTerminal && done >= this.#plainFrom) {
      this.#plainFrom = done + PLAIN_EVERY;
      console.log(this.#line(done, events, nowMs));
    }
  }

  say(text: string): void {
    console.log(this.#isTerminal ? `\r${text.padEnd(BAR_WIDTH + 50)}` : text);
  }

  end(): void {
    if (this.#isTerminal) process.stdout.write('\n');
  }

  #line(done: number, events: number, nowMs: number): string {
    const filled = Math.round(done * BAR_WIDTH);
    const leftS = done > 0 ? ((nowMs - this.#startedAtMs) / 1000 / done) * (1 - done) : 0;
    const bar = `${'█'.repeat(filled)}${'·'.repeat(BAR_WIDTH - filled)}`;
    return `${bar} ${(done * 100).toFixed(0).padStart(3)} %  ${events} events  about ${leftS.toFixed(0)} s left `;
  }
}
