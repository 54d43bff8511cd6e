import { expect, test } from 'vitest';
import { transitions } from '../../../client/transitions.ts';
import type { State, StateEvent } from '../../../client/transitions.ts';

const EVENTS: StateEvent[] = [
  'connect',
  'disconnect',
  'welcomed',
  'verified',
  'doubted',
  'lost',
  'refused',
  'offline',
  'online',
];

/** Every cell, written out, in the order of EVENTS. */
const TABLE: Record<State, string> = {
  idle: 'connecting idle idle idle idle idle idle idle idle',
  connecting: 'connecting idle syncing live connecting connecting stopped offline connecting',
  syncing: 'syncing idle syncing live stale resuming stopped offline syncing',
  live: 'live idle syncing live stale resuming stopped offline live',
  stale: 'stale idle syncing live stale resuming stopped offline stale',
  resuming: 'resuming idle syncing live resuming resuming stopped offline resuming',
  offline: 'offline idle syncing live offline offline stopped offline resuming',
  stopped: 'connecting stopped stopped stopped stopped stopped stopped stopped stopped',
};

test('every state knows where every event leads', () => {
  const rows = Object.entries(transitions).map(([state, ways]) => [
    state,
    EVENTS.map((event) => ways[event]).join(' '),
  ]);
  expect(Object.fromEntries(rows)).toEqual(TABLE);
  for (const ways of Object.values(transitions)) expect(Object.keys(ways).toSorted()).toEqual(EVENTS.toSorted());
});

test('only what is verified becomes live, and only the app leaves stopped', () => {
  const ways = Object.entries(transitions).flatMap(([from, row]) =>
    Object.entries(row).map(([event, to]) => ({ from, event, to })),
  );
  const changes = ways.filter(({ from, to }) => from !== to);
  expect(new Set(changes.filter(({ to }) => to === 'live').map(({ event }) => event))).toEqual(new Set(['verified']));
  expect(changes.filter(({ from }) => from === 'stopped')).toEqual([
    { from: 'stopped', event: 'connect', to: 'connecting' },
  ]);
});
