import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { openSqliteTruth } from '../../src/truth/sqlite/open.ts';
import { tempFolder } from '../support/temp-folder.ts';

const WRITER = fileURLToPath(new URL('./truth-sqlite-writer.ts', import.meta.url));
const CONVS = ['one', 'two', 'three'];
/** After how many answers the process is killed, round by round, on one and the same file. */
const ROUNDS = [1, 2, 10, 144, 600, 1, 300];

test('a process killed at any moment has lost nothing it had answered, and left no half of a transaction', async () => {
  const file = join(tempFolder(), 'truth.db');
  const answered = new Map(CONVS.map((conv) => [conv, 0]));
  for (const answers of ROUNDS) {
    for (const [conv, seq] of await answersUntilKilled(file, answers)) {
      answered.set(conv, Math.max(seq, answered.get(conv) ?? 0));
    }
    const heads = await checkedHeads(file);
    for (const [conv, seq] of answered) {
      expect(heads.get(conv) ?? 0).toBeGreaterThanOrEqual(seq);
      // At most the one transaction more whose answer did not get out.
      expect(heads.get(conv) ?? 0).toBeLessThanOrEqual(seq + 1);
      answered.set(conv, heads.get(conv) ?? 0);
    }
  }
  expect(Math.min(...answered.values())).toBeGreaterThan(0);
});

async function answersUntilKilled(file: string, answers: number): Promise<[string, number][]> {
  const child = spawn(process.execPath, [WRITER, file, ...CONVS], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const got: [string, number][] = [];
  // Also reads what was in the pipe when the process died: those answers were given.
  for await (const line of createInterface(child.stdout)) {
    const [conv = '', seq = ''] = line.split(' ');
    got.push([conv, Number(seq)]);
    if (got.length === answers) child.kill('SIGKILL');
  }
  expect(await ended).toEqual([null, 'SIGKILL']);
  return got;
}

/** Opens what is left, checks that every message came with all that its transaction stored, and answers the heads. */
async function checkedHeads(file: string): Promise<Map<string, number>> {
  const truth = openSqliteTruth({ file });
  const heads = await truth.heads(CONVS);
  let messages = 0;
  for (const [conv, { headSeq, countable }] of heads) {
    messages += headSeq;
    expect(countable).toBe(headSeq);
    const seqs = Array.from({ length: headSeq }, (_, n) => n + 1);
    const facts = await truth.transact(async (tx) =>
      tx.load({
        conversations: [conv],
        memberships: [{ conv, user: 'ann' }],
        messagesById: seqs.map((seq) => ({ conv, messageId: `m${seq}` })),
        details: seqs.map((seq) => ({ conv, seq })),
        eventIds: seqs.map((seq) => `${conv}/${seq}`),
      }),
    );
    expect(facts.conversation(conv)?.rev).toBe(headSeq);
    expect(facts.membership(conv, 'ann')?.rev).toBe(headSeq);
    expect(seqs.filter((seq) => facts.messageById(conv, `m${seq}`)?.seq !== seq)).toEqual([]);
    expect(seqs.filter((seq) => facts.details(conv, seq).mentions[0] !== 'bob')).toEqual([]);
    expect(seqs.filter((seq) => facts.event(`${conv}/${seq}`)?.seq !== seq)).toEqual([]);
  }
  expect(await truth.outbox(0, messages + 1)).toHaveLength(messages);
  await truth.close();
  return new Map([...heads].map(([conv, { headSeq }]) => [conv, headSeq]));
}
