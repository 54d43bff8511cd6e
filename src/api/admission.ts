import { Unavailable } from '../errors.ts';
import type { Metrics } from '../metrics.ts';

/**
 * How much is taken on at once: requests being answered, and bytes of their bodies. What goes beyond is refused while it is
 * still cheap, with the advice to come back.
 */
export interface Admission {
  /** Throws Unavailable when there are enough already. */
  enter(): Ticket;
  readonly inFlight: number;
}

export interface Ticket {
  /** More bytes of this request's body are held. Throws Unavailable when all requests together hold too many. */
  hold(bytes: number): void;
  leave(): void;
}

export interface AdmissionLimits {
  readonly requestsMax: number;
  readonly bytesMax: number;
}

const RETRY_MS = 1000;

export function createAdmission({ requestsMax, bytesMax }: AdmissionLimits, metrics: Metrics): Admission {
  let inFlight = 0;
  let bytesHeld = 0;

  return {
    get inFlight() {
      return inFlight;
    },
    enter() {
      if (inFlight >= requestsMax) {
        metrics.rateLimited('http_requests');
        throw new Unavailable('too many requests at once', RETRY_MS);
      }
      metrics.requestsInFlight(++inFlight);
      let mine = 0;
      return {
        hold(bytes) {
          if (bytesHeld + bytes > bytesMax) {
            metrics.rateLimited('http_bytes');
            throw new Unavailable('the bodies of all requests together are too large', RETRY_MS);
          }
          mine += bytes;
          bytesHeld += bytes;
        },
        leave() {
          bytesHeld -= mine;
          metrics.requestsInFlight(--inFlight);
        },
      };
    },
  };
}
