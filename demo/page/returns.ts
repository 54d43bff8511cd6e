// Devices that come back, told together: after a restart of the server it is all of them at once.
import type { ClientEvents } from '../../client/index.ts';
import type { Device } from './device.ts';
import type { Say } from './journal.ts';

type Synced = ClientEvents['synced'];

const TOGETHER_MS = 700;
/** More are counted, not named. */
const NAMED_MAX = 2;
const MISSED: Record<Synced['mode'], string> = {
  noop: 'nothing was missed',
  delta: 'what was missed came as a delta',
  snapshot: 'a snapshot replaced all',
};

export function tellReturns(devices: readonly Device[], say: Say): void {
  const waiting = new Map<string, string[]>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  function tell(): void {
    for (const [how, titles] of waiting) {
      const who = titles.length > NAMED_MAX ? `${titles.length} devices` : titles.join(' and ');
      say(`${who} ${titles.length > 1 ? 'are' : 'is'} back: ${how}.`, 'good');
    }
    waiting.clear();
  }

  for (const { client, title } of devices) {
    let isAway = false;
    client.on('state', ({ state }) => {
      if (state === 'resuming' || state === 'offline') isAway = true;
    });
    client.on('synced', ({ mode, reason }) => {
      if (!isAway) return;
      isAway = false;
      const how = reason === 'epoch' ? `the epoch is new, so ${MISSED[mode]}` : MISSED[mode];
      waiting.set(how, [...(waiting.get(how) ?? []), title]);
      clearTimeout(timer);
      timer = setTimeout(tell, TOGETHER_MS);
    });
  }
}
