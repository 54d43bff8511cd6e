import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AckItem } from '../../../protocol/index.ts';
import { CoreRun } from '../../support/core-run.ts';
import { created, message } from '../../support/events.ts';

const seqs = fc.array(fc.nat({ max: 14 }), { minLength: 1, maxLength: 8 });

/** Ten messages by two senders; ben has read to 3 and marked the conversation unread. */
function started(): CoreRun {
  const run = new CoreRun();
  run.post(created(['ann', 'ben']));
  run.post(...Array.from({ length: 10 }, (_, i) => message(`m${i}`, i % 3 === 0 ? 'ben' : 'ann')));
  run.ack('ben', { conv: 'c1', seq: 3 });
  run.mark({ user: 'ben', conv: 'c1' });
  return run;
}

function rowAfter(items: AckItem[], together: boolean) {
  const run = started();
  if (together) run.ack('ben', ...items);
  else for (const item of items) run.ack('ben', item);
  const row = run.row('ben', 'c1');
  return row && { ...row, memberRev: 0 };
}

test('[AK1][AK4][CN9] acks in any order, doubled, in one transaction or merged to their maximum end at one row', () => {
  fc.assert(
    fc.property(
      seqs.chain((list) =>
        fc.tuple(fc.constant(list), fc.shuffledSubarray([...list, ...list], { minLength: 2 * list.length })),
      ),
      fc.boolean(),
      ([list, shuffled], together) => {
        const itemOf = (seq: number): AckItem => ({ conv: 'c1', seq, read_epoch: 1 });
        const merged = rowAfter([itemOf(Math.max(...list))], false);
        expect(rowAfter(list.map(itemOf), false)).toEqual(merged);
        expect(rowAfter(shuffled.map(itemOf), together)).toEqual(merged);
      },
    ),
  );
});
