import { batchGetConvsBody, batchGetUsersBody, checkBody, limits, text } from '../../protocol/index.ts';
import type { Services } from '../services/services.ts';
import { pathId, queryFlag, queryRows, queryText } from './request-fields.ts';
import type { ReadBody, Route } from './route.ts';
import { unreadPage } from './unread-page.ts';

const PAGE_ROWS = { usual: 100, most: 1000 };
const cursor = text(1, limits.pageTokenBytesMax, 'a cursor');

/** Numbers out, for the app's own server (SPEC §12). */
export function unreadRoutes({ reads }: Pick<Services, 'reads'>, readBody: ReadBody): Route[] {
  return [
    {
      method: 'GET',
      path: '/v1/users/:user/unread',
      access: 'key',
      answer: async (c) => {
        const user = pathId(c, 'user');
        const page = {
          cursor: queryText(c, 'cursor', cursor),
          limit: queryRows(c, 'limit', PAGE_ROWS),
          unreadOnly: queryFlag(c, 'unread_only'),
        };
        return c.json(unreadPage(await reads.view(user), page));
      },
    },
    {
      method: 'POST',
      path: '/v1/unread:batchGet',
      access: 'key',
      answer: async (c) => {
        const list = { field: 'users', itemsMax: limits.batchUsersMax };
        const { users } = await readBody(c, batchGetUsersBody, list);
        return c.json({ users: await reads.totals(users, c.get('deadline')) });
      },
    },
    {
      method: 'POST',
      path: '/v1/users/:user/unread:batchGet',
      access: 'key',
      answer: async (c) => {
        const user = pathId(c, 'user');
        const list = { field: 'convs', itemsMax: limits.batchConvsMax };
        const { convs } = await readBody(c, batchGetConvsBody, list);
        return c.json(await reads.rows(user, convs));
      },
    },
    {
      method: 'POST',
      path: '/v1/conversations:check',
      access: 'key',
      answer: async (c) => {
        const list = { field: 'items', itemsMax: limits.checkItemsMax };
        const { items } = await readBody(c, checkBody, list);
        return c.json(await reads.check(items));
      },
    },
  ];
}
