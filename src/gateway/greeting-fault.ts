import type { ClientFrame, Decoded, ErrorFrame } from '../../protocol/index.ts';
import { UserFault } from '../errors.ts';
import { errorFrame } from './command-frames.ts';

/** DT5: what is wrong with a first frame that is no good hello; null where it is no frame at all, whose fault has no name. */
export function greetingFault(decoded: Decoded<ClientFrame>): ErrorFrame | null {
  if (decoded.ok) {
    const { frame } = decoded;
    const fault = new UserFault('not_greeted', 'the first frame has to be a hello', 't');
    return errorFrame(fault, 'id' in frame ? frame.id : undefined);
  }
  if (decoded.fatal) return null;
  return errorFrame(new UserFault(decoded.code, decoded.message, decoded.field), decoded.id);
}
