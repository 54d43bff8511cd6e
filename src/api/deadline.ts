import { Unavailable } from '../errors.ts';
import type { Clock } from '../ports.ts';

/** A caller is answered within 3 s, whatever the stores do. */
const ANSWER_WITHIN_MS = 2500;
const RETRY_MS = 1000;

/**
 * The answer, or Unavailable when it takes too long. What was asked for goes on, and may have been done already: only for what a caller
 * may ask for again.
 */
export async function inTime<T>(clock: Pick<Clock, 'after'>, answer: Promise<T>): Promise<T> {
  let cancel = (): void => {};
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(ANSWER_WITHIN_MS, () =>
      reject(new Unavailable('there was no answer in time; the same request may be sent again', RETRY_MS)),
    );
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    cancel();
  }
}
