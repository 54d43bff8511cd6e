// The badge outside of the page: the title of the document and the icon of an installed app (Badging API, W3C).
import type { TidemarkClient } from './client.ts';
import { formatUnread } from './format.ts';

type Badged = Pick<TidemarkClient, 'badge' | 'subscribe'>;

/** A title begins with this when there is something: "(3) Chat". */
const COUNT = /^\(\d+\+?\) /;

/** Keeps the number in front of the document's title, whatever the app makes of the rest. Answers how to stop. */
export function showInTitle(client: Badged, document: Pick<Document, 'title'> = globalThis.document): () => void {
  const show = (count: number) => {
    const plain = document.title.replace(COUNT, '');
    const text = formatUnread(count);
    const title = text === '' ? plain : `(${text}) ${plain}`;
    if (title !== document.title) document.title = title;
  };
  show(client.badge());
  const stop = client.subscribe(() => show(client.badge()));
  return () => {
    stop();
    show(0);
  };
}

/** The part of a navigator that is used; where a browser has no Badging API nothing happens. */
export interface BadgingNavigator {
  setAppBadge?(count?: number): Promise<void>;
  clearAppBadge?(): Promise<void>;
}

/** Keeps the number on the icon of the app. `failed` hears of a system that does not allow it. Answers how to stop. */
export function showOnIcon(
  client: Badged,
  {
    navigator = globalThis.navigator,
    failed = () => {},
  }: { navigator?: BadgingNavigator; failed?: (error: unknown) => void } = {},
): () => void {
  let shown = -1;
  const show = (count: number) => {
    if (count === shown) return;
    shown = count;
    const done = count === 0 ? navigator.clearAppBadge?.() : navigator.setAppBadge?.(count);
    done?.catch(failed);
  };
  show(client.badge());
  const stop = client.subscribe(() => show(client.badge()));
  return () => {
    stop();
    show(0);
  };
}
