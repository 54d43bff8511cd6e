// The client in a Web Worker, which tells its page what it shows. Bundled by client-browser.ts; runs there alone.
import { TidemarkClient } from '../../client/index.ts';
import { indexedDbStore } from '../../client/indexeddb.ts';
import { acrossTabs } from '../../client/tabs/across-tabs.ts';

globalThis.onmessage = ({ data: { url, token } }: MessageEvent<{ url: string; token: string }>) => {
  const store = indexedDbStore({
    failed: (error) => {
      throw error;
    },
  });
  const client = new TidemarkClient(acrossTabs({ url, getToken: () => token, store }, { name: 'worker' }));
  client.subscribe(() => {
    if (client.get('c1')?.unread === 2) client.markRead('c1');
    globalThis.postMessage([client.state, client.total(), client.pending().length]);
  });
  client.connect();
};
