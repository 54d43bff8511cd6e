import { openEmbedded, post } from '../embedded.ts';
import { inTurn, type Line } from '../line.ts';

const CONVERSATIONS = 1000;
const FEW = 5;
const MANY = 5000;

/** ARCHITECTURE, counting: ordinals, no scan. Building a user's state costs the same whatever is unread. */
export const coldUser: Line = {
  name: 'cold state of a user with 1,000 conversations',
  what: `time of a build from truth, ${MANY.toLocaleString('en')} against ${FEW} unread in each conversation`,
  budget: { kind: 'at most', bound: 1.2, unit: '× the time' },
  async run() {
    const embedded = openEmbedded();
    const conversations = Array.from({ length: CONVERSATIONS }, (_, i) => `c${i}`);
    for (const conv of conversations) {
      const created = { type: 'conversation.created', conv, members: ['few', 'many', 'sender'] };
      const messages = Array.from({ length: MANY }, (_, j) => ({
        type: 'message.created',
        conv,
        message_id: `m${j}`,
        sender: 'sender',
      }));
      await post(embedded, [created, ...messages]);
    }
    await embedded.services.commands.ack(
      'few',
      conversations.map((conv) => ({ conv, seq: MANY - FEW })),
    );
    const build = (user: string) => async () => {
      await embedded.state.drop(user);
      const view = await embedded.services.sync.view(user);
      const expected = CONVERSATIONS * (user === 'few' ? FEW : MANY);
      if (view.total !== expected) throw new Error(`a total of ${view.total}, not ${expected}`);
    };
    const { aMs, bMs } = await inTurn(build('many'), build('few'));
    await embedded.close();
    return {
      value: aMs / bMs,
      detail: `${MANY} unread: ${aMs.toFixed(1)} ms · ${FEW} unread: ${bMs.toFixed(1)} ms (medians)`,
    };
  },
};
