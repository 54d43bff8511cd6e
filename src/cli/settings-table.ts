import { options } from '../config-table.ts';

/** The settings as a table in Markdown; the operations page holds the same text. */
export function settingsTable(): string {
  const rows = Object.values(options).map(({ env, shown, unit, description }) => {
    const standard = shown === '' ? '–' : `\`${shown}\``;
    return `| \`${env}\` | ${standard} | ${unit} | ${description} |`;
  });
  return ['| variable | default | unit or kind | meaning |', '|---|---|---|---|', ...rows].join('\n');
}
