import type { IncomingMessage } from 'node:http';
import { isIPv4 } from 'node:net';

/** Who asks for a page: the person at the machine that the server runs on, or anybody else. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

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
