/**
 * npm run bench [-- WORD …]      the line of that name, else all whose names hold the word; every line without a word
 *
 * Ratios are taken within this run; times and the rest hold for a machine that nobody else is using. Exit 1 when a budget is missed by
 * more than the noise band, or when a line failed or could not be run here; 2 when a word names no line.
 */
import { LINES } from './all-lines.ts';
import { isMet, type Line } from './line.ts';

type Verdict = 'met' | 'MISSED' | 'FAILED' | 'not run';

const names = Object.keys(LINES);
const words = process.argv.slice(2);
const unknown = words.filter((word) => namedBy(word).length === 0);
if (unknown.length > 0) {
  console.error(`no line is named ${unknown.join(' or ')}; there are: ${names.join(', ')}`);
  process.exit(2);
}

const chosen = words.length === 0 ? names : names.filter((name) => words.some((word) => namedBy(word).includes(name)));
const verdicts: Verdict[] = [];
for (const name of chosen) verdicts.push(await verdictOn(name, LINES[name] as Line));
const count = (verdict: Verdict): string =>
  `${verdicts.filter((one) => one === verdict).length} ${verdict.toLowerCase()}`;
console.log([count('met'), count('MISSED'), count('FAILED'), count('not run')].join(', '));
// A line that failed may have left servers behind that would keep this process.
process.exit(verdicts.every((verdict) => verdict === 'met') ? 0 : 1);

function namedBy(word: string): string[] {
  return names.includes(word) ? [word] : names.filter((name) => name.includes(word));
}

async function verdictOn(name: string, line: Line): Promise<Verdict> {
  const say = (verdict: Verdict, what: string): Verdict => {
    console.log(`${verdict.padEnd(7)} ${name} · ${line.name}: ${what}`);
    return verdict;
  };
  const lacking = (line.needs ?? []).flatMap((need) => need() ?? []);
  if (lacking.length > 0) return say('not run', lacking.join('; '));
  try {
    const { value, detail } = await line.run();
    const { kind, bound, unit } = line.budget;
    const figure = `${format(value)} ${unit} (budget ${kind} ${bound})`;
    return say(isMet(line.budget, value) ? 'met' : 'MISSED', `${figure}\n        ${line.what}\n        ${detail}`);
  } catch (error) {
    return say('FAILED', error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}

function format(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(3);
}
