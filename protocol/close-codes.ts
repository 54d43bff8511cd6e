// Close codes by range; the number alone decides what a client does, never the text.

export type ReconnectAdvice = 'now' | 'backoff' | 'new_token' | 'never';
export type CloseCode = keyof typeof closeCodes;
export type CloseInfo = { name: string; reason: string; reconnect: ReconnectAdvice };

export const closeCodes = {
  4000: { name: 'draining', reason: 'the node is going down', reconnect: 'now' },
  4001: { name: 'rebalance', reason: 'another node has more room', reconnect: 'now' },
  4100: { name: 'slow_consumer', reason: 'the client reads too slowly', reconnect: 'backoff' },
  4101: { name: 'heartbeat_missed', reason: 'nothing was heard from the client in time', reconnect: 'backoff' },
  4102: { name: 'overloaded', reason: 'the node is full at the moment', reconnect: 'backoff' },
  4103: { name: 'rate_limited', reason: 'too many frames or connections', reconnect: 'backoff' },
  4200: { name: 'token_expired', reason: 'the token has expired', reconnect: 'new_token' },
  4400: { name: 'protocol_error', reason: 'not a frame of the subprotocol', reconnect: 'never' },
  4401: { name: 'bad_token', reason: 'the token is not valid', reconnect: 'never' },
  4402: { name: 'revoked', reason: 'the session was ended by the server', reconnect: 'never' },
  4403: { name: 'forbidden_origin', reason: 'the origin is not allowed', reconnect: 'never' },
  4404: { name: 'replaced', reason: 'a newer connection of the same device', reconnect: 'never' },
  4405: { name: 'unsupported_version', reason: 'no common version of the protocol', reconnect: 'never' },
} as const satisfies Record<number, CloseInfo>;

/** What to do after a close: by the range of the code; 1000, 1001, 1006 and all unknown codes mean back-off. */
export function reconnectAdvice(code: number): ReconnectAdvice {
  if (code >= 4000 && code < 4100) return 'now';
  if (code >= 4200 && code < 4300) return 'new_token';
  if (code >= 4400 && code < 4500) return 'never';
  return 'backoff';
}
