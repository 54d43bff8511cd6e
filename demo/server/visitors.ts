import { createHash } from 'node:crypto';
import type { Random } from '../../src/ports.ts';

/**
 * Who may see the demo. It hands out tokens and takes events, so it is for the person who started the server and for nobody else:
 * the connection comes from this machine, names this machine as host (a foreign page that had its name resolved to 127.0.0.1 does
 * not), came through no proxy, and shows the cookie that the one-time link of the log was exchanged for.
 */
export interface Visitors {
  /** The key of a new link. Links that were not used yet stay good, up to a limit. */
  invite(): string;
  /** Takes the key of a link, once; answers the id of a new session, or null. */
  enter(key: string): string | null;
  isKnown(session: string): boolean;
}

const TOKEN_LENGTH = 32;
/** The oldest are forgotten. */
const INVITATIONS_MAX = 8;
const SESSIONS_MAX = 32;

export function createVisitors(random: Random): Visitors {
  // Held as hashes: how long a look-up takes tells nothing about a key.
  const invitations = new Set<string>();
  const sessions = new Set<string>();
  const issue = (held: Set<string>, max: number): string => {
    const token = random.token(TOKEN_LENGTH);
    held.add(hashOf(token));
    for (const oldest of held) {
      if (held.size <= max) break;
      held.delete(oldest);
    }
    return token;
  };
  return {
    invite: () => issue(invitations, INVITATIONS_MAX),
    enter: (key) => (invitations.delete(hashOf(key)) ? issue(sessions, SESSIONS_MAX) : null),
    isKnown: (session) => sessions.has(hashOf(session)),
  };
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}
