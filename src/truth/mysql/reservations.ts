import { Bulk, remove } from './bulk.ts';
import type { Session } from './session.ts';

/**
 * What does not exist cannot be locked at READ COMMITTED, so it is made: a row that says "reserved", which nobody else sees before the
 * commit and which is gone again at the commit unless the transaction has stored the real one. Others who want the same key wait.
 */
export class Reservations {
  readonly #events = new Set<string>();
  readonly #conversations = new Set<string>();

  /**
   * All of them in one sorted statement, whether they exist or not: event ids are seldom known. Answers whether all were new, and so
   * nothing is to be read.
   */
  async events(session: Session, eventIds: readonly string[]): Promise<boolean> {
    const parts = await EVENTS.runOnce(
      session,
      eventIds.map((eventId) => [eventId]),
    );
    for (const eventId of eventIds) this.#events.add(eventId);
    return parts.every(({ given, rows }) => rows === given);
  }

  async conversations(session: Session, convs: readonly string[]): Promise<void> {
    await CONVERSATIONS.run(
      session,
      convs.map((conv) => [conv]),
    );
    for (const conv of convs) this.#conversations.add(conv);
  }

  /** What has been stored is no reservation any more. */
  stored(eventIds: readonly string[], convs: readonly string[]): void {
    for (const eventId of eventIds) this.#events.delete(eventId);
    for (const conv of convs) this.#conversations.delete(conv);
  }

  /** Before the commit. */
  async release(session: Session): Promise<void> {
    await UNUSED_EVENTS.run(
      session,
      [...this.#events].map((eventId) => [eventId]),
    );
    await UNUSED_CONVERSATIONS.run(
      session,
      [...this.#conversations].map((conv) => [conv]),
    );
  }
}

/** Never the time of an event, and last in the order in which event ids are trimmed. */
export const RESERVED_AT = Number.MAX_SAFE_INTEGER;
/** Never the rev of a conversation. */
export const RESERVED_REV = -1;

// Updating the key to itself changes nothing and locks the row.
const EVENTS = new Bulk(
  `(?, '', 0, ${RESERVED_AT})`,
  (rows) =>
    `INSERT INTO events (event_id, fingerprint, seq, accepted_at) VALUES ${rows} ON DUPLICATE KEY UPDATE event_id = VALUES(event_id)`,
);
const CONVERSATIONS = new Bulk(
  `(?, 0, 0, 0, ${RESERVED_REV}, 0, 0, 0, 0, 0, 0)`,
  (rows) => `INSERT INTO conversations VALUES ${rows} ON DUPLICATE KEY UPDATE conv = VALUES(conv)`,
);
const UNUSED_EVENTS = remove('events', 'PRIMARY', ['event_id'], `AND t.accepted_at = ${RESERVED_AT}`);
const UNUSED_CONVERSATIONS = remove('conversations', 'PRIMARY', ['conv'], `AND t.rev = ${RESERVED_REV}`);
