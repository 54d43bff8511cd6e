import { afterAll, beforeAll, describe } from 'vitest';
import type { Truth } from '../../src/ports.ts';
import { truthClosing } from './truth-closing.ts';
import { truthHistories } from './truth-histories.ts';
import { truthIds } from './truth-ids.ts';
import { truthLedgers } from './truth-ledgers.ts';
import { truthLookUps } from './truth-look-ups.ts';
import { truthRows } from './truth-rows.ts';
import { truthTransactions } from './truth-transactions.ts';

/**
 * What every adapter of the truth port has to do, whatever it stands on. `open` gives an empty store of its own at each call; nearly all
 * tests share one, each under ids of its own, and none supposes that it is alone. The suite closes what it was given.
 */
export function truthContract(name: string, open: () => Promise<Truth>): void {
  describe(`truth contract: ${name}`, () => {
    let opened: Truth | null = null;
    const truth = (): Truth => {
      if (opened === null) throw new Error('the store is not open');
      return opened;
    };

    beforeAll(async () => {
      opened = await open();
    });
    afterAll(async () => opened?.close());

    truthTransactions(truth);
    truthIds(truth);
    truthLookUps(truth);
    truthRows(truth);
    truthHistories(truth);
    truthLedgers(truth);
    truthClosing(open);
  });
}
