// An app in React, for tests in a browser: a row for each conversation, and how often each part was rendered onto the page.
import { createElement, memo, StrictMode, useLayoutEffect } from 'react';
import type { ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { TidemarkClient } from '../../client/index.ts';
import type { ClientOptions } from '../../client/index.ts';
import { indexedDbStore } from '../../client/indexeddb.ts';
import {
  TidemarkProvider,
  useBadge,
  useConnection,
  useConversation,
  useConversations,
  useMarkRead,
  useMentions,
  useTotalUnread,
  useUnread,
} from '../../client/react.ts';
import { acrossTabs } from '../../client/tabs/across-tabs.ts';
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

/** Whenever the component is rendered onto the page, in the same moment: whoever sees the one finds the other. */
function useCommits(part: string): void {
  useLayoutEffect(() => {
    commits[part] = (commits[part] ?? 0) + 1;
  });
}

/** `head`: the newest message that the app itself has of the conversation. */
function Row({ conv, head }: { conv: string; head?: number | undefined }): ReactNode {
  useCommits(conv);
  const markRead = useMarkRead();
  const isKnown = useConversation(conv, (conversation) => conversation !== undefined);
  const unread = useUnread(conv);
  const read = () => markRead(conv, head === undefined ? {} : { upTo: head });
  return createElement('button', { id: conv, onClick: read }, isKnown ? unread : '');
}

const Sums = memo(function Sums(): ReactNode {
  useCommits('sums');
  const sums = { total: useTotalUnread(), badge: useBadge(), mentions: useMentions() };
  return Object.entries(sums).map(([id, sum]) => createElement('p', { key: id, id }, sum));
});

/** Before anything is known there are no sums to show. */
function KnownSums(): ReactNode {
  const isLive = useConnection().state === 'live';
  const isKnown = useConversations().length > 0 || isLive;
  return isKnown ? createElement(Sums) : null;
}

function Line(): ReactNode {
  useCommits('line');
  return createElement('p', { id: 'state' }, useConnection().state);
}

interface Settings {
  convs: string[];
  /** Of the service, where it is not what serves the page. */
  url?: string;
  /** What the app knows by itself: the newest message of each conversation. */
  heads?: Record<string, number>;
  store?: boolean;
}

function start({ convs, url = location.origin, heads = {}, store = false }: Settings): TidemarkClient {
  const own: ClientOptions = {
    url,
    getToken: ({ reason }) => tokenFor(reason),
    WebSocket: CountedSocket,
    random: () => Math.random() * 0.1,
  };
  const kept = { store: indexedDbStore({ failed: (error) => faults.push(String(error)) }) };
  const client = new TidemarkClient(store ? acrossTabs({ ...own, ...kept }) : own);
  const rows = convs.map((conv) => createElement(Row, { key: conv, conv, head: heads[conv] }));
  const tree = createElement(TidemarkProvider, { client }, createElement(Line), createElement(KnownSums), rows);
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
