/**
 * What scripts/apply.lua answers, one user behind the other. It is read from the end, so that the script packs no length of what is
 * its own border already:
 *
 *   visible rows (name, row) … · names of conversations to be derived, u8 length behind each · meta · u8 its length
 *   u24 visible rows · u24 names · kind: 0 missing, 1 building (nothing else stands before these), 2 applied
 */
import type { Row } from '../../../protocol/index.ts';
import { toWireRow } from '../../core/row.ts';
import { Bug } from '../../errors.ts';
import type { Change, StateAnswer, StateCall } from '../../ports.ts';
import { headOf, type Meta, minutesSince, type NodeSeen, unpackMeta } from './packed-meta.ts';
import { NameReader } from './name-reader.ts';
import { rowStart, unpackRow } from './packed-row.ts';
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

/** Reads one answer after the other, from the last call to the first. */
export class AnswerReader {
  readonly #bytes: Buffer;
  readonly #context: AnswerContext;
  readonly #convs = new NameReader();
  readonly #epochs = new NameReader();
  #end: number;

  constructor(bytes: Buffer, context: AnswerContext) {
    this.#bytes = bytes;
    this.#context = context;
    this.#end = bytes.length;
  }

  previous(call: StateCall): StateAnswer {
    const kind = this.#take(1);
    if (kind === 0) return MISSING;
    if (kind === 1) return BUILDING;
    const names = this.#take(3);
    const visible = this.#take(3);
    const metaEnd = this.#end - 1;
    this.#end = metaEnd - (this.#bytes[metaEnd] as number);
    const meta = unpackMeta(this.#bytes, this.#end, metaEnd, this.#epochs);
    const derive = names === 0 ? NOTHING : this.#names(names);
    if (visible === 0) return { kind: 'applied', head: headOf(meta), change: null, derive };
    const change = this.#change(call, meta, this.#rows(visible));
    return { kind: 'applied', head: change, change, derive };
  }

  /** To be called when all have been read. */
  finish(): void {
    if (this.#end !== 0) throw new Bug('the state store answered more than it was asked');
  }

  #change(
    { user, op }: StateCall,
    { epoch, syncVersion, total, badge, mentions, digest, nodes }: Meta,
    rows: readonly Row[],
  ): Change {
    const baseVersion = syncVersion - 1;
    const present = this.#present(nodes);
    // Written out twice: spreading one into the other took a third of all that a node does for a user here.
    if (present === null) return { user, epoch, baseVersion, syncVersion, op, rows, total, badge, mentions, digest };
    return { user, epoch, baseVersion, syncVersion, op, rows, total, badge, mentions, digest, nodes: present };
  }

  /** Null: not known yet. */
  #present(nodes: readonly NodeSeen[]): number[] | null {
    const { nowMs, nodeMinutes } = this.#context;
    const present: number[] = [];
    for (const { id, minute } of nodes) {
      if (minutesSince(minute, nowMs) >= nodeMinutes) continue;
      if (id === ANY_NODE) return null;
      present.push(id);
    }
    return present;
  }

  #rows(count: number): Row[] {
    const rows: Row[] = [];
    for (let left = count; left > 0; left--) {
      const start = rowStart(this.#bytes, this.#end);
      const nameAt = start - (this.#bytes[this.#end - 1] as number);
      const conv = this.#convs.read(this.#bytes, nameAt, start);
      rows.push(toWireRow(unpackRow(this.#bytes, start, this.#end, conv)));
      this.#end = nameAt;
    }
    return rows.reverse();
  }

  #names(count: number): string[] {
    const names: string[] = [];
    for (let left = count; left > 0; left--) {
      const length = this.#take(1);
      this.#end -= length;
      names.push(this.#convs.read(this.#bytes, this.#end, this.#end + length));
    }
    return names.reverse();
  }

  #take(width: number): number {
    this.#end -= width;
    return uint(this.#bytes, this.#end, width);
  }
}
