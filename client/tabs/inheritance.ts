// What the tab that led before had asked for and is not known to be done: it stands in the store, and the next one sends it.
import type { ClientFrame } from '../../protocol/client-frames.ts';
import { ackItemOf, frameOf } from '../command.ts';
import type { Command } from '../command.ts';
import { ACK_ITEMS_MAX } from '../limits.ts';

/** In order. "Read all" as the acks that it stands for: its version is another tab's. */
export function inheritedFrames(commands: readonly Command[], nextId: () => number): ClientFrame[] {
  return commands.flatMap((command): ClientFrame[] => {
    if (command.t !== 'ack' && command.t !== 'read_all') return [frameOf(command, nextId())];
    const acks = command.t === 'ack' ? [command] : command.heads;
    const frames: ClientFrame[] = [];
    for (let at = 0; at < acks.length; at += ACK_ITEMS_MAX) {
      frames.push({ t: 'ack', id: nextId(), items: acks.slice(at, at + ACK_ITEMS_MAX).map(ackItemOf) });
    }
    return frames;
  });
}
