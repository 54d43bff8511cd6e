// What a component shows. Each hook renders its component when its own value changes, and only then; on a server all are 0.
import { useCallback, useEffect, useMemo, useSyncExternalStore } from 'react';
import { keepRead } from '../reading.ts';
import type { Stop } from '../connection.ts';
import type { State } from '../transitions.ts';
import type { Conversation } from '../view.ts';
import { listenTo } from './conversation-listeners.ts';
import { useTidemark } from './provider.ts';

const NO_CONVERSATIONS: readonly Conversation[] = [];

/** Of anything that the client says: `select` answers the same value until it changes. */
function useSelected<T>(select: () => T, onServer: T): T {
  const client = useTidemark();
  const subscribe = useCallback((listener: () => void) => client.subscribe(listener), [client]);
  return useSyncExternalStore(subscribe, select, () => onServer);
}

/** `select` sees the conversation, undefined when it is not there; the component renders when its answer changes. */
export function useConversation<T>(conv: string, select: (conversation: Conversation | undefined) => T): T {
  const client = useTidemark();
  const subscribe = useCallback((listener: () => void) => listenTo(client, conv, listener), [client, conv]);
  return useSyncExternalStore(
    subscribe,
    () => select(client.get(conv)),
    () => select(undefined),
  );
}

export function useUnread(conv: string): number {
  return useConversation(conv, (conversation) => conversation?.unread ?? 0);
}

/** Of one conversation, or of all. */
export function useMentions(conv?: string): number {
  const client = useTidemark();
  const select = () => (conv === undefined ? client.mentions() : (client.get(conv)?.mentions ?? 0));
  return useSelected(select, 0);
}

export function useTotalUnread(): number {
  const client = useTidemark();
  return useSelected(() => client.total(), 0);
}

export function useBadge(): number {
  const client = useTidemark();
  return useSelected(() => client.badge(), 0);
}

/** All that are listed. Renders with every change of any; a row is better off with `useUnread`. */
export function useConversations(): readonly Conversation[] {
  const client = useTidemark();
  return useSelected(() => client.list(), NO_CONVERSATIONS);
}

export function useConnection(): { state: State; stopped: Stop | null } {
  const client = useTidemark();
  const state = useSelected<State>(() => client.state, 'idle');
  const stopped = useSelected(() => client.stopped, null);
  return useMemo(() => ({ state, stopped }), [state, stopped]);
}

/** The same function for as long as the client is the same. */
export function useMarkRead(): (conv: string, options?: { upTo?: number }) => void {
  const client = useTidemark();
  return useCallback((conv, options) => client.markRead(conv, options), [client]);
}

/** While the component is mounted the conversation is read as messages come, if the page is seen. */
export function useKeepRead(conv: string): void {
  const client = useTidemark();
  useEffect(() => keepRead(client, conv), [client, conv]);
}
