// An app in React, for tests in a browser: a row for each conversation, and how often each part was rendered onto the page.
import { createElement, StrictMode, useEffect } from 'react';
import type { ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { TidemarkClient } from '../../client/index.ts';
import {
  TidemarkProvider,
  useBadge,
  useConnection,
  useMarkRead,
  useMentions,
  useTotalUnread,
  useUnread,
} from '../../client/react.ts';
import type { ScreenApp } from './client-screen.ts';

declare const tokenFor: (reason: string) => Promise<string>;

let sockets = 0;
const faults: string[] = [];
const commits: Record<string, number> = {};

class CountedSocket extends WebSocket {
  constructor(url: string, protocols: string[]) {
    super(url, protocols);
    sockets++;
  }
}

/** After every time that the component was rendered onto the page. */
function useCommits(part: string): void {
  useEffect(() => {
    commits[part] = (commits[part] ?? 0) + 1;
  });
}

function Row({ conv }: { conv: string }): ReactNode {
  useCommits(conv);
  const markRead = useMarkRead();
  return createElement('button', { id: conv, onClick: () => markRead(conv) }, useUnread(conv));
}

function Sums(): ReactNode {
  useCommits('sums');
  const sums = { total: useTotalUnread(), badge: useBadge(), mentions: useMentions() };
  return Object.entries(sums).map(([id, sum]) => createElement('p', { key: id, id }, sum));
}

function Line(): ReactNode {
  useCommits('line');
  return createElement('p', { id: 'state' }, useConnection().state);
}

function start({ convs }: { convs: string[] }): TidemarkClient {
  const client = new TidemarkClient({
    url: location.origin,
    getToken: ({ reason }) => tokenFor(reason),
    WebSocket: CountedSocket,
  });
  const rows = convs.map((conv) => createElement(Row, { key: conv, conv }));
  const tree = createElement(TidemarkProvider, { client }, createElement(Line), createElement(Sums), rows);
  const root = createRoot(document.body.appendChild(document.createElement('main')), {
    onUncaughtError: (error) => faults.push(String(error)),
  });
  root.render(createElement(StrictMode, null, tree));
  Object.assign(globalThis, { unmount: () => root.unmount() });
  return client;
}

const app: Omit<ScreenApp, 'start' | 'show'> & { start: typeof start; commits: typeof commits } = {
  start,
  shown: [],
  faults,
  sockets: () => sockets,
  commits,
};
Object.assign(globalThis, { screenApp: app });
