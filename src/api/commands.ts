import {
  type CommandAnswer as WireAnswer,
  limits,
  markBody,
  prefsBody,
  readAllBody,
  readBody as readSchema,
} from '../../protocol/index.ts';
import { UserFault } from '../errors.ts';
import type { CommandAnswer } from '../services/commands.ts';
import type { Services } from '../services/services.ts';
import { pathId, queryCount } from './request-fields.ts';
import type { ApiContext, ReadBody, Route } from './route.ts';

const USER = '/v1/users/:user';
const CONVERSATION = `${USER}/conversations/:conv`;

/**
 * Commands of a user, given by the app's own server: the same as on a socket, and they show on the user's devices like those
 * (AK, LC3, LC4, LC5). In a list a conversation that the user is not in is an item with status `unknown` (AK3); a command that
 * names a single one is refused.
 */
export function commandRoutes({ commands }: Pick<Services, 'commands'>, readBody: ReadBody): Route[] {
  const items = { field: 'items', itemsMax: limits.ackItemsMax };
  return [
    {
      method: 'POST',
      path: `${USER}/read`,
      access: 'key',
      answer: async (c) => {
        const user = pathId(c, 'user');
        const body = await readBody(c, readSchema, items);
        return answered(c, await commands.ack(user, body.items, c.get('deadline')));
      },
    },
    {
      method: 'POST',
      path: `${USER}/read_all`,
      access: 'key',
      answer: async (c) => {
        const user = pathId(c, 'user');
        const body = await readBody(c, readAllBody);
        return answered(c, await commands.readAll(user, body, c.get('deadline')));
      },
    },
    {
      method: 'POST',
      path: `${CONVERSATION}/mark`,
      access: 'key',
      answer: async (c) => {
        const { user, conv } = namesOf(c);
        const body = await readBody(c, markBody);
        return answered(c, known(await commands.mark(user, { ...body, conv }, c.get('deadline'))));
      },
    },
    {
      method: 'PUT',
      path: `${CONVERSATION}/prefs`,
      access: 'key',
      answer: async (c) => {
        const { user, conv } = namesOf(c);
        const body = await readBody(c, prefsBody);
        return answered(c, known(await commands.prefs(user, { ...body, conv }, c.get('deadline'))));
      },
    },
    {
      method: 'DELETE',
      path: CONVERSATION,
      access: 'key',
      answer: async (c) => {
        const { user, conv } = namesOf(c);
        const clear = { conv, up_to_seq: queryCount(c, 'up_to_seq') };
        return answered(c, known(await commands.clear(user, clear, c.get('deadline'))));
      },
    },
  ];
}

function namesOf(c: ApiContext): { user: string; conv: string } {
  return { user: pathId(c, 'user'), conv: pathId(c, 'conv') };
}

function known(answer: CommandAnswer): CommandAnswer {
  if (answer.items[0]?.status !== 'unknown') return answer;
  throw new UserFault('unknown_conversation', 'the user is not a member of this conversation', 'conv');
}

function answered(
  c: ApiContext,
  { items, epoch, syncVersion, total, badge, mentions, digest }: CommandAnswer,
): Response {
  const wire: WireAnswer = { items, epoch, sync_version: syncVersion, total, badge, mentions, digest };
  return c.json(wire);
}
