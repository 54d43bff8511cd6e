import { describe, expect, test } from 'vitest';
import { createAdmission } from '../../../src/api/admission.ts';
import { createPullRate } from '../../../src/api/pull-rate.ts';
import { Unavailable } from '../../../src/errors.ts';
import { noMetrics } from '../../../src/metrics.ts';
import { createHandClock } from '../../support/hand-clock.ts';

function refusal(run: () => void): Unavailable | null {
  try {
    run();
    return null;
  } catch (error) {
    if (error instanceof Unavailable) return error;
    throw error;
  }
}

describe('admission', () => {
  test('takes so many requests at once; whoever leaves makes room', () => {
    const admission = createAdmission({ requestsMax: 2, bytesMax: 100 }, noMetrics);
    const first = admission.enter();
    admission.enter();
    expect(refusal(() => admission.enter())).toMatchObject({ code: 'unavailable', retryMs: 1000 });
    first.leave();
    admission.enter();
    expect(admission.inFlight).toBe(2);
  });

  test('holds so many bytes at once over all requests, and forgets those of a request that has left', () => {
    const admission = createAdmission({ requestsMax: 10, bytesMax: 100 }, noMetrics);
    const [first, second] = [admission.enter(), admission.enter()];
    first.hold(60);
    second.hold(40);
    expect(refusal(() => second.hold(1))).toMatchObject({ code: 'unavailable' });
    first.leave();
    expect(refusal(() => second.hold(60))).toBeNull();
  });
});

describe('rate of pulls', () => {
  test('a burst of five seconds’ worth, then so many a second', async () => {
    const clock = createHandClock();
    const limit = createPullRate({ clock, metrics: noMetrics, perSecond: 2 });
    for (let i = 0; i < 10; i++) limit('u1');
    expect(refusal(() => limit('u1'))).toMatchObject({ code: 'rate_limited', retryMs: 500 });
    await clock.pass(500);
    limit('u1');
    expect(refusal(() => limit('u1'))).toMatchObject({ code: 'rate_limited' });
    await clock.pass(3_600_000);
    for (let i = 0; i < 10; i++) limit('u1');
    expect(refusal(() => limit('u1'))).not.toBeNull();
  });

  test('is each user’s own, and asking while refused does not make it longer', async () => {
    const clock = createHandClock();
    const limit = createPullRate({ clock, metrics: noMetrics, perSecond: 1 });
    for (let i = 0; i < 5; i++) limit('u1');
    for (let i = 0; i < 100; i++) expect(refusal(() => limit('u1'))).toMatchObject({ retryMs: 1000 });
    limit('u2');
    await clock.pass(1000);
    limit('u1');
  });
});
