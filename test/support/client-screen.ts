// The page of an app that shows unread numbers, for tests in a browser. Bundled by client-browser.ts; runs there alone.
import { TidemarkClient } from '../../client/index.ts';
import type { ClientOptions } from '../../client/index.ts';
import { indexedDbStore } from '../../client/indexeddb.ts';
import { acrossTabs } from '../../client/tabs/across-tabs.ts';

declare const tokenFor: (reason: string) => Promise<string>;

/** What was on the screen: the text of an element that has changed. */
export type Shown = [what: string, text: string];

const shown: Shown[] = [];
const faults: string[] = [];
let sockets = 0;

class CountedSocket extends WebSocket {
  constructor(url: string, protocols: string[]) {
    super(url, protocols);
    sockets++;
  }
}

interface Settings {
  tabs?: boolean;
  store?: boolean;
  /** Of what tabs share. */
  name?: string;
}

function start({ tabs = true, store = true, name = 'tidemark' }: Settings): TidemarkClient {
  const own: ClientOptions = {
    url: location.origin,
    getToken: ({ reason }) => tokenFor(reason),
    WebSocket: CountedSocket,
    random: () => Math.random() * 0.1,
    ...(store ? { store: indexedDbStore({ name, failed: (error) => faults.push(String(error)) }) } : {}),
  };
  const client = new TidemarkClient(tabs ? acrossTabs(own, { name }) : own);
  client.on('error', ({ error }) => faults.push(`${error.code} ${error.message} ${String(error.cause)}`));
  client.subscribe(() => render(client));
  render(client);
  client.connect();
  return client;
}

function element(what: string): HTMLElement {
  const held = document.getElementById(what);
  if (held !== null) return held;
  const made = document.createElement('p');
  made.id = what;
  document.body.append(made);
  return made;
}

function show(what: string, text: string): void {
  const target = element(what);
  if (target.textContent !== text) target.textContent = text;
}

function render(client: TidemarkClient): void {
  show('state', client.state);
  // Before anything is known there is no number to show.
  if (client.list().length === 0 && client.state !== 'live') return;
  show('total', String(client.total()));
  show('badge', String(client.badge()));
  show('mentions', String(client.mentions()));
  for (const { conv, unread } of client.list()) show(conv, String(unread));
}

/** What nobody caught. */
addEventListener('error', ({ message }) => faults.push(`uncaught ${message}`));
addEventListener('unhandledrejection', ({ reason }) => faults.push(`unhandled ${String(reason)}`));

new MutationObserver((mutations) => {
  for (const { target, addedNodes } of mutations) {
    const [added] = addedNodes;
    const changed = added instanceof HTMLElement ? added : target;
    if (changed instanceof HTMLElement && changed.id !== '') shown.push([changed.id, changed.textContent]);
  }
}).observe(document.body, { childList: true, subtree: true, characterData: true });

Object.assign(globalThis, { screenApp: { start, shown, faults, show, sockets: () => sockets } });

export type ScreenApp = {
  start: typeof start;
  shown: Shown[];
  faults: string[];
  show: typeof show;
  sockets: () => number;
};
