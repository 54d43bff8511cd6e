import type { Ack, Clear, ErrorFrame, Mark, Prefs, ReadAll } from '../../protocol/index.ts';
import type { Deadline } from '../deadline.ts';
import { codeOf, Unavailable, UserFault } from '../errors.ts';
import type { CommandAnswer } from '../services/commands.ts';
import type { Services } from '../services/services.ts';

/** Frames that change something; all of them are answered by `acked`, or by `error` with their id. */
export type CommandFrame = Ack | Mark | Prefs | Clear | ReadAll;

export function carryOut(
  commands: Services['commands'],
  user: string,
  frame: CommandFrame,
  deadline: Deadline,
): Promise<CommandAnswer> {
  switch (frame.t) {
    case 'ack':
      return commands.ack(user, frame.items, deadline);
    case 'mark':
      return commands.mark(user, frame, deadline);
    case 'prefs':
      return commands.prefs(user, frame, deadline);
    case 'clear':
      return commands.clear(user, frame, deadline);
    case 'read_all':
      return commands.readAll(user, frame, deadline);
  }
}

export function errorFrame(error: unknown, id?: number): ErrorFrame {
  const frame: ErrorFrame = { t: 'error', code: codeOf(error), message: toldToDevice(error) };
  if (id !== undefined) frame.id = id;
  if (error instanceof Unavailable) frame.retry_ms = error.retryMs;
  return frame;
}

/** What ails the server, or the stores behind it, keeps its details to the log: files and hosts are none of a device's business. */
function toldToDevice(error: unknown): string {
  if (error instanceof UserFault) return error.message;
  if (!(error instanceof Unavailable)) return 'a fault of the server';
  return error.code === 'rate_limited' ? error.message : 'not possible at the moment';
}
