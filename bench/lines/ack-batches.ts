import { inTurn, type Line } from '../line.ts';
import { openBenchMysql } from '../mysql.ts';
import { MARIADB } from '../need.ts';

const CONNECTIONS = 8;
const USERS = 500;
/** Of one conversation, on their way at once: what a device sends that scrolls through it, a fiftieth of what it may send in a second. */
const FRAMES = 10;
const STEP = 2;
const CONVS = ['one', 'two', 'three', 'four', 'five'];
const MESSAGES = 5000;
const PLAIN = 1000;

/** ARCHITECTURE, truth and state: the highest of the acks of a conversation, and those of many users in one transaction, which also derives their rows. */
export const ackBatches: Line = {
  name: 'acks into truth, MariaDB',
  what: `acks a second, ${FRAMES} of each conversation on their way at once, against one UPDATE an ack on ${CONNECTIONS} connections`,
  budget: { kind: 'at least', bound: 8, unit: '× the acks a second' },
  needs: [MARIADB],
  async run() {
    const mysql = await openBenchMysql();
    const { post } = mysql.services;
    const users = Array.from({ length: USERS }, (_, n) => `user-${n}`);
    for (const conv of CONVS) {
      await post.post([{ type: 'conversation.created', conv, members: users }]);
      for (let i = 0; i < MESSAGES; i += 500) {
        const messages = Array.from({ length: 500 }, (_, n) => ({
          type: 'message.created',
          conv,
          message_id: `m${i + n}`,
          sender: 'somebody',
        }));
        await post.post(messages);
      }
    }
    await post.settled();
    const connections = await mysql.connect(CONNECTIONS);

    for (const user of users) await mysql.services.sync.view(user);

    // Each round reads on by a little, everywhere.
    let seq = 0;
    const ours = (framesAtOnce: number) => async (): Promise<void> => {
      const frames = Array.from({ length: framesAtOnce }, (_, n) => seq + (n + 1) * STEP);
      seq = frames.at(-1) ?? seq;
      await Promise.all(
        users.flatMap((user) =>
          frames.map(async (to) => {
            const items = CONVS.map((conv) => ({ conv, seq: to }));
            const answer = await mysql.services.commands.ack(user, items);
            if (answer.items.some(({ status }) => status !== 'applied')) throw new Error('an ack was not applied');
          }),
        ),
      );
    };
    await connections[0]?.query(
      'CREATE TABLE plain_watermarks ENGINE = InnoDB SELECT user, conv, read_seq FROM memberships WHERE member = 1',
    );
    await connections[0]?.query('ALTER TABLE plain_watermarks ADD PRIMARY KEY (user, conv)');
    const pairs = users.slice(0, PLAIN / CONVS.length).flatMap((user) => CONVS.map((conv) => ({ user, conv })));
    let plainSeq = 0;
    const plain = async (): Promise<void> => {
      plainSeq += STEP;
      await Promise.all(
        connections.map(async (connection, n) => {
          for (let i = n; i < pairs.length; i += CONNECTIONS) {
            const { user, conv } = pairs[i] as { user: string; conv: string };
            const sql = 'UPDATE plain_watermarks SET read_seq = GREATEST(read_seq, ?) WHERE user = ? AND conv = ?';
            await connection.execute(sql, [plainSeq, user, conv]);
          }
        }),
      );
    };
    const { aMs, bMs } = await inTurn(ours(FRAMES), plain);
    const alone = await inTurn(ours(1), plain);
    await mysql.close();
    const perS = (acks: number, ms: number): number => Math.round((acks / ms) * 1000);
    const [oursPerS, plainPerS] = [perS(USERS * CONVS.length * FRAMES, aMs), perS(PLAIN, bMs)];
    const ratioAlone = perS(USERS * CONVS.length, alone.aMs) / perS(PLAIN, alone.bMs);
    return {
      value: oursPerS / plainPerS,
      detail: `ours: ${oursPerS} acks/s · one UPDATE an ack: ${plainPerS} (medians) · one of each conversation at a time: ${ratioAlone.toFixed(1)} ×`,
    };
  },
};
