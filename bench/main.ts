/**
 * npm run bench [-- WORD …]      the line of that name, else all whose names hold the word; every line without a word
 *
 * Ratios are taken within this run; times and the rest hold for a machine that nobody else is using. Exit 1 when a budget is missed by
 * more than the noise band, or when a line could not be run here; 2 when a word names no line.
 */
import { LINES } from './all-lines.ts';
import { isMet, type Line } from './line.ts';

const names = Object.keys(LINES);
const words = process.argv.slice(2);
const unknown = words.filter((word) => namedBy(word).length === 0);
if (unknown.length > 0) {
  console.error(`no line is named ${unknown.join(' or ')}; there are: ${names.join(', ')}`);
  process.exit(2);
}

const chosen = words.length === 0 ? names : names.filter((name) => words.some((word) => namedBy(word).includes(name)));
const outcomes: string[] = [];
for (const name of chosen) outcomes.push(await run(name, LINES[name] as Line));
const count = (outcome: string): string => `${outcomes.filter((one) => one === outcome).length} ${outcome}`;
console.log(`${count('met')}, ${count('missed')}, ${count('not run')}`);
process.exitCode = outcomes.every((outcome) => outcome === 'met') ? 0 : 1;

function namedBy(word: string): string[] {
  return names.includes(word) ? [word] : names.filter((name) => name.includes(word));
}

async function run(name: string, line: Line): Promise<'met' | 'missed' | 'not run'> {
  const lacking = (line.needs ?? []).flatMap((need) => need() ?? []);
  if (lacking.length > 0) {
    console.log(`not run ${name} · ${line.name}: ${lacking.join('; ')}`);
    return 'not run';
  }
  const { value, detail } = await line.run();
  const { kind, bound, unit } = line.budget;
  const met = isMet(line.budget, value);
  const said = `${line.name}: ${format(value)} ${unit} (budget ${kind} ${bound})`;
  console.log(`${met ? 'met    ' : 'MISSED '} ${name} · ${said}`);
  console.log(`        ${line.what}`);
  console.log(`        ${detail}`);
  return met ? 'met' : 'missed';
}

function format(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(3);
}
