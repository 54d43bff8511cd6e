import { describe, expect, test } from 'vitest';
import { formatDigest } from '../../../protocol/digest.ts';
import { sumsOf } from '../../../protocol/row-sums.ts';
import type { Row } from '../../../protocol/server-frames.ts';
import { people, type Person } from '../../../demo/cast.ts';
import type { Standing } from '../../../demo/demo-api.ts';
import { compare, type CheckedDevice } from '../../../demo/page/checks.ts';

const [ann, bob] = people;
const ROW: Row = { conv: 'c', version: 7, unread: 3, mentions: 1, read_seq: 2, read_epoch: 0, head_seq: 5 };

interface Held {
  rows?: Row[];
  total?: number;
  syncVersion?: number;
  epoch?: string;
  state?: CheckedDevice['client']['state'];
  person?: Person;
}

function device({
  rows = [ROW],
  total,
  syncVersion = 7,
  epoch = 'e',
  state = 'live',
  person = ann,
}: Held = {}): CheckedDevice {
  const sums = sumsOf(rows);
  return {
    person,
    title: `${person.name}’s phone`,
    client: { state, total: () => total ?? sums.total, list: () => rows },
    standing: () => ({ epoch, syncVersion, sums }),
  };
}

function server(rows: Row[] = [ROW], wrong = 0): Standing {
  const { digest, ...sums } = sumsOf(rows);
  return { users: [{ user: ann.user, epoch: 'e', sync_version: 7, digest: formatDigest(digest), ...sums }], wrong };
}

describe('the checks of the strip', () => {
  test('devices that agree: sum and server for each, and each with the first, and the facts', () => {
    expect(compare([device(), device(), device()], server())).toEqual({ checks: 1 + 3 + 2 + 3, wrong: [], level: 3 });
  });

  test('to be behind is not to be wrong', () => {
    const behind = [device({ rows: [], syncVersion: 6 }), device({ rows: [], epoch: 'd' })];
    expect(compare(behind, server())).toEqual({ checks: 3, wrong: [], level: 0 });
  });

  test('devices that are away, or wait for an answer, are not compared', () => {
    const away = device({ rows: [], state: 'offline' });
    expect(compare([away, { ...device(), standing: () => null }], server())).toEqual({
      checks: 1,
      wrong: [],
      level: 0,
    });
  });

  test('a total that is not the sum of the rows is wrong', () => {
    expect(compare([device({ total: 4 })], server()).wrong).toEqual(['Ann’s phone shows 4, but its rows add up to 3']);
  });

  test('other rows at the same place are wrong, and other numbers than those of the server', () => {
    const other = { ...ROW, read_seq: 1 };
    const { wrong } = compare([device(), device({ rows: [other] })], server());
    expect(wrong).toEqual([
      'Ann’s phone and Ann’s phone hold different rows',
      'Ann’s phone holds other numbers than the server',
    ]);
  });

  test('people are not compared with each other', () => {
    expect(compare([device(), device({ rows: [], person: bob })], server()).wrong).toEqual([]);
  });

  test('what reconcile finds is wrong', () => {
    expect(compare([], server([ROW], 1)).wrong).toHaveLength(1);
  });
});
