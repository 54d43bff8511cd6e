import { expect, test } from 'vitest';
import { fingerprintText } from '../../../../src/core/ingest/fingerprint.ts';
import type { Event } from '../../../../protocol/index.ts';
import { created, dissolved, edited, joined, left, message, purged, recalled } from '../../../support/events.ts';

const of = (event: Event) => fingerprintText({ ...event, event_id: 'e1' });

test('[DT8] says what the event says, not how', () => {
  const plain = of(message('m1', 'ann'));
  const spelledOut = { countable: true, mentions: [], mention_all: false, sender_read: false, members: [] };
  expect(of(message('m1', 'ann', spelledOut))).toBe(plain);
  expect(of(message('m1', 'ann', { sent_at: 17 }))).toBe(plain);
  expect(of(joined(['ann', 'ben', 'ann']))).toBe(of(joined(['ben', 'ann'])));
});

test('[DT8] differs where the event does', () => {
  const events: Event[] = [
    created(['ann']),
    created(['ben']),
    created(['ann'], { conv: 'c2' }),
    message('m1', 'ann'),
    message('m2', 'ann'),
    message('m1', 'ben'),
    message('m1', 'ann', { countable: false }),
    message('m1', 'ann', { mentions: ['ben'] }),
    message('m1', 'ann', { mention_all: true }),
    message('m1', 'ann', { sender_read: true }),
    message('m1', 'ann', { seq: 1 }),
    message('m1', 'ann', { members: ['ben'] }),
    recalled('m1'),
    recalled(1),
    edited('m1'),
    edited(1),
    edited('m1', { mentions: [] }),
    edited('m1', { mention_all: false }),
    edited('m1', { countable: true }),
    joined(['ann']),
    joined(['ann'], { member_version: 1 }),
    left(['ann']),
    dissolved(),
    purged(1),
    purged(2),
  ];
  expect(new Set(events.map(of)).size).toBe(events.length);
});

test('[DT8] is nothing for an event without event_id', () => {
  expect(fingerprintText(message('m1', 'ann'))).toBe('');
});
