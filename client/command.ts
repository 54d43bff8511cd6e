// What a user does with unread numbers, as facts that may be sent again without harm (AK1, AK7, AK8, LC3): the frames of the
// protocol without their id, and what this device has to remember of them beside.
import type { AckItem, ClientFrame } from '../protocol/client-frames.ts';

type WithoutId<T extends ClientFrame['t']> = Omit<Extract<ClientFrame, { t: T }>, 'id'>;

/** "Read up to seq". Without `read_epoch` the server takes the present one (a row that this device does not hold). */
export type AckCommand = { t: 'ack'; conv: string; seq: number; read_epoch?: number | undefined };

/** Those that name one conversation. */
export type SingleCommand =
  | AckCommand
  | WithoutId<'mark'>
  /** `heldHead`: what this device knew of the conversation; a newer message brings a hidden one back (LC4). */
  | (WithoutId<'prefs'> & { heldHead: number })
  | (WithoutId<'clear'> & { up_to_seq: number });

/** `heads`: the unread rows that this device held, to be acked one by one where the server says `stale`. */
export type ReadAllCommand = WithoutId<'read_all'> & { heads: readonly AckCommand[] };

export type Command = SingleCommand | ReadAllCommand;

const KINDS: unknown[] = ['ack', 'mark', 'prefs', 'clear', 'read_all'] satisfies Command['t'][];

/** Not so: what a newer version has written, or something that is damaged. */
export function isCommand(value: unknown): value is Command {
  return KINDS.includes((value as Command | null)?.t);
}

export function frameOf(command: Exclude<Command, AckCommand>, id: number): ClientFrame {
  const frame = { ...command, id, heads: undefined, heldHead: undefined };
  return frame;
}

export function ackItemOf({ conv, seq, read_epoch }: AckCommand): AckItem {
  return { conv, seq, read_epoch };
}
