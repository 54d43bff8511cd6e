// The client in a page that shows nothing: what the browser's main thread does here the client does. Bundled by
// client-browser.ts; runs there alone.
import { TidemarkClient } from '../../client/index.ts';
import { indexedDbStore } from '../../client/indexeddb.ts';

declare const tokenFor: (reason: string) => Promise<string>;

const faults: string[] = [];
const store = indexedDbStore({ failed: (error) => faults.push(String(error)) });

function start(): TidemarkClient {
  const client = new TidemarkClient({ url: location.origin, getToken: ({ reason }) => tokenFor(reason), store });
  client.on('error', ({ error }) => faults.push(`${error.code} ${error.message} ${String(error.cause)}`));
  client.subscribe(() => client.list());
  return client;
}

async function live(client: TidemarkClient): Promise<void> {
  client.connect();
  await client.waitFor('live');
  await store.settled();
}

Object.assign(globalThis, { screenApp: { start, live, faults } });
