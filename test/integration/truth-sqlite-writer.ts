/**
 * The process that truth-sqlite-kill.test.ts kills: posts for ever to the database named, several transactions in flight, and writes one
 * line for each answer it got: `conv seq`.
 */
import { writeSync } from 'node:fs';
import { setImmediate as tick } from 'node:timers/promises';
import type { Truth } from '../../src/ports.ts';
import { openSqliteTruth } from '../../src/truth/sqlite/open.ts';
import { conversationFacts, membershipFacts, messageFacts } from '../support/truth-facts.ts';

const STANDARD_OUTPUT = 1;
const [file = '', ...convs] = process.argv.slice(2);
const truth = openSqliteTruth({ file });
await Promise.all(convs.map(async (conv) => postForEver(truth, conv)));

async function postForEver(truth: Truth, conv: string): Promise<never> {
  for (;;) {
    const seq = await post(truth, conv);
    // Written at once and not when the event loop comes to it: it is the answer.
    writeSync(STANDARD_OUTPUT, `${conv} ${seq}\n`);
  }
}

/** Every table has a part in it, so that half of a transaction would show. */
async function post(truth: Truth, conv: string): Promise<number> {
  return truth.transact(async (tx) => {
    const facts = await tx.load({ conversations: [conv], lockConversations: true });
    const seq = (facts.conversation(conv)?.headSeq ?? 0) + 1;
    const sender = 'ann';
    await tx.store({
      conversations: [conversationFacts({ conv, headSeq: seq, headOrd: seq, rev: seq, activity: seq })],
      newMessages: [messageFacts({ conv, seq, sender })],
    });
    await tick();
    await tx.store({
      memberships: [membershipFacts({ conv, user: sender, ownOrd: seq, rev: seq })],
      mentions: [{ conv, seq, sender, users: ['bob'], all: false }],
      events: [{ eventId: `${conv}/${seq}`, fingerprint: 'f', seq, acceptedAt: seq }],
      outbox: [{ conv, user: null }],
    });
    return seq;
  });
}
