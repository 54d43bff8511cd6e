// A conversation that is open on the screen is read as its messages come, but only while somebody can see them: nothing is
// acked in the background.
import type { TidemarkClient } from './client.ts';

type Reader = Pick<TidemarkClient, 'get' | 'markRead' | 'on'>;

/** Whether the page is looked at, and how to hear of changes of that. */
export interface Attention {
  isSeen(): boolean;
  /** Answers how to stop. */
  listen(changed: () => void): () => void;
}

export const pageAttention: Attention = {
  isSeen: () => document.visibilityState === 'visible' && document.hasFocus(),
  listen(changed) {
    const heard: [EventTarget, string][] = [
      [document, 'visibilitychange'],
      [window, 'focus'],
    ];
    for (const [target, name] of heard) target.addEventListener(name, changed);
    return () => {
      for (const [target, name] of heard) target.removeEventListener(name, changed);
    };
  },
};

/**
 * Reads `conv` to its end now and whenever something new comes, while the page is seen; what came meanwhile is read when it is
 * seen again. A mark that the user sets stays. Answers how to stop: when the conversation is closed.
 */
export function keepRead(client: Reader, conv: string, attention: Attention = pageAttention): () => void {
  const read = () => {
    if (attention.isSeen() && (client.get(conv)?.unread ?? 0) > 0) client.markRead(conv);
  };
  read();
  const stops = [client.on('change', (change) => change.conv === conv && read()), attention.listen(read)];
  return () => stops.forEach((stop) => stop());
}
