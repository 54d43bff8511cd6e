// The few things that the page asks of its server.
import type { Event } from '../../protocol/events.ts';
import type { EventResult, EventsAnswer } from '../../protocol/http.ts';
import type { SceneAnswer, Standing, TokenAnswer } from '../demo-api.ts';

/** The server cannot be reached: while it restarts that is no fault. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

export const demoServer = {
  /** Throws when one of the events was refused. */
  async post(events: readonly Event[]): Promise<EventResult[]> {
    const { results } = await call<EventsAnswer>('POST', 'events', { events });
    for (const result of results) if (!result.ok) throw new Error(result.error.message);
    return results;
  },
  token: async (user: string): Promise<string> => (await call<TokenAnswer>('POST', 'token', { user })).token,
  scene: () => call<SceneAnswer>('POST', 'scene', {}),
  startOver: () => call<SceneAnswer>('POST', 'start-over', {}),
  standing: () => call<Standing>('GET', 'standing'),
  restart: () => call<object>('POST', 'restart', {}),
};

async function call<T>(method: string, path: string, body?: object): Promise<T> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`/demo/api/${path}`, { method, headers, ...sent }).catch((error: unknown) => {
    throw new Unreachable('the server does not answer', { cause: error });
  });
  const text = await response.text();
  if (!response.ok) throw new Error(text.trim());
  return JSON.parse(text) as T;
}
