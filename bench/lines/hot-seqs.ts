import { inTurn, type Line } from '../line.ts';
import { openBenchMysql } from '../mysql.ts';
import { MARIADB } from '../need.ts';
import { PLAIN_TABLES, sendAlone } from '../plain-messages.ts';

const CONNECTIONS = 8;
const OURS = 8000;
const PLAIN = 400;
/** Callers that wait for their answer at any moment, as message services do behind an API. */
const CALLERS = 1000;

/** ARCHITECTURE, truth and state: while one batch is in flight the next gathers, so that a hot row is locked once for many messages. */
export const hotSeqs: Line = {
  name: 'seqs of a hot conversation, MariaDB',
  what: `messages a second posted one by one, against one transaction a message on ${CONNECTIONS} connections`,
  budget: { kind: 'at least', bound: 15, unit: '× the messages a second' },
  needs: [MARIADB],
  async run() {
    const mysql = await openBenchMysql();
    const { post } = mysql.services;
    await post.post([{ type: 'conversation.created', conv: 'hot', members: ['ann', 'bob'] }]);
    const connections = await mysql.connect(CONNECTIONS);
    for (const table of PLAIN_TABLES) await connections[0]?.query(table);

    let next = 0;
    const ours = async (): Promise<void> => {
      const end = next + OURS;
      await Promise.all(
        Array.from({ length: CALLERS }, async () => {
          while (next < end) {
            const [result] = await post.post([
              { type: 'message.created', conv: 'hot', message_id: `m${next++}`, sender: 'ann' },
            ]);
            if (result?.ok !== true) throw new Error('a message was refused');
          }
        }),
      );
    };
    let nextPlain = 0;
    const plain = async (): Promise<void> => {
      const end = nextPlain + PLAIN;
      await Promise.all(
        connections.map(async (connection) => {
          while (nextPlain < end) await sendAlone(connection, `m${nextPlain++}`);
        }),
      );
    };
    const { aMs, bMs } = await inTurn(ours, plain);
    await mysql.close();
    const [oursPerS, plainPerS] = [(OURS / aMs) * 1000, (PLAIN / bMs) * 1000];
    return {
      value: oursPerS / plainPerS,
      detail: `ours: ${Math.round(oursPerS)} messages/s · one a transaction: ${Math.round(plainPerS)} (medians)`,
    };
  },
};
