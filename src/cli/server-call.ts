import type { Config } from '../config.ts';
import { ofDataFolder } from '../data-folder.ts';
import { readSecret } from '../kept-secret.ts';

/** A call of the server API of the server that these settings describe. Answers the body; throws what the server says is wrong. */
export async function callServer(config: Config, method: string, path: string, body?: object): Promise<object> {
  const url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${config.port}`;
  const { dataDir } = config;
  const key = config.apiKey ?? ofDataFolder(dataDir, () => readSecret(dataDir, 'api-key'));
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    throw new Error(`no server answers at ${url}`, { cause: error });
  });
  const answer = (await response.json()) as { error?: { code: string; message: string } };
  if (!response.ok) throw new Error(`${url} answers ${response.status}: ${answer.error?.message ?? 'no reason given'}`);
  return answer;
}

/** One line a field. */
export function listed(answer: object): string {
  return Object.entries(answer)
    .map(([name, value]) => `${name}: ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
    .join('\n');
}
