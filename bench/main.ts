/**
 * npm run bench [-- WORD …]      lines whose name holds one of the words; all of them without
 *
 * Figures are ratios within this run. Exit 1 when a budget is missed by more than the noise band.
 */
import { isMet, type Line } from './line.ts';
import { coldUser } from './lines/cold-user.ts';
import { groupSize } from './lines/group-size.ts';

const LINES: readonly Line[] = [groupSize, coldUser];

const words = process.argv.slice(2);
const chosen = LINES.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
let missed = 0;
for (const line of chosen) {
  const { value, detail } = await line.run();
  const { kind, bound, unit } = line.budget;
  const met = isMet(line.budget, value);
  if (!met) missed++;
  console.log(`${met ? 'met   ' : 'MISSED'} ${line.name}: ${format(value)} ${unit} (budget ${kind} ${bound})`);
  console.log(`       ${line.what}`);
  console.log(`       ${detail}`);
}
console.log(`${chosen.length - missed} met, ${missed} missed`);
process.exitCode = missed > 0 || chosen.length === 0 ? 1 : 0;

function format(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(3);
}
