import type { ClientFrame, Decoded } from '../../protocol/index.ts';

/** DT5: what is wrong with a first frame that is no good hello, for the `bye`; undefined where it is no frame at all. */
export function greetingFault(decoded: Decoded<ClientFrame>): string | undefined {
  if (decoded.ok) return 'the first frame has to be a hello';
  return decoded.fatal ? undefined : decoded.message;
}
