import { disconnectBody, limits, reconcileBody } from '../../protocol/index.ts';
import type { Services } from '../services/services.ts';
import { pathId } from './request-fields.ts';
import type { ReadBody, Route } from './route.ts';

export interface CareDeps extends Pick<Services, 'explain' | 'reconcile'> {
  /** Closes the sockets of a user, or of one device, with 4402, on every node. */
  readonly disconnect: (user: string, device: string | null) => Promise<void>;
}

/** What support and operators do: say why, put right, log out (SPEC §12). */
export function careRoutes({ explain, reconcile, disconnect }: CareDeps, readBody: ReadBody): Route[] {
  return [
    {
      method: 'GET',
      path: '/v1/users/:user/conversations/:conv/explain',
      access: 'key',
      answer: async (c) => c.json(await explain.explain(pathId(c, 'user'), pathId(c, 'conv'), c.get('deadline'))),
    },
    {
      method: 'POST',
      path: '/v1/reconcile',
      access: 'key',
      answer: async (c) => {
        const list = { field: 'users', itemsMax: limits.reconcileUsersMax };
        const { users, repair } = await readBody(c, reconcileBody, list);
        return c.json(await reconcile.run({ users, repair }, c.get('deadline')));
      },
    },
    {
      method: 'POST',
      path: '/v1/users/:user/disconnect',
      access: 'key',
      answer: async (c) => {
        const user = pathId(c, 'user');
        const { device } = await readBody(c, disconnectBody);
        await c.get('deadline').again(() => disconnect(user, device ?? null));
        return c.json({});
      },
    },
  ];
}
