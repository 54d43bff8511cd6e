/** What the writers of mysql-hot-writer.ts post: messages to 20 conversations, the same at every try. */
export const WRITERS = 32;
const CONVERSATIONS = 20;
export const MESSAGES_A_BATCH = 50;
export const CONVS = Array.from({ length: CONVERSATIONS }, (_, n) => `hot-${n}`);
export const MEMBERS = Array.from({ length: 6 }, (_, n) => `user-${n}`);

export interface HotMessage {
  readonly type: 'message.created';
  readonly conv: string;
  readonly message_id: string;
  readonly sender: string;
  readonly members?: readonly string[];
  readonly event_id?: string;
}

/** Five conversations, in an order that is another one for each batch; senders cross the conversations. */
export function batchOf(writer: number, batch: number): HotMessage[] {
  return Array.from({ length: MESSAGES_A_BATCH }, (_, n) => {
    const id = `${writer}-${batch}-${n}`;
    const conv = CONVS[(writer * 7 + batch * 3 + (n % 5) * (1 + (writer % 11))) % CONVERSATIONS] as string;
    const sender = MEMBERS[(writer + batch + n) % MEMBERS.length] as string;
    const message: HotMessage = { type: 'message.created', conv, message_id: id, sender };
    // The first to each conversation, since any writer may be the one that creates it.
    if (n < 5) return { ...message, members: MEMBERS };
    // Some carry ids of their own, which are locked before anything else.
    return n % 10 === 0 ? { ...message, event_id: id } : message;
  });
}
