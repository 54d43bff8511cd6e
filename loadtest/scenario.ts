import type { Casting } from './cast.ts';
import type { Stage } from './stage.ts';

/** How much of everything; each scenario has its own defaults. */
export interface Scale {
  readonly seconds: number;
  /** Messages a second. */
  readonly rate: number;
  /** Devices. */
  readonly connections: number;
}

export type Figures = Record<string, string | number>;

export interface Scenario {
  readonly name: string;
  /** The question that it answers, for the help text. */
  readonly question: string;
  readonly defaults: Scale;
  cast(casting: Casting, scale: Scale): void;
  /** One message is due, and what goes with it. */
  arrive(stage: Stage, dueMs: number): void;
  /** Plays for the time that is asked for; answers figures of its own. Without it: arrivals and nothing else. */
  play?(stage: Stage): Promise<Figures>;
}
