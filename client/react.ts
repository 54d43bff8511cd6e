// The client for React: `tidemark/react`.
export {
  useBadge,
  useConnection,
  useConversation,
  useConversations,
  useKeepRead,
  useMarkRead,
  useMentions,
  useTotalUnread,
  useUnread,
} from './react/hooks.ts';
export { TidemarkProvider, useTidemark } from './react/provider.ts';
export type { TidemarkProviderProps } from './react/provider.ts';
