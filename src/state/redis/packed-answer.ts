/**
 * What scripts/apply.lua answers, one user behind the other:
 *
 *   0 missing · 1 building · 2 applied: meta, visible rows (name, row) …, names of conversations to be derived …
 *
 * Each list has its length before it in three bytes, each item in one.
 */
import { toWireRow } from '../../core/row.ts';
import type { Row } from '../../../protocol/index.ts';
import type { Change, StateAnswer, StateCall } from '../../ports.ts';
import { minutesSince, type NodeSeen, unpackMeta } from './packed-meta.ts';
import { unpackRow } from './packed-row.ts';
import { uint } from './uint-bytes.ts';

const MISSING: StateAnswer = { kind: 'missing' };
const BUILDING: StateAnswer = { kind: 'building' };
const NOTHING: readonly string[] = [];
/** Stands among the nodes of a state that was built not long ago: nodes that hold sockets of the user may not have said so yet. */
export const ANY_NODE = 0;

export interface AnswerContext {
  readonly nowMs: number;
  /** A node that has not said for so long that it holds sockets of the user holds none. */
  readonly nodeMinutes: number;
}

/** Reads one answer after the other, in the order of the calls. */
export class AnswerReader {
  readonly #bytes: Buffer;
  readonly #context: AnswerContext;
  #at = 0;

  constructor(bytes: Buffer, context: AnswerContext) {
    this.#bytes = bytes;
    this.#context = context;
  }

  next({ user, op }: StateCall): StateAnswer {
    const kind = this.#bytes[this.#at++];
    if (kind === 0) return MISSING;
    if (kind === 1) return BUILDING;
    const metaEnd = this.#itemEnd();
    const { tombstoneFloor: _, nodes, ...head } = unpackMeta(this.#bytes, this.#at, metaEnd);
    this.#at = metaEnd;
    const rows = this.#rows();
    const derive = this.#names();
    if (rows.length === 0) return { kind: 'applied', head, change: null, derive };
    const change: Change = { user, ...head, baseVersion: head.syncVersion - 1, op, rows, ...this.#route(nodes) };
    return { kind: 'applied', head, change, derive };
  }

  #rows(): Row[] {
    const rows: Row[] = [];
    for (let left = this.#count(); left > 0; left--) {
      const conv = this.#name();
      const end = this.#itemEnd();
      rows.push(toWireRow(unpackRow(this.#bytes, this.#at, end, conv)));
      this.#at = end;
    }
    return rows;
  }

  #names(): readonly string[] {
    const count = this.#count();
    if (count === 0) return NOTHING;
    return Array.from({ length: count }, () => this.#name());
  }

  #name(): string {
    const end = this.#itemEnd();
    const name = this.#bytes.toString('utf8', this.#at, end);
    this.#at = end;
    return name;
  }

  #count(): number {
    this.#at += 3;
    return uint(this.#bytes, this.#at - 3, 3);
  }

  /** Steps over the length of an item, and answers where the item ends. */
  #itemEnd(): number {
    return this.#at + 1 + (this.#bytes[this.#at++] as number);
  }

  #route(nodes: readonly NodeSeen[]): { nodes?: readonly number[] } {
    const { nowMs, nodeMinutes } = this.#context;
    const present = nodes.filter(({ minute }) => minutesSince(minute, nowMs) < nodeMinutes).map(({ id }) => id);
    return present.includes(ANY_NODE) ? {} : { nodes: present };
  }
}
