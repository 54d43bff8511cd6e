import {
  type ClientState,
  initialState,
  reduce,
  requestSync,
  type ServerFrame,
  type Sync,
} from '../../protocol/index.ts';

/**
 * A device that runs the client's reducer and takes it as a fault of the server whenever that would have to ask for a repair. Only
 * impatience is none: heartbeats that come faster here than anywhere else while pages are under way.
 */
export class JudgedDevice {
  #state: ClientState = initialState();

  get state(): ClientState {
    return this.#state;
  }

  get isSettled(): boolean {
    return this.#state.snapshot === null && this.#state.catchup === null && this.#state.epoch !== null;
  }

  take(...frames: readonly ServerFrame[]): void {
    for (const frame of frames) {
      const { state, actions } = reduce(this.#state, frame);
      if (actions.some(({ cause }) => cause !== 'stalled')) {
        throw new Error(`the device would have to sync (${JSON.stringify(actions)}) after ${JSON.stringify(frame)}`);
      }
      this.#state = state;
    }
  }

  /** The frame that asks where we stand. */
  sync(): Sync {
    const { state, frame } = requestSync(this.#state);
    this.#state = state;
    return frame;
  }

  unread(conv: string): number | undefined {
    return this.#state.rows.get(conv)?.unread;
  }
}
