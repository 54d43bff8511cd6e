import type { Codec, Delta } from '../../protocol/index.ts';
import type { Change } from '../ports.ts';
import { messageFrame } from './frame-bytes.ts';

/** A change on its way to the sockets of its user: encoded at most once a codec, the bytes are shared among all who stand at its base. */
export class PushedChange {
  readonly change: Change;
  /** One place for each kind of message: no two codecs of a server share one. */
  #text: Buffer | null = null;
  #binary: Buffer | null = null;

  constructor(change: Change) {
    this.change = change;
  }

  frameFor(codec: Codec): Buffer {
    if (codec.binary) return (this.#binary ??= messageFrame(codec.encode(deltaOf(this.change))));
    return (this.#text ??= messageFrame(codec.encode(deltaOf(this.change))));
  }
}

export function deltaOf(change: Change): Delta {
  const { epoch, baseVersion, syncVersion, rows, op, total, badge, mentions, digest } = change;
  const place = { t: 'delta', epoch, base_version: baseVersion, sync_version: syncVersion } as const;
  // Not copied: whoever encodes a frame does not change it.
  return { ...place, rows: rows as Delta['rows'], op, total, badge, mentions, digest };
}
