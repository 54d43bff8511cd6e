// The last changes of the user as the devices get them, the newest first.
import type { InspectAnswer, WatchedChange } from '../../protocol/http.ts';
import { make } from '../../pages/element.ts';

const CHANGES_MAX = 50;
const ROWS_MAX = 5;
const time = new Intl.DateTimeFormat('en', { timeStyle: 'medium', hour12: false });

export function createChangesView(list: HTMLElement) {
  /** What the state was last seen to hold, for "before". */
  let unread = new Map<string, number>();

  function lineOf({ conv, unread: now, gone, hidden }: WatchedChange['rows'][number]): string {
    const before = unread.get(conv);
    unread.set(conv, now);
    const how = gone === true ? ' (gone)' : hidden === true ? ' (hidden)' : '';
    return `${conv}: ${before ?? '?'} → ${now}${how}`;
  }

  return {
    clear(): void {
      unread = new Map();
      list.replaceChildren();
    },
    /** Where "before" starts from. */
    seen({ rows }: InspectAnswer): void {
      for (const { conv, state } of rows) if (state !== null && !unread.has(conv)) unread.set(conv, state.unread);
    },
    add(change: WatchedChange): void {
      const { base_version, sync_version, op, total, epoch, rows } = change;
      const versions = rows.length === 0 ? `built anew, epoch ${epoch}` : `${base_version} → ${sync_version}`;
      const lines = rows.map(lineOf);
      const more = lines.length - ROWS_MAX;
      const shown = more > 0 ? [...lines.slice(0, ROWS_MAX), `and ${more} more`] : lines;
      const head = make('div', 'change-head', make('time', '', time.format(new Date())), make('strong', '', versions));
      head.append(make('span', 'op', op), make('span', 'quiet', `total ${total}`));
      list.prepend(make('li', '', head, ...shown.map((line) => make('div', 'change-row', line))));
      while (list.childElementCount > CHANGES_MAX) list.lastElementChild?.remove();
    },
  };
}
