import { eventsBody, limits } from '../../protocol/index.ts';
import type { Services } from '../services/services.ts';
import type { ReadBody, Route } from './route.ts';

/** Facts in: `POST /v1/events` (SPEC §12). */
export function eventRoutes({ post }: Pick<Services, 'post'>, readBody: ReadBody): Route[] {
  const list = { field: 'events', itemsMax: limits.eventsMax };
  return [
    {
      method: 'POST',
      path: '/v1/events',
      access: 'key',
      answer: async (c) => {
        const { events } = await readBody(c, eventsBody, list);
        return c.json({ results: await post.post(events, c.get('deadline')) });
      },
    },
  ];
}
