import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { isLocal } from '../../../pages/server/local-request.ts';

function asked(remoteAddress: string | undefined, headers: Record<string, string>, localPort = 8080): boolean {
  return isLocal({ socket: { remoteAddress, localPort }, headers } as unknown as IncomingMessage);
}

describe('who is local', () => {
  test('this machine by any of its names', () => {
    const hosts = ['127.0.0.1:8080', 'localhost:8080', 'LOCALHOST:8080', '[::1]:8080'];
    for (const address of ['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1']) {
      expect(hosts.filter((host) => asked(address, { host }))).toEqual(hosts);
    }
    expect(asked('127.0.0.1', { host: 'localhost' }, 80)).toBe(true);
  });

  test('another machine is not, whatever it calls this one', () => {
    const addresses = ['10.0.0.1', '::ffff:10.0.0.1', '2001:db8::1', '', undefined];
    expect(addresses.filter((address) => asked(address, { host: 'localhost:8080' }))).toEqual([]);
  });

  test('a name that only resolves to this machine is not', () => {
    const foreign = [
      'evil.example:8080',
      'localhost.evil.example:8080',
      '127.0.0.1.nip.example:8080',
      'a@localhost:8080',
    ];
    const faulty = ['localhost:81', 'localhost', 'localhost:8080:8080', '[::1', '127.0.0.1:80808', ''];
    expect([...foreign, ...faulty].filter((host) => asked('127.0.0.1', { host }))).toEqual([]);
    expect(asked('127.0.0.1', {})).toBe(false);
  });

  test('what a proxy passes on is not', () => {
    const names = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];
    expect(names.filter((name) => asked('127.0.0.1', { host: 'localhost:8080', [name]: 'x' }))).toEqual([]);
  });
});
