import type { AckedItem, ServerFrame } from '../../protocol/index.ts';
import type { StateHead } from '../ports.ts';

/** Where the frames given to a socket end; total and digest belong to that version. */
export interface Position {
  readonly epoch: string;
  readonly syncVersion: number;
  readonly total: number;
  readonly digest: string;
}

interface WaitingAck {
  readonly id: number;
  readonly items: readonly AckedItem[];
  readonly weight: number;
  /** The version that contains the effect. */
  epoch: string;
  syncVersion: number;
}

interface Note {
  readonly frame: ServerFrame;
  readonly weight: number;
}

/** Puts a frame into the batch and answers its bytes. */
export type Put = (frame: ServerFrame) => number;

/**
 * What waits to be written on one socket besides rows: answers to commands, which wait for the version with their effect, heartbeats, and
 * frames that belong to no version. Each but a heartbeat of our own has the weight of the frame that it answers. Kept only while
 * there is something, since most sockets are idle.
 */
export class WaitingAnswers {
  #acks: WaitingAck[] = [];
  #notes: Note[] = [];
  #beats = 0;
  #beatsWeight = 0;
  #mustProbe = false;

  get isEmpty(): boolean {
    return this.#acks.length === 0 && this.#notes.length === 0 && this.#beats === 0;
  }

  /** The first answer that waits; null: none. */
  get firstAck(): Pick<StateHead, 'epoch' | 'syncVersion'> | null {
    return this.#acks[0] ?? null;
  }

  /** Whether a beat that nobody asked for is among those that wait: it is to make every peer that is alive send something. */
  get mustProbe(): boolean {
    return this.#mustProbe;
  }

  addAck(id: number, items: readonly AckedItem[], { epoch, syncVersion }: StateHead, weight: number): void {
    this.#acks.push({ id, items, epoch, syncVersion, weight });
  }

  addNote(frame: ServerFrame, weight: number): void {
    this.#notes.push({ frame, weight });
  }

  addBeat(weight: number): void {
    this.#beats++;
    this.#beatsWeight += weight;
    this.#mustProbe ||= weight === 0;
  }

  /** Answers whose epoch is not the present one. */
  acksOfOtherEpochs(epoch: string | undefined): { epoch: string; syncVersion: number }[] {
    return this.#acks.filter((ack) => ack.epoch !== epoch);
  }

  /** Puts the answers whose version is reached, up to `bytesMax` and one; answers the weight taken off. */
  takeAcks({ epoch, syncVersion, total, digest }: Position, put: Put, bytesMax: number): number {
    let weight = 0;
    let bytes = 0;
    let taken = 0;
    for (const ack of this.#acks) {
      if (bytes >= bytesMax || ack.epoch !== epoch || ack.syncVersion > syncVersion) break;
      bytes += put({ t: 'acked', id: ack.id, items: [...ack.items], sync_version: syncVersion, total, digest });
      weight += ack.weight;
      taken++;
    }
    this.#acks.splice(0, taken);
    return weight;
  }

  takeBeats({ epoch, syncVersion, total, digest }: Position, put: Put): number {
    for (; this.#beats > 0; this.#beats--) put({ t: 'hb', epoch, sync_version: syncVersion, total, digest });
    const weight = this.#beatsWeight;
    this.#beatsWeight = 0;
    this.#mustProbe = false;
    return weight;
  }

  takeNotes(put: Put): number {
    let weight = 0;
    for (const note of this.#notes.splice(0)) {
      put(note.frame);
      weight += note.weight;
    }
    return weight;
  }
}
