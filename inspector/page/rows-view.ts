// The conversations: what truth says and what the state holds of each.
import type { InspectAnswer, InspectedFacts, InspectedRow } from '../../protocol/http.ts';
import { make } from '../../pages/element.ts';

interface Field {
  readonly title: string;
  readonly text: (facts: InspectedFacts) => string;
  /** Those whose difference shows here. */
  readonly fields: readonly string[];
}

const FIELDS: readonly Field[] = [
  {
    title: 'unread',
    text: ({ unread, capped }) => `${unread}${capped ? '+' : ''}`,
    fields: ['unread', 'capped'],
  },
  { title: 'mentions', text: ({ mentions }) => String(mentions), fields: ['mentions'] },
  {
    title: 'read',
    text: ({ read_seq, read_epoch }) => `${read_seq}${read_epoch > 0 ? ` (${read_epoch})` : ''}`,
    fields: ['read_seq', 'read_epoch'],
  },
  { title: 'floor', text: ({ floor_seq }) => String(floor_seq), fields: ['floor_seq'] },
  { title: 'head', text: ({ head_seq }) => String(head_seq), fields: ['head_seq'] },
  { title: 'flags', text: flagsOf, fields: ['listing', 'muted', 'marked'] },
  {
    title: 'revs',
    text: ({ conv_rev, member_rev }) => `${conv_rev}, ${member_rev}`,
    fields: ['conv_rev', 'member_rev'],
  },
];

export function createRowsView(table: HTMLTableElement, explain: (conv: string) => void) {
  /** What is shown: whoever has the focus in it keeps it when nothing has changed. */
  let shown = '';

  return (answer: InspectAnswer): void => {
    const next = JSON.stringify([answer.user, answer.rows]);
    if (next === shown) return;
    shown = next;
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset['why'] : undefined;
    table.replaceChildren(header(), make('tbody', '', ...answer.rows.map((row) => rowOf(row, explain))));
    if (focused === undefined) return;
    const buttons = [...table.querySelectorAll<HTMLElement>('[data-why]')];
    buttons.find((button) => button.dataset['why'] === focused)?.focus();
  };
}

function header(): HTMLElement {
  const group = (title: string): HTMLElement => {
    const cell = make('th', 'group', title);
    cell.colSpan = FIELDS.length;
    cell.scope = 'colgroup';
    return cell;
  };
  const titles = FIELDS.map(({ title }, i) => make('th', i === 0 ? 'first' : '', title));
  const again = FIELDS.map(({ title }, i) => make('th', i === 0 ? 'first' : '', title));
  return make(
    'thead',
    '',
    make('tr', '', make('th', ''), make('th', ''), make('th', ''), group('Truth'), group('State')),
    make('tr', '', make('th', '', 'conversation'), make('th', '', 'verdict'), make('th', ''), ...titles, ...again),
  );
}

function rowOf(row: InspectedRow, explain: (conv: string) => void): HTMLElement {
  const { conv, verdict, differ, truth, state } = row;
  const said = make('td', 'verdict', wordsOf(row));
  const why = make('button', 'plain', 'Why?');
  why.type = 'button';
  why.dataset['why'] = conv;
  why.setAttribute('aria-label', `Why is the number of ${conv} what it is?`);
  why.addEventListener('click', () => explain(conv));
  const name = make('th', 'conv', conv);
  name.scope = 'row';
  name.title = conv;
  const element = make('tr', '', name, said, make('td', '', why));
  element.append(...cells(truth, differ, false), ...cells(state, differ, true));
  element.dataset['verdict'] = verdict;
  element.dataset['conv'] = conv;
  return element;
}

function wordsOf({ verdict, differ, state }: InspectedRow): string {
  if (verdict === 'same') return state === null ? 'not held' : verdict;
  return differ.length > 0 ? `${verdict}: ${differ.join(', ')}` : verdict;
}

function cells(facts: InspectedFacts | null, differ: readonly string[], isState: boolean): HTMLElement[] {
  return FIELDS.map(({ title, text, fields }, i) => {
    const cell = make('td', i === 0 ? 'first' : '', facts === null ? '–' : text(facts));
    cell.dataset['field'] = `${isState ? 'state' : 'truth'}-${title}`;
    if (isState && fields.some((field) => differ.includes(field))) cell.classList.add('differs');
    return cell;
  });
}

function flagsOf({ listing, muted, marked }: InspectedFacts): string {
  const flags = [
    ...(listing === 'listed' ? [] : [listing]),
    ...(muted ? ['muted'] : []),
    ...(marked ? ['marked'] : []),
  ];
  return flags.length === 0 ? '' : flags.join(' ');
}
