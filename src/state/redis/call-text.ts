/**
 * Change sets on their way into scripts/apply.lua (scripts/fragments/offer.lua reads them): JSON, which the server decodes once for
 * all users who are offered the same.
 *
 *   {rows: [[conv, [the places of a row as in fragments/row.lua]] …],
 *    parts: [[conv, fromRev, toRev, headSeq, activity, unread, mentions, brings, unlessLarge] …], repair: [syncVersion, epoch]}
 */
import type { DerivedRow } from '../../core/row.ts';
import { tallyPartForMany, type PartTally } from '../../core/part-tally.ts';
import type { ConversationPart, StateCall } from '../../ports.ts';
import { flagsOf } from './packed-row.ts';

interface KnownPart {
  readonly part: ConversationPart;
  readonly tallyOf: (user: string) => PartTally;
  /** By tally: nearly all users of a fan-out count a part alike, and share one tally. */
  readonly texts: Map<PartTally, string>;
  readonly calls: Map<PartTally, string>;
}

/** Writes the calls of one batch; parts that many of them share are looked at once. */
export class CallWriter {
  readonly #parts = new Map<ConversationPart, KnownPart>();

  write(call: StateCall): string {
    const { user, rows, parts, repairAt } = call;
    const [first] = parts;
    if (first !== undefined && parts.length === 1 && rows.length === 0 && repairAt === undefined) {
      return this.#writeSingle(first, user);
    }
    return textOf(
      parts.map((part) => this.#writePart(part, user)),
      rows,
      repairAt,
    );
  }

  #writeSingle(part: ConversationPart, user: string): string {
    const known = this.#known(part);
    const tally = known.tallyOf(user);
    const text = known.calls.get(tally);
    if (text !== undefined) return text;
    const written = textOf([this.#writePart(part, user)], [], undefined);
    known.calls.set(tally, written);
    return written;
  }

  #writePart(part: ConversationPart, user: string): string {
    const known = this.#known(part);
    const tally = known.tallyOf(user);
    const text = known.texts.get(tally);
    if (text !== undefined) return text;
    const { conv, fromRev, toRev, headSeq, activity, unlessLarge = false } = part;
    const { unread, mentions, brings } = tally;
    const written = JSON.stringify([conv, fromRev, toRev, headSeq, activity, unread, mentions, brings, unlessLarge]);
    known.texts.set(tally, written);
    return written;
  }

  #known(part: ConversationPart): KnownPart {
    const known = this.#parts.get(part);
    if (known !== undefined) return known;
    const made = { part, tallyOf: tallyPartForMany(part), texts: new Map(), calls: new Map() };
    this.#parts.set(part, made);
    return made;
  }
}

function textOf(parts: readonly string[], rows: readonly DerivedRow[], repairAt: StateCall['repairAt']): string {
  const repair = repairAt ? `,"repair":${JSON.stringify([repairAt.syncVersion, repairAt.epoch])}` : '';
  return `{"rows":${JSON.stringify(rows.map((row) => [row.conv, placesOf(row)]))},"parts":[${parts.join(',')}]${repair}}`;
}

/** Version and digest are the script's affair. */
function placesOf(row: DerivedRow): number[] {
  const { convRev, memberRev, unread, mentions, readEpoch, othersEver, readSeq, headSeq, activity, floorSeq } = row;
  const counts = [convRev, memberRev, unread, mentions, readEpoch, othersEver];
  return [0, ...counts, readSeq, headSeq, activity, 0, floorSeq, activity, flagsOf(row)];
}
