import { LINES } from './all-lines.ts';

const SIGNS = { 'at most': '≤', 'at least': '≥', exactly: '=' } as const;

/** The table of bench/README.md. */
export function linesTable(): string {
  const rows = Object.entries(LINES).map(
    ([
      pick,
      {
        name,
        budget: { kind, bound, unit },
      },
    ]) => `| \`${pick}\` | ${name} | ${SIGNS[kind]} ${bound} ${unit} |`,
  );
  return ['| pick | line | budget |', '|---|---|---|', ...rows].join('\n');
}
