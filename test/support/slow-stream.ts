import { Writable } from 'node:stream';
import { jsonCodec, type ServerFrame } from '../../protocol/index.ts';

/** The writing side of a connection whose other end reads only when told to. */
export class SlowStream extends Writable {
  #unread: { readonly bytes: Buffer; readonly done: () => void }[] = [];
  #received = Buffer.alloc(0);
  /** While true, everything is read at once. */
  isReading = true;
  /** While true, what is read is taken in the call itself, as the system does while its buffer has room. */
  takesAtOnce = false;
  pings = 0;

  constructor() {
    super({ highWaterMark: 1 });
  }

  override _write(bytes: Buffer, _: string, done: () => void): void {
    if (this.isReading) {
      this.#received = Buffer.concat([this.#received, bytes]);
      if (this.takesAtOnce) done();
      else setImmediate(done);
    } else this.#unread.push({ bytes, done });
  }

  /** Reads on. */
  read(): void {
    this.isReading = true;
    for (const { bytes, done } of this.#unread.splice(0)) {
      this.#received = Buffer.concat([this.#received, bytes]);
      setImmediate(done);
    }
  }

  /** The frames read since the last call. */
  frames(): ServerFrame[] {
    const frames: ServerFrame[] = [];
    while (this.#received.length >= 2) {
      const short = (this.#received[1] as number) & 0x7f;
      const headerLength = short < 126 ? 2 : short === 126 ? 4 : 10;
      const length =
        short < 126
          ? short
          : short === 126
            ? this.#received.readUInt16BE(2)
            : Number(this.#received.readBigUInt64BE(2));
      const payload = this.#received.subarray(headerLength, headerLength + length);
      if (((this.#received[0] as number) & 0x0f) === 1) frames.push(frameIn(payload.toString()));
      else this.pings++;
      this.#received = this.#received.subarray(headerLength + length);
    }
    return frames;
  }
}

function frameIn(text: string): ServerFrame {
  const decoded = jsonCodec.decodeServer(text);
  if (!decoded.ok) throw new Error(`not a frame of a server: ${decoded.message} in ${text}`);
  return decoded.frame;
}
