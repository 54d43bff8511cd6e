// One conversation in the list of one device. A click opens it, which means that it is read.
import type { Conversation } from '../../client/index.ts';
import type { Person, Room } from '../cast.ts';
import type { DeviceDeeds } from './device-deeds.ts';
import { find, replay, setText, stamp } from '../../pages/element.ts';
import type { Feed } from './feed.ts';
import type { OpenMenu } from './menu.ts';
import { badgeText, countText, plural } from './numbers.ts';

export interface RowView {
  readonly element: HTMLElement;
  /** `isUp`: the app has a network, over which it also gets what is said. */
  update(row: Conversation, isUp: boolean): void;
}

export interface RowTools {
  readonly feed: Feed;
  readonly openMenu: OpenMenu;
}

export function createRowView(room: Room, owner: Person, deeds: DeviceDeeds, { feed, openMenu }: RowTools): RowView {
  const { conv, title } = room;
  const element = stamp('row-template');
  element.dataset['conv'] = conv;
  const open = find('.row-open', HTMLButtonElement, element);
  const more = find('.row-more', HTMLButtonElement, element);
  const preview = find('.row-preview', HTMLElement, element);
  const badge = find('.badge', HTMLElement, element);
  const mention = find('.mention', HTMLElement, element);
  let shown: Conversation | null = null;

  setText(find('.row-title', HTMLElement, element), title);
  setText(find('.glyph', HTMLElement, element), title.slice(0, 1));
  more.setAttribute('aria-label', `More for ${title}`);
  open.addEventListener('click', () => deeds.read(conv));
  more.addEventListener('click', () => {
    const muted = shown?.muted === true;
    openMenu(more, [
      { text: 'Mark as unread', run: () => deeds.markUnread(conv) },
      { text: muted ? 'Unmute' : 'Mute', run: () => deeds.mute(conv, !muted) },
      { text: 'Hide', run: () => deeds.hide(conv, true) },
      { text: 'Delete conversation', run: () => deeds.clear(conv) },
    ]);
  });

  function update(row: Conversation, isUp: boolean): void {
    const before = shown?.unread ?? row.unread;
    shown = row;
    const { unread, mentions, muted, marked, capped } = row;
    element.classList.toggle('unread', unread > 0 || marked);
    element.classList.toggle('muted', muted);
    element.classList.toggle('marked', marked);
    setText(badge, badgeText(unread));
    badge.title = capped ? `more than ${countText(unread)}` : countText(unread);
    setText(mention, mentions > 0 ? `@${mentions > 1 ? badgeText(mentions) : ''}` : '');
    if (isUp) setText(preview, previewOf(feed, owner, row));
    open.setAttribute('aria-label', labelOf(title, row));
    if (unread > before) replay(badge, 'rise');
    if (unread < before) replay(element, 'read');
  }

  return { element, update };
}

/** Text comes from the message service of an app, numbers from Tidemark; what was said before the page was opened is not known. */
function previewOf(feed: Feed, owner: Person, { conv, headSeq }: Conversation): string {
  const said = feed.newest(conv);
  if (said === undefined || said.seq < headSeq) return `Message ${countText(headSeq)}`;
  const who = said.sender.user === owner.user ? 'You' : said.sender.name;
  if (feed.isRecalled(said)) return `${who} took a message back`;
  return said.isNotice ? `Notice: ${said.text}` : `${who}: ${said.text}`;
}

function labelOf(title: string, { unread, mentions, muted, marked, capped }: Conversation): string {
  return [
    title,
    unread > 0 ? `${capped ? 'more than ' : ''}${countText(unread)} unread` : 'all read',
    ...(mentions > 0 ? [plural(mentions, 'mention')] : []),
    ...(muted ? ['muted'] : []),
    ...(marked ? ['marked as unread'] : []),
  ].join(', ');
}
