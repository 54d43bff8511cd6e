/** What was sent, kept apart from the server: every number at the end is counted from it, by the definition of the contract. */
import { type Row, limits } from '../protocol/index.ts';

interface SentMessage {
  readonly seq: number;
  readonly sender: string;
  /** Users named by the message. */
  readonly mentions: readonly string[];
  isRecalled: boolean;
}

interface Ledger {
  readonly messages: SentMessage[];
  readonly readSeqs: Map<string, number>;
}

export interface Counted {
  readonly unread: number;
  readonly mentions: number;
  readonly readSeq: number;
}

export class Ledgers {
  readonly #ledgers = new Map<string, Ledger>();

  /** All members are founders: their floor is 0 (LC1). */
  open(conv: string): void {
    this.#ledgers.set(conv, { messages: [], readSeqs: new Map() });
  }

  sent(conv: string, seq: number, sender: string, mentions: readonly string[]): SentMessage {
    const message = { seq, sender, mentions, isRecalled: false };
    this.#of(conv).messages.push(message);
    return message;
  }

  /** The server has confirmed it. */
  read(conv: string, user: string, seq: number): void {
    const { readSeqs } = this.#of(conv);
    readSeqs.set(user, Math.max(seq, readSeqs.get(user) ?? 0));
  }

  /** A message of somebody that was sent at least `count` messages ago, so that everybody has been shown it; null: there is none. */
  older(conv: string, count: number): SentMessage | null {
    return this.#of(conv).messages.at(-1 - count) ?? null;
  }

  /** [CN1][CN2][CN4][CN6] by their words: every message above the watermark is looked at. */
  count(conv: string, user: string): Counted {
    const { messages, readSeqs } = this.#of(conv);
    const readSeq = readSeqs.get(user) ?? 0;
    let unread = 0;
    let mentions = 0;
    for (const message of messages) {
      if (message.seq <= readSeq || message.isRecalled || message.sender === user) continue;
      unread++;
      if (message.mentions.includes(user)) mentions++;
    }
    return { unread, mentions, readSeq };
  }

  /** What is wrong with a row; null: nothing. */
  faultOf(row: Row, user: string): string | null {
    const { unread, mentions, readSeq } = this.count(row.conv, user);
    const isCapped = row.capped === true && unread > limits.unreadCap;
    const right = isCapped ? limits.unreadCap : unread;
    if (row.unread === right && row.mentions === mentions && row.read_seq === readSeq) return null;
    const got = `${row.unread} unread, ${row.mentions} mentions, read up to ${row.read_seq}`;
    return `${row.conv}: ${got}, not ${right}, ${mentions}, ${readSeq}`;
  }

  #of(conv: string): Ledger {
    const ledger = this.#ledgers.get(conv);
    if (ledger === undefined) throw new Error(`${conv} was not opened`);
    return ledger;
  }
}
