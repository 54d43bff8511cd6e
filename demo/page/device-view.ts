// One device on the page: frame, list, numbers, and the buttons for its own mishaps.
import { formatDigest } from '../../protocol/digest.ts';
import { rooms } from '../cast.ts';
import type { Device } from './device.ts';
import { createDeviceDeeds } from './device-deeds.ts';
import { find, replay, setText, stamp } from '../../pages/element.ts';
import type { Feed } from './feed.ts';
import type { Say } from './journal.ts';
import type { OpenMenu } from './menu.ts';
import { badgeText, countText } from './numbers.ts';
import { createRowView } from './row-view.ts';

const STATES = {
  idle: 'idle',
  connecting: 'connecting',
  syncing: 'catching up',
  live: 'live',
  stale: 'checking',
  resuming: 'reconnecting',
  offline: 'offline',
  stopped: 'stopped',
} as const;

export interface DeviceTools {
  readonly feed: Feed;
  readonly say: Say;
  readonly openMenu: OpenMenu;
}

export function createDeviceView(device: Device, { feed, say, openMenu }: DeviceTools): HTMLElement {
  const { client, line, person, kind } = device;
  const deeds = createDeviceDeeds(device, say);
  const element = stamp('device-template');
  const part = (name: string) => find(`.${name}`, HTMLElement, element);
  const button = (name: string) => find(`.${name}`, HTMLButtonElement, element);
  const badge = part('app-badge');
  const list = part('rows');
  const hidden = part('hidden-rows');
  const ackLate = button('ack-late');
  const network = button('network');

  element.dataset['kind'] = kind;
  element.dataset['device'] = `${person.name} ${device.name}`;
  element.setAttribute('aria-label', device.title);
  setText(part('device-name'), device.name);
  button('cut').addEventListener('click', () => deeds.cutSocket());
  network.addEventListener('click', () => {
    deeds.toggleNetwork();
    update();
  });
  ackLate.addEventListener('click', () => {
    deeds.ackLate().catch((error: Error) => say(`${device.title} could not send its late ack: ${error.message}.`));
  });

  const views = rooms
    .filter(({ members }) => members.includes(person.user))
    .map((room) => ({ room, view: createRowView(room, person, deeds, { feed, openMenu }) }));

  function update(): void {
    const { state } = client;
    element.dataset['state'] = state;
    setText(part('state'), STATES[state]);
    const text = badgeText(client.badge());
    if (text !== badge.textContent && text !== '') replay(badge, 'rise');
    setText(badge, text);
    setText(part('total'), countText(client.total()));
    setText(part('place'), placeOf(device));
    setText(network, line.isUp ? 'Go offline' : 'Go online');
    network.setAttribute('aria-pressed', String(!line.isUp));
    ackLate.disabled = button('cut').disabled = state !== 'live';
    updateRows();
  }

  function updateRows(): void {
    const listed: HTMLElement[] = [];
    const away: HTMLElement[] = [];
    for (const { room, view } of views) {
      const row = client.get(room.conv);
      if (row === undefined) continue;
      if (row.hidden) away.push(unhideButton(room.conv, room.title));
      else {
        view.update(row, line.isUp);
        listed.push(view.element);
      }
    }
    const isSame = listed.length === list.childElementCount && listed.every((one, i) => one === list.children[i]);
    if (!isSame) list.replaceChildren(...listed);
    if (away.length !== hidden.childElementCount) hidden.replaceChildren(...away);
  }

  function unhideButton(conv: string, title: string): HTMLElement {
    const unhide = document.createElement('button');
    unhide.type = 'button';
    unhide.textContent = `Show ${title}`;
    unhide.addEventListener('click', () => deeds.hide(conv, false));
    return unhide;
  }

  client.subscribe(update);
  feed.onChange(update);
  device.onMove(() => setText(part('place'), placeOf(device)));
  update();
  return element;
}

/** Wire form, sync_version and the beginning of the digest: side by side they are the same on all devices of a person. */
function placeOf(device: Device): string {
  const waiting = device.client.pending().length;
  const standing = device.standing();
  if (waiting > 0) return `${device.form} · ${waiting} waiting`;
  if (standing === null) return device.form;
  return `${device.form} · v${standing.syncVersion} · ${formatDigest(standing.sums.digest).slice(0, 6)}`;
}
