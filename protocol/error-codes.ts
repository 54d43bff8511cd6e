// Every error code of frames and of the HTTP API. Programs decide by the code alone, never by the message.

export type ErrorCode = keyof typeof errorCodes;
export type ErrorInfo = {
  meaning: string;
  /** True: the same request may succeed later (after `retry_ms` where given). */
  retry: boolean;
  /** HTTP status where the code answers a whole request; absent where it only answers one event or one frame. */
  http?: number;
};

export const errorCodes = {
  invalid_field: { meaning: 'a field is missing, has the wrong type or a value out of range', retry: false, http: 400 },
  malformed_json: { meaning: 'the body is not JSON', retry: false, http: 400 },
  unknown_frame: { meaning: 'the frame type is not known', retry: false },
  unknown_event: { meaning: 'the event type is not known', retry: false },
  unknown_conversation: { meaning: 'no such conversation, or not one of this user', retry: false, http: 404 },
  conversation_dissolved: { meaning: 'the conversation has been dissolved', retry: false },
  unknown_message: { meaning: 'the seq is above the head of the conversation', retry: false },
  seq_taken: { meaning: 'another message has this seq', retry: false },
  event_id_conflict: { meaning: 'the event_id belongs to a different event', retry: false },
  stale_cursor: {
    meaning: 'the epoch is not the present one, or the version too old; sync first',
    retry: false,
    http: 409,
  },
  already_greeted: { meaning: 'a second hello on one socket', retry: false },
  unauthorized: { meaning: 'no valid key or token', retry: false, http: 401 },
  not_found: { meaning: 'no such path', retry: false, http: 404 },
  method_not_allowed: { meaning: 'the path does not know this method', retry: false, http: 405 },
  too_large: { meaning: 'the body or list is larger than allowed', retry: false, http: 413 },
  unsupported_encoding: { meaning: 'the body is compressed; it has to come as it is', retry: false, http: 415 },
  rate_limited: { meaning: 'too many requests; wait for retry_ms', retry: true, http: 429 },
  unavailable: {
    meaning: 'a store is away or slow for the moment; sent again, what was done already is not done twice',
    retry: true,
    http: 503,
  },
  internal: { meaning: 'a fault of the server; it has been logged', retry: true, http: 500 },
} as const satisfies Record<string, ErrorInfo>;
