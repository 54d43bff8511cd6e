/**
 * Faults that real unread systems had, each as one change of the text of the source. `npm run planted` puts them in one by
 * one and demands that a test which bears the rule in its title fails.
 */
export interface PlantedFault {
  /** What goes wrong, as a user would tell it. */
  name: string;
  /** The rule of protocol/SPEC.md that it breaks. */
  rule: string;
  file: string;
  /** Stands exactly once in the file. */
  find: string;
  replace: string;
}

export const PLANTED_FAULTS: PlantedFault[] = [];
