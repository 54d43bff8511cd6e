import type { Ack, Clear, ErrorFrame, Mark, Prefs, ReadAll } from '../../protocol/index.ts';
import { codeOf, Unavailable, UserFault } from '../errors.ts';
import type { CommandAnswer } from '../services/commands.ts';
import type { Services } from '../services/services.ts';

/** Frames that change something; all of them are answered by `acked`, or by `error` with their id. */
export type CommandFrame = Ack | Mark | Prefs | Clear | ReadAll;

export function carryOut(commands: Services['commands'], user: string, frame: CommandFrame): Promise<CommandAnswer> {
  switch (frame.t) {
    case 'ack':
      return commands.ack(user, frame.items);
    case 'mark':
      return commands.mark(user, frame);
    case 'prefs':
      return commands.prefs(user, frame);
    case 'clear':
      return commands.clear(user, frame);
    case 'read_all':
      return commands.readAll(user, frame);
  }
}

/** A fault of the server keeps its details to the log. */
export function errorFrame(error: unknown, id?: number): ErrorFrame {
  const message = error instanceof UserFault || error instanceof Unavailable ? error.message : 'a fault of the server';
  const frame: ErrorFrame = { t: 'error', code: codeOf(error), message };
  if (id !== undefined) frame.id = id;
  if (error instanceof Unavailable) frame.retry_ms = error.retryMs;
  return frame;
}
