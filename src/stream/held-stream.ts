import type { EventError } from '../../protocol/index.ts';
import type { StreamEntry } from './stream-entry.ts';
import { readEntry } from './stream-entry.ts';
import { deadKey, type StreamKeys } from './stream-keys.ts';
import { type Reply, type StreamLink, streamScripts } from './stream-link.ts';

export interface HeldStreamOptions {
  readonly link: StreamLink;
  readonly keys: StreamKeys;
  readonly prefix: string;
  /** Unlike that of any other hold. */
  readonly token: string;
  /** Whoever does not come back within this time has lost the stream. */
  readonly leaseMs: number;
}

export interface Taken {
  /** Entries in the stream: those not yet done. */
  readonly length: number;
  readonly entries: readonly StreamEntry[];
  /** Of these, how many had been handed out before. */
  readonly redelivered: number;
}

const GROUP = 'tidemark';
/** The cursor behind what was left. */
const NEW = '>';
/** In memory at once, of one stream. */
const ENTRIES_MAX = 500;
const BYTES_MAX = 2 ** 20;
/** The largest legal event is 7.7 MB (config.ts). */
const EVENT_BYTES_MAX = 8 * 2 ** 20;
/** Dead letters that are kept; the oldest give way. */
const DEAD_MAX = 100_000;

/** One hold of one stream, from the first `take` to `giveBack` or to its loss; what it is told afterwards changes nothing. */
export class HeldStream {
  readonly #options: HeldStreamOptions;
  /** Behind which entry of those that earlier holders left. */
  #cursor = '0-0';

  constructor(options: HeldStreamOptions) {
    this.#options = options;
  }

  /** The next entries, first what earlier holders left, and before all these ids again. Null: not held. */
  async take(again: readonly string[]): Promise<Taken | null> {
    const { keys, token, leaseMs } = this.#options;
    const cursor = this.#cursor;
    const reply = await this.#run(
      'take',
      [keys.stream, keys.lease],
      [GROUP, token, leaseMs, cursor, ENTRIES_MAX, BYTES_MAX, EVENT_BYTES_MAX, ...again],
    );
    if (reply === null) return null;
    const [length, next, list] = reply as [number, Buffer, Reply[][]];
    const entries = list.map(readEntry);
    this.#cursor = next.toString();
    return { length, entries, redelivered: cursor === NEW ? again.length : entries.length };
  }

  /** Answers how often each of the refused has been refused by now. Null: not held any more, nothing is written down. */
  async settle(done: readonly string[], refused: readonly string[]): Promise<readonly number[] | null> {
    const { keys, token } = this.#options;
    const args = [GROUP, token, done.length, ...done, ...refused];
    return (await this.#run('settle', [keys.stream, keys.lease, keys.refusals], args)) as number[] | null;
  }

  /** To be settled as done behind this: where that fails, the dead letter comes a second time. */
  async bury({ id, event }: StreamEntry, { code, message, field = '' }: EventError): Promise<void> {
    const { link, prefix, keys } = this.#options;
    const fields = ['stream', keys.stream, 'entry', id, 'code', code, 'message', message, 'field', field];
    if (event) fields.push('event');
    await link.send('XADD', deadKey(prefix), 'MAXLEN', '~', DEAD_MAX, '*', ...fields, ...(event ? [event] : []));
  }

  async renew(): Promise<void> {
    await this.#run('hold', [this.#options.keys.lease], [this.#options.token, this.#options.leaseMs]);
  }

  async giveBack(): Promise<void> {
    await this.#run('hold', [this.#options.keys.lease], [this.#options.token, 0]);
  }

  #run(name: keyof typeof streamScripts, keys: readonly string[], args: readonly (string | number)[]): Promise<Reply> {
    return this.#options.link.run(streamScripts[name], keys, args);
  }
}
