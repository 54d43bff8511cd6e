// The table of the columns.
import type { InspectAnswer, InspectedDevice } from '../../protocol/http.ts';
import { make } from '../../pages/element.ts';
import { type Column, columnsOf, type Side, SIDES } from './side-by-side.ts';

const NAMES: Readonly<Record<Side, string>> = {
  total: 'total',
  badge: 'badge',
  mentions: 'mentions',
  digest: 'digest',
  sync_version: 'sync_version',
  epoch: 'epoch',
  rows: 'rows held',
};

export function showSides(table: HTMLTableElement, answer: InspectAnswer): void {
  const columns = columnsOf(answer);
  const head = make('tr', '', make('th', ''));
  for (const { title, note, tone } of columns) {
    const cell = make('th', '', make('strong', '', title), make('span', 'note', note));
    cell.scope = 'col';
    cell.dataset['tone'] = tone;
    head.append(cell);
  }
  const body = SIDES.map((side) => {
    const name = make('th', '', NAMES[side]);
    name.scope = 'row';
    return make('tr', '', name, ...columns.map((column) => sideCell(column, side)));
  });
  const lines = answer.devices.map(lineOf);
  const line = make('tr', 'line', make('th', '', 'connection'), make('td', ''), make('td', ''), ...lines);
  const shown = lines.length === 0 ? body : [...body, line];
  table.replaceChildren(make('thead', '', head), make('tbody', '', ...shown));
}

function sideCell({ cells }: Column, side: Side): HTMLElement {
  const { text, tone } = cells[side] ?? { text: '–', tone: 'plain' };
  const cell = make('td', '', text);
  cell.dataset['tone'] = tone;
  cell.dataset['side'] = side;
  return cell;
}

function lineOf({ conn, codec, connected_ms, beat_in_ms, silent_ms, queued_bytes }: InspectedDevice): HTMLElement {
  const facts = [
    `${codec}, ${conn}`,
    `open for ${seconds(connected_ms)}, next heartbeat in ${seconds(beat_in_ms)}`,
    ...(silent_ms === null ? [] : [`silent for ${seconds(silent_ms)}`]),
    ...(queued_bytes === 0 ? [] : [`${queued_bytes} bytes queued`]),
  ];
  return make('td', '', ...facts.map((fact) => make('div', '', fact)));
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
