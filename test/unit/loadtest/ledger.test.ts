import { describe, expect, test } from 'vitest';
import { Ledgers } from '../../../loadtest/ledger.ts';
import type { Row } from '../../../protocol/index.ts';

/** What the load tool counts on its own must be able to disagree with a server. */
function row(given: Partial<Row>): Row {
  return { conv: 'c', version: 1, unread: 0, mentions: 0, read_seq: 0, read_epoch: 0, head_seq: 0, ...given };
}

function ledgerOf(...senders: string[]): Ledgers {
  const ledgers = new Ledgers();
  ledgers.open('c');
  senders.forEach((sender, i) => ledgers.sent('c', i + 1, sender, i === 2 ? ['ann'] : []));
  return ledgers;
}

describe('ledger', () => {
  test('[CN1][CN4] counts what others sent above the watermark, by looking at each message', () => {
    const ledgers = ledgerOf('bob', 'ann', 'bob', 'bob');
    expect(ledgers.count('c', 'ann')).toEqual({ unread: 3, mentions: 1, readSeq: 0 });
    ledgers.read('c', 'ann', 3);
    ledgers.read('c', 'ann', 2);
    expect(ledgers.count('c', 'ann')).toEqual({ unread: 1, mentions: 0, readSeq: 3 });
    expect(ledgers.count('c', 'bob')).toEqual({ unread: 1, mentions: 0, readSeq: 0 });
  });

  test('[CN6] a message that was taken back counts for nobody', () => {
    const ledgers = ledgerOf('bob', 'bob');
    const message = ledgers.older('c', 1);
    expect(message?.seq).toBe(1);
    message!.isRecalled = true;
    expect(ledgers.count('c', 'ann').unread).toBe(1);
    expect(ledgers.older('c', 2)).toBeNull();
  });

  test('names what is wrong with a row, each of its numbers', () => {
    const ledgers = ledgerOf('bob', 'bob', 'bob');
    expect(ledgers.faultOf(row({ unread: 3, mentions: 1 }), 'ann')).toBeNull();
    for (const wrong of [{ unread: 2, mentions: 1 }, { unread: 3 }, { unread: 3, mentions: 1, read_seq: 1 }]) {
      expect(ledgers.faultOf(row(wrong), 'ann')).toMatch(/^c: \d unread, \d mentions, read up to \d, not 3, 1, 0$/);
    }
  });

  test('[CN8] a row may be capped at 999 only when there is more than that', () => {
    const many = ledgerOf(...Array.from({ length: 1000 }, () => 'bob'));
    expect(many.faultOf(row({ unread: 999, mentions: 1, capped: true }), 'ann')).toBeNull();
    expect(many.faultOf(row({ unread: 999, mentions: 1 }), 'ann')).not.toBeNull();
    expect(ledgerOf('bob').faultOf(row({ unread: 999, capped: true }), 'ann')).not.toBeNull();
  });
});
