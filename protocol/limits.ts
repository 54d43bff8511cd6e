// What a peer can make grow, and how far. Bytes are bytes on the wire; times are milliseconds.

export const limits = {
  /** Largest frame a server takes before `welcome` and after it; a larger one closes with 4400. */
  frameBytesBeforeWelcomeMax: 4096,
  frameBytesMax: 65_536,
  idBytesMax: 128,
  tokenBytesMax: 4096,
  pageTokenBytesMax: 512,
  messageBytesMax: 1024,
  ackItemsMax: 200,
  /** Rows of one snapshot page; a client may ask for fewer by `max_rows`. */
  pageRowsMax: 200,
  pageRowsDefault: 100,
  /**
   * Rows of one delta. A version is never cut (SY7), so a change set that touches many rows goes out whole; a server
   * cuts a catch-up at `pageRowsDefault` rows, at the next border between versions.
   */
  deltaRowsMax: 100_000,
  eventsMax: 500,
  /** Users named by one event, by `members`, `users` or `mentions`. */
  eventUsersMax: 10_000,
  batchUsersMax: 500,
  batchConvsMax: 1000,
  checkItemsMax: 1000,
  reconcileUsersMax: 1000,
  /** Reported unread of a conversation above the group threshold ends here (CN8). */
  unreadCap: 999,
  groupThresholdDefault: 500,
  /** Explain lists so many counted seqs. */
  explainSeqsMax: 20,
  helloTimeoutMs: 10_000,
  heartbeatMsDefault: 25_000,
  /** A heartbeat may be so late before a client gives the socket up. */
  heartbeatSlackMs: 10_000,
  retryMsMin: 500,
  retryMsMax: 30_000,
} as const;
