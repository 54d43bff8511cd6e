import { type Embedded, makeConversation, openEmbedded, post } from '../embedded.ts';
import type { Line } from '../line.ts';

const SIZES = [2, 1000, 100_000];

/** CN8, ARCHITECTURE, counting: no member is touched when a message arrives, however many there are. */
export const groupSize: Line = {
  name: 'a message to 2, 1,000 and 100,000 members',
  what: 'SQL statements and rows of truth for one message; nobody is connected. The value is the number of different pairs.',
  budget: { kind: 'exactly', bound: 1, unit: 'different costs' },
  async run() {
    const embedded = openEmbedded();
    const costs: string[] = [];
    for (const size of SIZES) {
      const conv = `group-of-${size}`;
      await makeConversation(embedded, conv, size);
      // The second message finds the member list of a small conversation in memory, as every one after it does.
      await send(embedded, conv, 'first');
      embedded.counted.reset();
      await send(embedded, conv, 'second');
      costs.push(`${embedded.counted.statements} statements, ${embedded.counted.rows} rows`);
    }
    await embedded.close();
    const detail = SIZES.map((size, i) => `${size} members: ${costs[i]}`).join(' · ');
    return { value: new Set(costs).size, detail };
  },
};

function send(embedded: Embedded, conv: string, messageId: string): Promise<void> {
  return post(embedded, [{ type: 'message.created', conv, message_id: messageId, sender: 'u0' }]);
}
