import { expect, test } from 'vitest';
import { msgpackCodec } from '../../client/msgpack.ts';
import { acrossTabs } from '../../client/tabs/across-tabs.ts';
import { countedIn, shownOf, signedToken, startProduct, until } from '../support/product.ts';

test('[AK7][SY9] a tab that follows takes a mark away whose head has moved unseen; the socket may be compact', async () => {
  const product = await startProduct();
  const message = (id: string, sender: string) => ({
    type: 'message.created',
    conv: 'c1',
    message_id: id,
    sender,
    members: ['u1', 'u2'],
  });
  await product.post(message('a', 'u2'));
  const name = `tabs of ${product.url}`;
  let sockets = 0;
  class CountedSocket extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols);
      sockets++;
    }
  }
  const tab = () => {
    const own = { url: product.url, getToken: () => signedToken('u1'), WebSocket: CountedSocket, codec: msgpackCodec };
    return product.client('u1', acrossTabs(own, { name }));
  };
  const first = tab();
  await first.waitFor('live');
  const second = tab();
  await second.waitFor('live');
  second.markRead('c1');
  second.markUnread('c1');
  await until(second, () => second.pending().length === 0 && second.get('c1')?.marked === true);
  await product.post(message('own', 'u1'));
  second.markRead('c1');
  await until(second, () => second.pending().length === 0);
  await until(first, () => first.get('c1')?.marked === false);
  for (const one of [first, second]) expect(shownOf(one)).toEqual(countedIn(await product.unread('u1')));
  expect(second.get('c1')).toMatchObject({ marked: false, readSeq: 2, headSeq: 2 });
  expect(sockets).toBe(1);
});
