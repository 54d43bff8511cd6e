// What the page and its server say to each other under /demo/api.
import type { EventResult, Sums } from '../protocol/http.ts';

/** Where a user stands in the state of the server. */
export interface UserStanding extends Sums {
  readonly user: string;
  readonly epoch: string;
  readonly sync_version: number;
}

export interface Standing {
  readonly users: readonly UserStanding[];
  /** Users whose state differs from what truth derives at equal revs, or whose messages count up to something else. */
  readonly wrong: number;
}

/** One result for each of `openingLines`. */
export interface SceneAnswer {
  readonly results: readonly EventResult[];
}

export interface TokenAnswer {
  readonly token: string;
}
