import { describe, expect, test } from 'vitest';
import {
  digestOf,
  formatDigest,
  initialState,
  reconnect,
  reduce,
  requestSync,
  restoredState,
} from '../../../protocol/index.ts';
import type { ServerFrame } from '../../../protocol/index.ts';
import { EPOCH, row, delta, answer, page, beat, held, live, play, causes, unread } from './device-frames.ts';

describe('asking', () => {
  test('[CD5] the first wish is for at once, further ones wait longer until the sums are found equal', () => {
    const delays: number[] = [];
    let state = live();
    for (let i = 0; i < 9; i++) {
      const step = play(state, beat(4, held));
      delays.push(...step.actions.map(({ delayMs }) => delayMs));
      state = play(requestSync(step.state).state, answer('noop', 2, held)).state;
    }
    expect(delays).toEqual([0, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
    expect(play(state, beat(3, held), beat(4, held)).actions[0]?.delayMs).toBe(0);
  });

  test('[CD5] while a wish or a question is open there is no second one', () => {
    const wanted = play(live(), beat(4, held)).state;
    expect(wanted.sync).toBe('wanted');
    expect(causes(play(wanted, delta(9, 10, held, held)))).toEqual([]);
    const asked = requestSync(wanted).state;
    expect(asked.sync).toBe('asked');
    expect(causes(play(asked, delta(9, 10, held, held)))).toEqual([]);
  });

  test('[CD3] nothing is taken before welcome', () => {
    const fresh = restoredState({ epoch: EPOCH, syncVersion: 3, rows: held });
    for (const frame of [delta(3, 4, [row('a', 4, 1)], held), page(1, 5, held, held), beat(3, held)]) {
      const step = reduce(fresh, frame);
      expect(step.state).toMatchObject({ syncVersion: 3, sync: 'wanted' });
      expect(unread(step.state)).toEqual({ a: 2, b: 3 });
    }
  });
});

describe('connections', () => {
  test('[SY2] the first hello has no cursor', () => {
    expect(reconnect(initialState()).hello).toEqual({ cursor: null });
  });

  test('[CD2] hello names what is shown, with the digest of these very rows', () => {
    expect(reconnect(live()).hello).toEqual({
      cursor: { epoch: EPOCH, sync_version: 3 },
      digest: formatDigest(digestOf(held)),
    });
  });

  test('[CD2] a stored copy is summed up anew, tombstones left out', () => {
    const rows = [...held, row('c', 1, 0, { gone: true })];
    const state = restoredState({ epoch: EPOCH, syncVersion: 3, rows });
    expect(state).toMatchObject({ total: 5, badge: 5, mentions: 0, own: { digest: digestOf(held) } });
    expect(state.rows.size).toBe(2);
  });

  test('[CD6] an unfinished catch-up is gone on with; without a digest, since what is shown is older', () => {
    const end = [row('a', 4, 9), row('b', 5, 9)];
    const { state } = play(live(), answer('delta', 5, end), delta(3, 4, [row('a', 4, 9)], end));
    const dialled = reconnect(state);
    expect(dialled.hello).toEqual({ cursor: { epoch: EPOCH, sync_version: 4 } });
    const done = play(dialled.state, answer('delta', 5, end), delta(4, 5, [row('b', 5, 9)], end));
    expect(done.state).toMatchObject({ syncVersion: 5, total: 18, sync: 'idle' });
  });

  test('[CD6] a catch-up that has become a noop is shown', () => {
    const end = [row('a', 4, 9), row('b', 3, 3)];
    const { state } = play(live(), answer('delta', 5, end), delta(3, 4, [row('a', 4, 9)], end));
    const done = play(reconnect(state).state, answer('noop', 4, end));
    expect(done.actions).toEqual([]);
    expect(done.state).toMatchObject({ syncVersion: 4, total: 12, catchup: null });
  });

  test('[SY6][CD6] an unfinished snapshot names its next page, and is dropped when the server answers otherwise', () => {
    const all = [row('a', 5, 1), row('b', 5, 1)];
    const { state } = play(live(), answer('snapshot', 5, all), page(1, 5, [row('a', 5, 1)], all, 'p2'));
    const dialled = reconnect(state);
    expect(dialled.hello).toMatchObject({ cursor: { epoch: EPOCH, sync_version: 3 }, page: 'p2' });
    const done = play(dialled.state, answer('delta', 5, all), delta(3, 5, all, all));
    expect(done.state).toMatchObject({ syncVersion: 5, total: 2, snapshot: null });
  });

  test('[SY6] what was collected is not taken over into a snapshot of another version', () => {
    const all = [row('a', 5, 1), row('b', 5, 1)];
    const { state } = play(live(), answer('snapshot', 5, all), page(1, 5, [row('a', 5, 1)], all, 'p2'));
    const newer = [row('b', 6, 4)];
    const welcome = {
      ...answer('snapshot', 6, newer),
      t: 'welcome',
      conn: 'c',
      user: 'u',
      heartbeat_ms: 1,
    } as ServerFrame;
    expect(causes(play(reconnect(state).state, welcome, page(2, 6, newer, newer)))).toEqual(['page']);
    const elsewhere = { ...welcome, epoch: 'p0Lw8sRa', sync_version: 5 } as ServerFrame;
    const second = { ...page(2, 5, newer, newer), epoch: 'p0Lw8sRa' };
    expect(causes(play(reconnect(state).state, elsewhere, second))).toEqual(['page']);
    const anew = play(reconnect(state).state, welcome, page(1, 6, newer, newer));
    expect(anew.actions).toEqual([]);
    expect(unread(anew.state)).toEqual({ b: 4 });
  });
});
