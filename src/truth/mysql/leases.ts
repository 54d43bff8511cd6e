import type { Leases, Random } from '../../ports.ts';
import { NOW_MS } from './clock.ts';
import type { Session } from './session.ts';

/** The holder goes on, whoever comes after the end takes over, and for anybody else nothing changes. */
const HOLD = `
  INSERT INTO leases (name, holder, expires_at) VALUES (?, ?, ${NOW_MS} + ?)
  ON DUPLICATE KEY UPDATE
    holder = IF(holder = VALUES(holder) OR expires_at <= ${NOW_MS}, VALUES(holder), holder),
    expires_at = IF(holder = VALUES(holder), VALUES(expires_at), expires_at)`;
const KEEP = `UPDATE leases SET expires_at = ${NOW_MS} + ? WHERE name = ? AND holder = ?`;
const HOLDER = 'SELECT holder FROM leases WHERE name = ?';
const HOLDER_LENGTH = 16;

interface LeasesParts {
  readonly write: <T>(work: (session: Session) => Promise<T>) => Promise<T>;
  readonly random: Random;
}

/** Each opened truth is a holder of its own. */
export function createLeases({ write, random }: LeasesParts): Leases {
  const holder = random.token(HOLDER_LENGTH);
  const isHolder = async (session: Session, name: string): Promise<boolean> => {
    const [row] = await session.all(HOLDER, [name]);
    return row?.[0] === holder;
  };
  return {
    hold: (name, forMs) =>
      write(async (session) => {
        await session.run(HOLD, [name, holder, forMs]);
        return isHolder(session, name);
      }),
    keep: (name, forMs) =>
      write(async (session) => {
        await session.run(KEEP, [forMs, name, holder]);
        return isHolder(session, name);
      }),
  };
}
