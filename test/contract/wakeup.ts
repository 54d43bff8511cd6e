import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { InspectedDevice } from '../../protocol/index.ts';
import type { Change, LargeNotice, OpenedConnection, Wakeup } from '../../src/ports.ts';

/** Two nodes on one medium; the same object where there is only one process. */
export interface OpenWakeup {
  readonly sender: Wakeup;
  readonly receiver: Wakeup;
  close(): Promise<void>;
}

function change(user: string, syncVersion: number): Change {
  const sums = { total: 3, badge: 2, mentions: 1, digest: '0123456789ab' };
  const row = {
    conv: 'c "|" 会话',
    version: syncVersion,
    unread: 3,
    mentions: 1,
    read_seq: 2 ** 53 - 1,
    read_epoch: 1,
    head_seq: 9,
    muted: true,
  };
  return { user, epoch: 'epoch-1', baseVersion: syncVersion - 1, syncVersion, op: 'message', rows: [row], ...sums };
}

function device(conn: string): InspectedDevice {
  const told = { epoch: 'epoch-1', sync_version: 2 ** 53 - 1, total: 3, digest: '0123456789ab' };
  const times = { connected_ms: 5, beat_in_ms: 7, silent_ms: null };
  return { device: 'phone "|" 电话', conn, codec: 'tidemark.v1.json', ...times, queued_bytes: 0, told };
}

/** `conn`: of the one connection that it has, of ann. */
function recorder(conn: string) {
  const heard = {
    changes: [] as Change[],
    large: [] as LargeNotice[],
    disconnects: [] as [string, string | null][],
    opened: [] as OpenedConnection[],
  };
  return {
    ...heard,
    listener: {
      changes: (changes: readonly Change[]) => heard.changes.push(...changes),
      large: (notices: readonly LargeNotice[]) => heard.large.push(...notices),
      disconnect: (user: string, device: string | null) => heard.disconnects.push([user, device]),
      opened: (connections: readonly OpenedConnection[]) => heard.opened.push(...connections),
      devicesOf: (user: string) => (user === 'ann' ? [device(conn)] : []),
    },
  };
}

async function arrived(list: readonly unknown[], count: number): Promise<void> {
  await expect.poll(() => list.length, { interval: 5 }).toBeGreaterThanOrEqual(count);
}

/** What every Wakeup promises while nothing is lost; that it may lose anything is the caller's affair. */
export function wakeupContract(name: string, open: () => Promise<OpenWakeup>): void {
  describe(`wake-up contract: ${name}`, () => {
    let opened: OpenWakeup;
    const here = recorder('n1-a');
    const there = recorder('n2-b');
    const second = recorder('n2-c');
    beforeAll(async () => {
      opened = await open();
      opened.sender.subscribe(here.listener);
      opened.receiver.subscribe(there.listener);
      opened.receiver.subscribe(second.listener);
    });
    afterAll(async () => {
      await opened.close();
    });

    test('[AK5][SY3] changes reach every listener of every node once, whole and in the order published', async () => {
      const sent = [change('ann', 2), change('bob', 2), change('ann', 3)];
      await opened.sender.publishChanges(sent.slice(0, 2));
      await opened.sender.publishChanges(sent.slice(2));
      for (const { changes } of [here, there, second]) {
        await arrived(changes, 3);
        expect(changes).toEqual(sent);
      }
    });

    test('[CN8] notices of large conversations reach every node', async () => {
      const sent: LargeNotice[] = [
        { conv: 'a', rev: 5, op: 'message', newcomers: ['ann', 'bob'] },
        { conv: 'b', rev: 2 ** 53 - 1, op: 'recall', newcomers: [] },
      ];
      await opened.sender.publishLarge(sent);
      for (const { large } of [here, there, second]) {
        await arrived(large, 2);
        expect(large).toEqual(sent);
      }
    });

    test('a disconnect names the user, and the device or all of them', async () => {
      await opened.sender.publishDisconnect('ann', 'phone');
      await opened.sender.publishDisconnect('bob', null);
      for (const { disconnects } of [here, there, second]) {
        await arrived(disconnects, 2);
        expect(disconnects).toEqual([
          ['ann', 'phone'],
          ['bob', null],
        ]);
      }
    });

    test('connections that open are heard by all nodes in one order, the one that opened them included', async () => {
      const named = (conn: string, attempt: number | null) => ({ user: 'ann 会话', device: 'phone', conn, attempt });
      for (let n = 0; n < 20; n++) {
        await opened.sender.publishOpened([named(`a${n}`, null), named(`b${n}`, n)]);
        await opened.receiver.publishOpened([named(`c${n}`, 2 ** 53 - 1)]);
      }
      for (const one of [here, there, second]) await arrived(one.opened, 60);
      expect(here.opened).toHaveLength(60);
      expect(here.opened).toContainEqual(named('b7', 7));
      expect(there.opened).toEqual(here.opened);
      expect(second.opened).toEqual(here.opened);
    });

    test('a roll call names the connections of a user on all nodes', async () => {
      const asked = opened.sender === opened.receiver ? 1 : 2;
      for (const wakeup of [opened.sender, opened.receiver]) {
        const { devices, nodes } = await wakeup.rollCall('ann');
        const inOrder = devices.toSorted((a, b) => (a.conn < b.conn ? -1 : 1));
        expect(inOrder).toEqual(['n1-a', 'n2-b', 'n2-c'].map(device));
        expect(nodes).toEqual({ asked, answered: asked });
      }
      const answers = await Promise.all(['ann', 'nobody'].map((user) => opened.sender.rollCall(user)));
      expect(answers.map(({ devices }) => devices.length)).toEqual([3, 0]);
    });

    test('[SY9] nothing published is nothing heard', async () => {
      const before = there.changes.length + there.large.length;
      await opened.sender.publishChanges([]);
      await opened.sender.publishLarge([]);
      await opened.sender.publishChanges([change('last', 9)]);
      await arrived(there.changes, before - there.large.length + 1);
      expect(there.changes.at(-1)).toEqual(change('last', 9));
      expect(there.changes.length + there.large.length).toBe(before + 1);
    });
  });
}
