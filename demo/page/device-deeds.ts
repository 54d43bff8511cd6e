// What can be done on one device.
import { roomOf } from '../cast.ts';
import type { Device } from './device.ts';
import type { Say } from './journal.ts';
import { countText } from './numbers.ts';

export type DeviceDeeds = ReturnType<typeof createDeviceDeeds>;

export function createDeviceDeeds(device: Device, say: Say) {
  const { client, line, title } = device;
  const name = (conv: string) => roomOf(conv)?.title ?? conv;

  return {
    read(conv: string): void {
      const held = client.get(conv);
      client.markRead(conv);
      if (held === undefined || (held.unread === 0 && !held.marked)) return;
      say(`${title} reads ${name(conv)} up to ${held.capped ? 'its end' : countText(held.headSeq)}.`);
    },

    markUnread(conv: string): void {
      client.markUnread(conv);
      say(`${title} marks ${name(conv)} as unread: a flag that adds nothing to the total.`);
    },

    mute(conv: string, muted: boolean): void {
      client.mute(conv, muted);
      say(
        `${title} ${muted ? 'mutes' : 'unmutes'} ${name(conv)}: ${muted ? 'only mentions count for the badge' : 'it counts for the badge again'}.`,
      );
    },

    hide(conv: string, hidden: boolean): void {
      client.hide(conv, hidden);
      say(hidden ? `${title} hides ${name(conv)} until the next message.` : `${title} shows ${name(conv)} again.`);
    },

    clear(conv: string): void {
      client.clear(conv);
      say(`${title} deletes ${name(conv)} up to what it holds; the next message brings it back.`);
    },

    cutSocket(): void {
      line.cut();
      say(`The socket of ${title} is cut.`, 'fault');
    },

    toggleNetwork(): void {
      if (line.isUp) line.takeDown();
      else line.bringUp();
      say(`${title} is ${line.isUp ? 'back on the network' : 'off the network; what it does now waits'}.`, 'fault');
    },

    /** Reads the newest conversation, and then lets an older ack arrive behind the newer one. */
    async ackLate(): Promise<void> {
      const held = client
        .list()
        .filter(({ headSeq }) => headSeq > 1)
        .toSorted((a, b) => b.unread - a.unread)[0];
      if (held === undefined) return say(`${title} has nothing that it could read.`);
      const { conv, headSeq } = held;
      client.markRead(conv);
      await device.confirmed();
      const readEpoch = device.row(conv)?.read_epoch ?? 0;
      const { items } = await line.ackBehindItsBack({ conv, seq: 1, read_epoch: readEpoch });
      say(
        `${title} has read ${name(conv)} up to ${countText(headSeq)}; now an ack for 1 arrives late: ${items[0]?.status}, nothing moves back.`,
        'fault',
      );
    },
  };
}
