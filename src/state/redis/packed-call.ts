/** Change sets on their way into scripts/apply.lua (scripts/fragments/offer.lua reads them). */
import type { DerivedRow } from '../../core/row.ts';
import { tallyPartForMany, type PartTally } from '../../core/part-tally.ts';
import type { ConversationPart, StateCall } from '../../ports.ts';
import { packRow } from './packed-row.ts';
import { putUint } from './uint-bytes.ts';

const PART_BYTES = 38;

interface PackedPart {
  readonly part: ConversationPart;
  readonly number: number;
  readonly tallyOf: (user: string) => PartTally;
  readonly conv: Buffer;
}

/**
 * Packs the calls of one batch. Nearly all users of a fan-out are offered the very same part and count it alike: for them it is packed
 * once, and the same bytes are given out again.
 */
export class CallPacker {
  readonly #parts = new Map<ConversationPart, PackedPart>();
  readonly #known = new Map<string, Buffer>();

  pack(call: StateCall): Buffer {
    const parts = call.parts.map((part) => this.#partOf(part));
    const tallies = parts.map(({ tallyOf }) => tallyOf(call.user));
    if (call.rows.length > 0 || call.repairAt !== undefined) return packCall(call, parts, tallies);
    let name = '';
    tallies.forEach(({ unread, mentions }, i) => {
      name += `${parts[i]?.number} ${unread} ${mentions},`;
    });
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const packed = packCall(call, parts, tallies);
    this.#known.set(name, packed);
    return packed;
  }

  #partOf(part: ConversationPart): PackedPart {
    const known = this.#parts.get(part);
    if (known !== undefined) return known;
    const packed = {
      part,
      number: this.#parts.size,
      tallyOf: tallyPartForMany(part),
      conv: packName(part.conv),
    };
    this.#parts.set(part, packed);
    return packed;
  }
}

/** The length in one byte, then the name. */
export function packName(name: string): Buffer {
  const bytes = Buffer.from(name);
  return Buffer.concat([Buffer.of(bytes.length), bytes]);
}

function packCall(call: StateCall, parts: readonly PackedPart[], tallies: readonly PartTally[]): Buffer {
  const { repairAt, rows } = call;
  const head = Buffer.allocUnsafe(7);
  putUint(head, putUint(head, putUint(head, 0, repairAt ? 1 : 0, 1), rows.length, 3), parts.length, 3);
  const packed: Buffer[] = [head];
  if (repairAt) {
    const version = Buffer.allocUnsafe(4);
    // A version that no state can have: it stands for all that are out of range.
    putUint(version, 0, Math.min(repairAt.syncVersion, 0xffff_ffff), 4);
    packed.push(version, packName(repairAt.epoch));
  }
  for (const row of rows) packed.push(packName(row.conv), packOffered(row));
  parts.forEach((part, i) => packed.push(part.conv, packPart(part.part, tallies[i] as PartTally)));
  return Buffer.concat(packed);
}

function packOffered(row: DerivedRow): Buffer {
  const bytes = packRow({ ...row, version: 0, latestActivity: row.activity, digest: 0 });
  return Buffer.concat([Buffer.of(bytes.length), bytes]);
}

function packPart(part: ConversationPart, { unread, mentions, brings }: PartTally): Buffer {
  const bytes = Buffer.allocUnsafe(PART_BYTES);
  let at = putUint(bytes, 0, part.fromRev + 1, 7);
  at = putUint(bytes, at, part.toRev, 7);
  at = putUint(bytes, at, part.headSeq, 7);
  at = putUint(bytes, at, part.activity, 7);
  at = putUint(bytes, at, unread, 4);
  at = putUint(bytes, at, mentions, 4);
  at = putUint(bytes, at, brings ? 1 : 0, 1);
  putUint(bytes, at, part.unlessLarge === true ? 1 : 0, 1);
  return bytes;
}
