// What the page asks of the server, with the key of whoever sits before it.
import type { ExplainAnswer, InspectAnswer, ReconcileAnswer, WatchedChange } from '../../protocol/http.ts';

/** The server does not take the key. */
export class KeyRefused extends Error {
  override readonly name = 'KeyRefused';
}

export interface InspectorApi {
  inspect(user: string, signal: AbortSignal): Promise<InspectAnswer>;
  explain(user: string, conv: string): Promise<ExplainAnswer>;
  repair(user: string): Promise<ReconcileAnswer>;
  /** Until it is cut; `opened` once the server listens for this user. */
  watch(user: string, events: WatchEvents, signal: AbortSignal): Promise<void>;
}

export interface WatchEvents {
  readonly opened: () => void;
  readonly changed: (change: WatchedChange) => void;
}

const DATA = 'data: ';

export function createInspectorApi(key: string): InspectorApi {
  async function ask(method: string, path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const response = await fetch(path, { ...init, method, headers });
    if (response.ok) return response;
    if (response.status === 401) throw new KeyRefused('The server does not take this key.');
    throw new Error(await messageOf(response));
  }

  async function json<T>(method: string, path: string, init?: RequestInit): Promise<T> {
    return (await (await ask(method, path, init)).json()) as T;
  }

  return {
    inspect: (user, signal) => json('GET', `/v1/users/${segment(user)}/inspect`, { signal }),
    explain: (user, conv) => json('GET', `/v1/users/${segment(user)}/conversations/${segment(conv)}/explain`),
    repair: (user) => json('POST', '/v1/reconcile', { body: JSON.stringify({ users: [user], repair: true }) }),
    async watch(user, { opened, changed }, signal) {
      const { body } = await ask('GET', `/v1/users/${segment(user)}/changes`, { signal });
      if (body === null) throw new Error('The server sends no changes.');
      opened();
      let rest = '';
      const reader = body.pipeThrough(new TextDecoderStream()).getReader();
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        const lines = (rest + part.value).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          if (line.startsWith(DATA)) changed(JSON.parse(line.slice(DATA.length)) as WatchedChange);
        }
      }
    },
  };
}

/** An id in a path. A segment `.` or `..` would be taken for a step, in whatever spelling (RFC 3986 §3.3). */
function segment(id: string): string {
  if (id === '.' || id === '..') throw new Error(`An id "${id}" cannot stand in a path.`);
  return encodeURIComponent(id);
}

async function messageOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const { error } = JSON.parse(text) as { error: { message: string } };
    return error.message;
  } catch {
    return `The server answers ${response.status}.`;
  }
}
