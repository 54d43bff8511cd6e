/** Reads names one after the other, of which many are the same as the one before: then the text that was made for it will do. */
export class NameReader {
  #last = '';
  #bytes: Uint8Array = new Uint8Array(0);

  read(bytes: Buffer, start: number, end: number): string {
    if (!this.#isLast(bytes, start, end)) {
      this.#last = bytes.toString('utf8', start, end);
      this.#bytes = bytes.subarray(start, end);
    }
    return this.#last;
  }

  #isLast(bytes: Buffer, start: number, end: number): boolean {
    const last = this.#bytes;
    if (last.length !== end - start) return false;
    for (let i = 0; i < last.length; i++) if (last[i] !== bytes[start + i]) return false;
    return true;
  }
}
