import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIPv4 } from 'node:net';
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
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

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

/** Whether the request was made on this machine, to a name of this machine, and not passed on by a proxy. */
export function isLocal({ socket, headers }: IncomingMessage): boolean {
  const { remoteAddress, localPort } = socket;
  const isFromHere = remoteAddress !== undefined && isLoopback(remoteAddress.replace(/^::ffff:/, ''));
  return isFromHere && isNameOfHere(headers.host, localPort) && FORWARDED.every((name) => headers[name] === undefined);
}

/** Pages of other ports are "same-site" for cookies, so a change of anything also needs the page's own origin. */
export function isFromThePage({ headers }: IncomingMessage): boolean {
  return headers.host !== undefined && headers.origin === `http://${headers.host}`;
}

function isNameOfHere(host: string | undefined, port: number | undefined): boolean {
  const [, name = '', given = '80'] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(host?.toLowerCase() ?? '') ?? [];
  return Number(given) === port && (name === 'localhost' || isLoopback(name.replace(/^\[(.*)\]$/, '$1')));
}

function isLoopback(address: string): boolean {
  return address === '::1' || (isIPv4(address) && address.startsWith('127.'));
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}
