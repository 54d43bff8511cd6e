import { expect, test } from 'vitest';
import type { Event } from '../../../../protocol/index.ts';
import { ingestDetailsRequest, ingestRequest } from '../../../../src/core/ingest/request.ts';
import { CoreRun } from '../../../support/core-run.ts';
import { created, edited, joined, message, purged, recalled } from '../../../support/events.ts';

/** What a batch loads in the second place. */
function detailsOf(run: CoreRun, ...events: Event[]) {
  return ingestDetailsRequest(events, run.base.load(ingestRequest(events)));
}

function started(): CoreRun {
  const run = new CoreRun();
  run.post(created(['ann', 'ben']), message('m1', 'ann'), message('m9', 'ann', { seq: 9 }));
  return run;
}

test('events lock their conversations', () => {
  expect(ingestRequest([message('m1', 'ann', { event_id: 'e1', seq: 4, members: ['ben'] })])).toEqual({
    eventIds: ['e1'],
    conversations: ['c1'],
    lockConversations: true,
    memberships: [
      { conv: 'c1', user: 'ann' },
      { conv: 'c1', user: 'ben' },
    ],
    messagesById: [{ conv: 'c1', messageId: 'm1' }],
    messagesBySeq: [{ conv: 'c1', seq: 4 }],
    parked: [{ conv: 'c1', messageId: 'm1' }],
  });
});

test('messages of members, at the head, need one load', () => {
  const run = started();
  expect(detailsOf(run, message('m10', 'ann'), message('m11', 'ben', { seq: 12 }), message('m1', 'ann'))).toBeNull();
  expect(detailsOf(run, created(['ann', 'ben'], { conv: 'c2' }), purged(9), recalled('m77'))).toBeNull();
});

test('[OR3] places are asked for where a message is put in below the head, or a purge ends there', () => {
  const ownPlaces = [{ conv: 'c1', user: 'ben', seq: 5 }];
  expect(detailsOf(started(), message('m5', 'ben', { seq: 5 }), purged(3))).toEqual({
    details: [],
    places: [
      { conv: 'c1', seq: 5 },
      { conv: 'c1', seq: 3 },
    ],
    ownPlaces,
  });
});

test('[CN7] details are asked for of messages that are there', () => {
  const request = detailsOf(started(), edited('m1'), recalled(9), recalled('m77'));
  expect(request?.details).toEqual([
    { conv: 'c1', seq: 1 },
    { conv: 'c1', seq: 9 },
  ]);
});

test('[DT4] own ordinals are asked for of users without a membership row', () => {
  const request = detailsOf(started(), message('m10', 'bot'), joined(['ann', 'cat']));
  expect(request?.ownPlaces).toEqual([
    { conv: 'c1', user: 'bot', seq: 9 },
    { conv: 'c1', user: 'cat', seq: 9 },
  ]);
});
