import { expect, test } from 'vitest';
import { createBackoff } from '../../../client/backoff.ts';
import * as ours from '../../../client/limits.ts';
import { limits } from '../../../protocol/limits.ts';

test('full jitter between 0.5 s and a ceiling that doubles up to 30 s', () => {
  const lowest = createBackoff(() => 0);
  const highest = createBackoff(() => 1);
  for (const ceilingMs of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]) {
    expect(lowest.nextMs()).toBe(500);
    expect(highest.nextMs()).toBe(ceilingMs);
  }
  highest.reset();
  expect(highest.nextMs()).toBe(1_000);
});

test('at once is for the first time only', () => {
  const backoff = createBackoff(() => 1);
  expect(backoff.nextMs(true)).toBe(0);
  expect(backoff.nextMs(true)).toBe(2_000);
  backoff.reset();
  expect(backoff.nextMs(true)).toBe(0);
});

test('the limits are those of the protocol', () => {
  expect(ours).toMatchObject({
    ACK_ITEMS_MAX: limits.ackItemsMax,
    FRAME_BYTES_MAX: limits.frameBytesMax,
    ID_BYTES_MAX: limits.idBytesMax,
    RETRY_MS_MIN: limits.retryMsMin,
    RETRY_MS_MAX: limits.retryMsMax,
  });
});
