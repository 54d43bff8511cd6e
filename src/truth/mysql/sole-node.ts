import { createHash } from 'node:crypto';
import { DatabaseError } from './database-error.ts';
import { Pool } from './pool.ts';

/** A node that was killed is gone for the server as soon as its connection breaks. */
const CLAIM_WAIT_S = 5;
/** The server closes connections that say nothing for so long: a year, its maximum. */
const IDLE_S = 31_536_000;
const ENDLESS = { signal: new AbortController().signal, answered: () => {} };

export interface SoleNode {
  release(): Promise<void>;
}

/**
 * Makes this node the only one on its database: two that keep the state in their own memory would not hear of each other's changes.
 * It holds as long as its connection lives, so it finds a wrong set-up at the start and is no fence. Throws DatabaseError ('shared').
 */
export async function claimSoleNode(url: string): Promise<SoleNode> {
  const pool = new Pool({ url, greeting: [`SET SESSION wait_timeout = ${IDLE_S}`], connectionsMax: 1 });
  try {
    const session = await pool.acquire(ENDLESS);
    const [row] = await session.all('SELECT DATABASE()', []);
    // Locks by name are the server's, not the database's, and have at most 64 characters.
    const name = `tidemark-sole-${createHash('sha1').update(String(row?.[0])).digest('hex')}`;
    const [claimed] = await session.all('SELECT GET_LOCK(?, ?)', [name, CLAIM_WAIT_S]);
    if (claimed?.[0] !== 1) {
      throw new DatabaseError(
        'shared',
        'another node uses this database, and without TIDEMARK_REDIS_URL there can be only one',
      );
    }
  } catch (error) {
    await pool.end();
    throw error;
  }
  return { release: () => pool.end() };
}
