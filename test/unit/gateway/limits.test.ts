import { describe, expect, test } from 'vitest';
import { ConnectionLimits } from '../../../src/gateway/connection-limits.ts';
import { defaultGatewaySettings } from '../../../src/gateway/deps.ts';
import { messageFrame } from '../../../src/gateway/frame-bytes.ts';
import { FrameRate } from '../../../src/gateway/frame-rate.ts';

describe('frame bytes (RFC 6455 §5.2)', () => {
  test.each([
    [0, [0x81, 0]],
    [125, [0x81, 125]],
    [126, [0x81, 126, 0, 126]],
    [65_535, [0x81, 126, 0xff, 0xff]],
    [65_536, [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]],
  ])('a text of %i bytes', (length, header) => {
    const frame = messageFrame('x'.repeat(length));
    expect([...frame.subarray(0, header.length)]).toEqual(header);
    expect(frame.subarray(header.length).toString()).toBe('x'.repeat(length));
  });

  test('lengths are of bytes, not of letters; bytes make a binary message', () => {
    expect([...messageFrame('群')]).toEqual([0x81, 3, 0xe7, 0xbe, 0xa4]);
    expect([...messageFrame(Uint8Array.of(1, 2))]).toEqual([0x82, 2, 1, 2]);
  });
});

describe('frame rate', () => {
  /** One socket at that rate. */
  function socketAt(rate: FrameRate, openedAtMs: number) {
    let dueMs = openedAtMs;
    return {
      take(nowMs: number): number {
        dueMs = rate.afterFrame(dueMs, nowMs);
        return rate.owedMs(dueMs, nowMs);
      },
      owedMs: (nowMs: number): number => rate.owedMs(dueMs, nowMs),
    };
  }

  test('a burst passes, then the rate; debts are paid in time', () => {
    const socket = socketAt(new FrameRate(5, 100), 0);
    expect(Array.from({ length: 5 }, () => socket.take(0))).toEqual([0, 0, 0, 0, 0]);
    expect([socket.take(0), socket.take(0)]).toEqual([10, 20]);
    expect([socket.owedMs(10), socket.owedMs(20)]).toEqual([10, 0]);
    expect(socket.take(30)).toBe(0);
  });

  test('nothing is saved beyond the burst', () => {
    const socket = socketAt(new FrameRate(2, 100), 1000);
    expect([socket.take(1_000_000), socket.take(1_000_000), socket.take(1_000_000)]).toEqual([0, 0, 10]);
  });

  test('the defaults let 500 frames in every second through', () => {
    const { framesBurst, framesPerSecond } = defaultGatewaySettings;
    const socket = socketAt(new FrameRate(framesBurst, framesPerSecond), 0);
    for (let second = 0; second < 60; second++) {
      const waits = Array.from({ length: 500 }, () => socket.take(second * 1000));
      expect(Math.max(...waits)).toBe(0);
    }
  });
});

describe('connection limits', () => {
  function enter(limits: ConnectionLimits, address: string): string {
    const refusal = limits.refusal(address);
    if (refusal === null) limits.enter(address);
    return refusal ?? 'ok';
  }

  test('of the node, and of one address; places are given back', () => {
    const limits = new ConnectionLimits(3, 2);
    expect(['1.2.3.4', '1.2.3.4', '1.2.3.4', '5.6.7.8', '9.9.9.9'].map((a) => enter(limits, a))).toEqual([
      'ok',
      'ok',
      'address_full',
      'ok',
      'node_full',
    ]);
    limits.leave('1.2.3.4');
    expect([limits.count, enter(limits, '1.2.3.4'), enter(limits, '9.9.9.9')]).toEqual([2, 'ok', 'node_full']);
  });

  test('an IPv6 subscriber is one /64, however it is written; mapped IPv4 is IPv4', () => {
    const same = ['2001:db8:1:2::1', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2:ffff::'];
    const limits = new ConnectionLimits(100, 1);
    expect(same.map((address) => enter(limits, address))).toEqual(['ok', 'address_full', 'address_full']);
    expect(['2001:db8:1:3::1', 'fe80::1', '::2', '1::'].map((address) => enter(limits, address))).toEqual([
      'ok',
      'ok',
      'ok',
      'ok',
    ]);
    expect([enter(limits, '1.2.3.4'), enter(limits, '::ffff:1.2.3.4')]).toEqual(['ok', 'address_full']);
  });

  test('loopback counts for the node alone', () => {
    const limits = new ConnectionLimits(5, 1);
    const addresses = ['127.0.0.1', '127.0.0.1', '::1', '::ffff:127.0.0.1', '', '127.9.9.9'];
    expect(addresses.map((address) => enter(limits, address))).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', 'node_full']);
    for (const address of addresses.slice(0, 5)) limits.leave(address);
    expect(limits.count).toBe(0);
  });
});
