import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** The repository as text, for tests about the repository itself. Paths are relative to its root, with `/`. */
export const ROOT = resolve(import.meta.dirname, '../..');

const LEFT_OUT = ['node_modules', 'dist', 'coverage', 'data', '.git'];

/** Files that match any of the patterns, in byte order, without what is installed, built or produced by running. */
export function filesOf(...patterns: string[]): string[] {
  return globSync(patterns, { cwd: ROOT, exclude: (name) => LEFT_OUT.includes(name) }).toSorted();
}

export function textOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

/** Lines as an editor counts them. */
export function lineCountOf(file: string): number {
  return textOf(file).trimEnd().split('\n').length;
}

/** What a source file imports or re-exports: files of the project as paths from the root, all else as written. */
export function importsOf(file: string): { what: string; typeOnly: boolean }[] {
  const statement = /^\s*(?:import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s+)?'([^']+)'/gm;
  const dynamic = /\bimport\(\s*'([^']+)'\s*\)/g;
  const text = textOf(file);
  const found = [
    ...[...text.matchAll(statement)].map(([, type, from = '']) => ({ from, typeOnly: type !== undefined })),
    ...[...text.matchAll(dynamic)].map(([, from = '']) => ({ from, typeOnly: false })),
  ];
  return found.map(({ from, typeOnly }) => ({
    what: from.startsWith('.') ? relative(ROOT, resolve(ROOT, dirname(file), from)) : from,
    typeOnly,
  }));
}
