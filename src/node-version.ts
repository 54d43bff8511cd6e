/** The oldest Node that has all that is imported; package.json says the same. */
const MAJOR_MIN = 24;

/**
 * Runs `start`, which loads the program; on an older Node says so instead and ends with 1. What an entry imports by itself is looked
 * up before its first line runs, and the first thing that an older Node lacks would end it with a stack; so it imports this alone.
 */
export async function onSupportedNode(start: () => Promise<void>): Promise<void> {
  const fault = faultOfNode(process.versions.node);
  if (fault === null) return start();
  process.stderr.write(`${fault}\n`);
  process.exitCode = 1;
}

export function faultOfNode(version: string): string | null {
  if (Number.parseInt(version, 10) >= MAJOR_MIN) return null;
  return `tidemark needs Node ${MAJOR_MIN} or newer, and this is Node ${version}`;
}
