import type { AckedItem, ServerFrame } from '../../protocol/index.ts';
import { type Deadline, tooLate } from '../deadline.ts';
import type { StateHead } from '../ports.ts';
import { errorFrame } from './command-frames.ts';

/** Where the frames given to a socket end; total and digest belong to that version. */
export interface Position {
  readonly epoch: string;
  readonly syncVersion: number;
  readonly total: number;
  readonly digest: string;
}

/** The answer to a command. */
export interface AckToSend {
  readonly id: number;
  readonly items: readonly AckedItem[];
  /** Where the user stands with the effect in it. */
  readonly at: StateHead;
  readonly weight: number;
  readonly deadline: Deadline;
}

interface WaitingAck extends Omit<AckToSend, 'at'> {
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
  get firstAck(): Pick<WaitingAck, 'epoch' | 'syncVersion'> | null {
    return this.#acks[0] ?? null;
  }

  /** Whether a beat that nobody asked for is among those that wait: it is to make every peer that is alive send something. */
  get mustProbe(): boolean {
    return this.#mustProbe;
  }

  addAck({ id, items, at: { epoch, syncVersion }, weight, deadline }: AckToSend): void {
    this.#acks.push({ id, items, epoch, syncVersion, weight, deadline });
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

  /** In how many ms the first of the waiting answers is late; Infinity: none waits. */
  get acksLateInMs(): number {
    return this.#acks.reduce((leastMs, { deadline }) => Math.min(leastMs, deadline.leftMs), Infinity);
  }

  /** Answers that came, but whose version did not come here in time: the command is to be sent again. */
  refuseLateAcks(put: Put): number {
    let weight = 0;
    this.#acks = this.#acks.filter((ack) => {
      if (!ack.deadline.isOver) return true;
      put(errorFrame(tooLate(), ack.id));
      weight += ack.weight;
      return false;
    });
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
