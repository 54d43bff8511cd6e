import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, onTestFinished, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { eventually } from '../support/demo-page.ts';
import { signedToken, startProduct } from '../support/product.ts';
import { ROOT, textOf } from '../support/source-tree.ts';

/** What somebody copies from the first page. */
const browser = useBrowser();
const README = textOf('README.md');

function copied(pattern: RegExp): string {
  const [, text] = pattern.exec(README) ?? [];
  if (text === undefined) throw new Error(`README.md has nothing like ${String(pattern)}`);
  return text;
}

/** The app around the client: a page with a button, its script, and the endpoint for tokens. */
async function startApp(script: () => string): Promise<string> {
  const answers: Record<string, () => [type: string, body: string]> = {
    '/': () => ['text/html', '<title>Chat</title><button id="team">team</button><script src="/app.js"></script>'],
    '/app.js': () => ['text/javascript', script()],
    '/my/token': () => ['text/plain', signedToken('alice')],
  };
  const server = createServer(({ url = '' }, response) => {
    const [type, body] = answers[url]?.() ?? ['text/plain', ''];
    response.setHeader('content-type', type).end(body);
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('the client and the server call of README.md work as they stand there', async () => {
  let script = '';
  const origin = await startApp(() => script);
  const product = await startProduct({ TIDEMARK_ALLOWED_ORIGINS: origin });
  const client = copied(/^```js\n([^]*?)^```/m);
  const own = client.replace('ws://localhost:8080', product.url.replace('http', 'ws'));
  expect(own).not.toBe(client);
  const { outputFiles } = await build({
    stdin: { contents: own, resolveDir: ROOT },
    alias: { 'tidemark/client': join(ROOT, 'client/index.ts') },
    bundle: true,
    write: false,
  });
  script = outputFiles[0]?.text ?? '';
  const { events } = JSON.parse(copied(/-d '(\{"events"[^']*)'/)) as { events: object[] };
  await product.post(...events);

  const page = await browser().newPage();
  onTestFinished(() => page.close());
  const said: string[] = [];
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (error) => said.push(String(error)));
  await page.goto(origin);
  await eventually(() => page.title()).toBe('(1) Chat');
  await eventually(() => said).toContain('team 1 1');
  await page.locator('#team').click();
  await eventually(() => page.title()).toBe('(0) Chat');
  await eventually(async () => (await product.unread('alice')).total).toBe(0);
  expect(said.filter((text) => !/^team \d \d$/.test(text))).toEqual([]);
});
