import { WebSocket } from 'ws';

export interface SocketOwner {
  received(data: Buffer, isBinary: boolean): void;
  /** A ping, to be answered with the same data; null: a pong. */
  controlled(pingData: Buffer | null): void;
  /** What came is no WebSocket frame, too large, or no UTF-8; nothing can be read from the socket any more. */
  malformed(): void;
  /** The end, whoever wanted it; 1006 when the link broke. */
  ended(closeCode: number): void;
}

/** Why a socket is not being read from. */
export const Held = { greeting: 1, rate: 2, load: 4, leaving: 8 } as const;

/** A `ws` socket with shared listeners, and an owner in place of closures: thousands of these are idle most of the time. */
export class GatewaySocket extends WebSocket {
  owner: SocketOwner | null = null;
  #held = 0;

  adopt(owner: SocketOwner): void {
    this.owner = owner;
    this.on('message', onMessage);
    this.on('ping', onPing);
    this.on('pong', onPong);
    this.on('close', onClose);
    this.on('error', onError);
  }

  get isOpen(): boolean {
    return this.readyState === WebSocket.OPEN;
  }

  get isHeld(): boolean {
    return this.#held !== 0;
  }

  isHeldFor(reason: number): boolean {
    return (this.#held & reason) !== 0;
  }

  /** Stops reading until every reason is gone. What was read before is still handed over: at most one chunk of the network. */
  hold(reason: number): void {
    // A socket that is closing has to be read, or the end of it would never be seen.
    if (this.#held === 0 && this.isOpen) this.pause();
    this.#held |= reason;
  }

  release(reason: number): void {
    if (this.#held === 0) return;
    this.#held &= ~reason;
    if (this.#held === 0) this.resume();
  }

  /**
   * `ws` closes by itself, with a code of RFC 6455 and without a reason, when it cannot go on reading. This protocol has a code of its
   * own for that, and a `bye` that comes before it.
   */
  override close(code?: number, reason?: string | Buffer): void {
    const isReceiverError = code !== undefined && reason === undefined;
    if (isReceiverError && this.isOpen && this.owner !== null) this.owner.malformed();
    else super.close(code, reason);
  }
}

function onMessage(this: WebSocket, data: Buffer, isBinary: boolean): void {
  (this as GatewaySocket).owner?.received(data, isBinary);
}

function onPing(this: WebSocket, data: Buffer): void {
  (this as GatewaySocket).owner?.controlled(data);
}

function onPong(this: WebSocket): void {
  (this as GatewaySocket).owner?.controlled(null);
}

function onClose(this: WebSocket, code: number): void {
  (this as GatewaySocket).owner?.ended(code);
}

/** A listener, so that an error of one socket stays its own affair; what there is to do about it is done in `close`. */
function onError(): void {}
