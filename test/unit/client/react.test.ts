import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import {
  TidemarkProvider,
  useBadge,
  useConnection,
  useMentions,
  useTotalUnread,
  useUnread,
} from '../../../client/react.ts';
import { ClientWorld } from '../../support/client-world.ts';

function Numbers() {
  return [useUnread('c1'), useTotalUnread(), useBadge(), useMentions(), useMentions('c1'), useConnection().state].join(
    ' ',
  );
}

test('on a server all numbers are 0, whatever the client holds, and no socket is opened', async () => {
  const world = new ClientWorld();
  world.truth.create('c1', ['u1', 'u2']);
  world.truth.post('c1', 'u2', { mentions: ['u1'] });
  const held = await world.live('u1');
  expect(held.total()).toBe(1);
  const fresh = world.client('u1');
  for (const client of [held, fresh]) {
    expect(renderToString(createElement(TidemarkProvider, { client }, createElement(Numbers)))).toBe('0 0 0 0 0 idle');
  }
  expect(fresh.state).toBe('idle');
  expect(world.network.opened).toBe(1);
  await held.close();
});

test('a hook without a provider says so', () => {
  expect(() => renderToString(createElement(Numbers))).toThrow('there is no TidemarkProvider above');
});
