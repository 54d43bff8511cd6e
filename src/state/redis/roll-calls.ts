import type { InspectedDevice } from '../../../protocol/index.ts';
import type { Clock, RollCall } from '../../ports.ts';
import type { Reply } from './link.ts';

/** A node that takes longer is not waited for: it is under load, or going down. */
const ANSWER_WITHIN_MS = 300;

interface OpenCall {
  readonly devices: InspectedDevice[];
  answered: number;
  /** Not known before the store has said how many it told. */
  asked: number;
  done: () => void;
}

/**
 * Asks all nodes for their connections of a user. The store says how many nodes listen, this one among them, so that an answer is complete
 * as soon as all of them have spoken.
 */
export class RollCalls {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #ask: (user: string, call: number) => Promise<Reply>;
  readonly #open = new Map<number, OpenCall>();
  #calls = 0;

  constructor(clock: Pick<Clock, 'after'>, ask: (user: string, call: number) => Promise<Reply>) {
    this.#clock = clock;
    this.#ask = ask;
  }

  /** `own`: the connections on this node. */
  async call(user: string, own: readonly InspectedDevice[]): Promise<RollCall> {
    const id = this.#calls++;
    const { promise, resolve } = Promise.withResolvers<void>();
    const open: OpenCall = { devices: [...own], answered: 1, asked: Infinity, done: resolve };
    this.#open.set(id, open);
    const cancel = this.#clock.after(ANSWER_WITHIN_MS, resolve);
    try {
      open.asked = Math.max(1, Number(await this.#ask(user, id)));
      if (open.answered < open.asked) await promise;
    } finally {
      cancel();
      this.#open.delete(id);
    }
    const { devices, answered, asked } = open;
    return { devices, nodes: { asked: Math.max(asked, answered), answered } };
  }

  /** What another node says; too late for a call that is over. */
  answered(call: number, devices: readonly InspectedDevice[]): void {
    const open = this.#open.get(call);
    if (open === undefined) return;
    open.devices.push(...devices);
    open.answered++;
    if (open.answered >= open.asked) open.done();
  }
}
