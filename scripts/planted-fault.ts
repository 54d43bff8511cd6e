/** A fault as one change of the text of the source. `npm run planted` puts it in and demands that a test sees it. */
export interface PlantedFault {
  /** What goes wrong, as a user would tell it; `guard: …` where it is a guard against an interleaving that is taken out. */
  name: string;
  /** The rule of protocol/SPEC.md that it breaks; the test that fails has to bear it in its title. */
  rule: string;
  file: string;
  /** Stands exactly once in the file. */
  find: string;
  replace: string;
  /** The test files that have to see it, with the servers they need. Without it: all that need no server of their own. */
  tests?: readonly string[];
  /** Of the tests of the rule only those with this in their title, where the others would take long. */
  title?: string;
}
