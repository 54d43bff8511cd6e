/**
 * The scripts, read once. The first comment of each is its contract (Purpose, KEYS, ARGV, Returns, Invariant); the names in it are
 * those to which the script binds what it is given, which is checked here: a script that does not keep its contract is not loaded.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Bug } from '../../errors.ts';

export interface Script {
  readonly name: string;
  readonly text: string;
  readonly sha: string;
  readonly fragments: readonly string[];
  readonly keys: Shape;
  readonly args: Shape;
}

/** What a script is given: a number of named places, and any number of further ones behind them where `isOpen`. */
export interface Shape {
  readonly names: readonly string[];
  readonly isOpen: boolean;
}

const FOLDER = join(import.meta.dirname, 'scripts');
const SECTIONS = ['Purpose', 'KEYS', 'ARGV', 'Returns', 'Invariant'] as const;

export const scripts = {
  apply: readScript('apply'),
  read: readScript('read'),
  beginBuild: readScript('begin-build'),
  completeBuild: readScript('complete-build'),
  abandonBuild: readScript('abandon-build'),
  raiseLarge: readScript('raise-large'),
  largeSince: readScript('large-since'),
} as const satisfies Record<string, Script>;

export function readScript(name: string, folder = FOLDER): Script {
  const source = readFileSync(join(folder, `${name}.lua`), 'utf8');
  const [, contract] = /^--\[\[\n([^]*?)\]\]/.exec(source) ?? [];
  if (contract === undefined) throw new Bug(`${name}.lua does not begin with its contract`);
  const keys = shapeOf(name, contract, 'KEYS');
  const args = shapeOf(name, contract, 'ARGV');
  for (const section of SECTIONS) sectionOf(name, contract, section);
  const body = source.slice(source.indexOf(']]') + 2);
  checkBindings(name, body, 'KEYS', keys);
  checkBindings(name, body, 'ARGV', args);
  const fragments: string[] = [];
  const text = body.replaceAll(/^--@include (\S+)$/gm, (_, fragment: string) => {
    fragments.push(fragment);
    return readFileSync(join(folder, 'fragments', `${fragment}.lua`), 'utf8');
  });
  return { name, text, sha: createHash('sha1').update(text).digest('hex'), fragments, keys, args };
}

function sectionOf(name: string, contract: string, section: (typeof SECTIONS)[number]): string {
  const [, text] = new RegExp(`^ {2}${section}: +(\\S.*)$`, 'm').exec(contract) ?? [];
  if (text === undefined) throw new Bug(`${name}.lua does not say what its ${section} is`);
  return text;
}

/** `a, b, ...rest`, and a remark behind two blanks or more. */
function shapeOf(name: string, contract: string, section: 'KEYS' | 'ARGV'): Shape {
  const [list = ''] = sectionOf(name, contract, section).split('  ');
  const names = list.split(',').map((one) => one.trim());
  return { names: names.filter((one) => !one.startsWith('...')), isOpen: names.some((one) => one.startsWith('...')) };
}

/** Bindings have the form `local a, b = KEYS[1], KEYS[2]`. */
function checkBindings(name: string, body: string, section: 'KEYS' | 'ARGV', { names, isOpen }: Shape): void {
  const bound = new Map<string, string>();
  for (const [, left = '', right = ''] of body.matchAll(/^local ([\w, ]+) = (.+)$/gm)) {
    const values = right.split(', ');
    left.split(', ').forEach((one, i) => bound.set(one, bound.get(one) ?? values[i] ?? ''));
  }
  names.forEach((one, i) => {
    const place = `${section}[${i + 1}]`;
    if (!bound.get(one)?.includes(place)) throw new Bug(`${name}.lua does not bind ${place} to ${one}`);
  });
  const used = [...body.matchAll(new RegExp(`\\b${section}\\[(\\d+)\\]`, 'g'))].map(([, place]) => Number(place));
  if (used.some((place) => place > names.length)) throw new Bug(`${name}.lua uses more of ${section} than it says`);
  if (!isOpen && new RegExp(`\\b${section}\\b(?!\\[\\d)`).test(body)) {
    throw new Bug(`${name}.lua uses ${section} as a list and does not say so`);
  }
}
