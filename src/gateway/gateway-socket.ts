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

/**
 * A `ws` socket whose events go straight to its owner: thousands of these are idle most of the time, and a table of listeners would be
 * the largest part of each.
 */
export class GatewaySocket extends WebSocket {
  owner: SocketOwner | null = null;

  override emit(event: string | symbol, ...args: unknown[]): boolean {
    const { owner } = this;
    if (owner === null) return false;
    switch (event) {
      case 'message':
        owner.received(args[0] as Buffer, args[1] as boolean);
        return true;
      case 'ping':
        owner.controlled(args[0] as Buffer);
        return true;
      case 'pong':
        owner.controlled(null);
        return true;
      case 'close':
        owner.ended(args[0] as number);
        return true;
      default:
        // An error is followed by a close, and what there is to do about it is done there.
        return false;
    }
  }

  get isOpen(): boolean {
    return this.readyState === WebSocket.OPEN;
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
