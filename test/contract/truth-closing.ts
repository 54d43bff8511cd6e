import { setImmediate as tick } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Unavailable } from '../../src/errors.ts';
import type { Truth } from '../../src/ports.ts';
import { conversationFacts, store } from '../support/truth-facts.ts';

export function truthClosing(open: () => Promise<Truth>): void {
  describe('closing', () => {
    test('waits for what was asked for before, and refuses what comes after', async () => {
      const truth = await open();
      const slow = truth.transact(async (tx) => {
        await tick();
        await tx.store({ conversations: [conversationFacts({ conv: 'slow' })] });
        await tick();
        return tx.rows([{ conv: 'slow', user: 'u' }]);
      });
      const queued = store(truth, {
        conversations: [conversationFacts({ conv: 'queued' })],
        outbox: [{ conv: 'queued', user: null }],
      });
      const closed = truth.close();
      await expect(truth.transact(async () => 'never')).rejects.toThrow(Unavailable);
      expect(await slow).toHaveLength(1);
      expect(await queued).toHaveLength(1);
      await closed;

      await expect(truth.ping()).rejects.toThrow(Unavailable);
      await expect(truth.rowsOfUser('u')).rejects.toThrow(Unavailable);
      await expect(store(truth, {})).rejects.toThrow(Unavailable);
      // Once is enough, twice does no harm.
      await truth.close();
    });
  });
}
