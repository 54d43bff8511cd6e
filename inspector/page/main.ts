// The page: a key, a user, and what truth, the state and the devices say of that user.
import type { InspectAnswer, InspectedRow } from '../../protocol/http.ts';
import { find, make, setText } from '../../pages/element.ts';
import { createChangesView } from './changes-view.ts';
import { explained } from './explained.ts';
import { createInspectorApi, type InspectorApi, KeyRefused } from './inspector-api.ts';
import { keptKey, recentUsers } from './kept.ts';
import { type LookedAt, lookAt } from './looked-at.ts';
import { createRowsView } from './rows-view.ts';
import { showSides } from './sides-view.ts';
import { verdictOf } from './side-by-side.ts';

const unlock = find('#unlock', HTMLFormElement);
const keyInput = find('#key', HTMLInputElement);
const search = find('#find', HTMLFormElement);
const userInput = find('#user', HTMLInputElement);
const recent = find('#recent', HTMLElement);
const forget = find('#forget', HTMLButtonElement);
const notice = find('#notice', HTMLElement);
const found = find('#found', HTMLElement);
const verdict = find('#verdict', HTMLElement);
const repair = find('#repair', HTMLButtonElement);
const repaired = find('#repaired', HTMLElement);
const silent = find('#silent', HTMLElement);
const why = find('#why', HTMLElement);

const changes = createChangesView(find('#changes', HTMLElement));
const showRows = createRowsView(find('#rows', HTMLTableElement), (conv) => {
  void explain(conv)
    .then(() => why.focus())
    .catch(failed);
});

let api: InspectorApi | null = null;
let looked: LookedAt | null = null;
let last: InspectAnswer | null = null;
let explainedConv: string | null = null;

function useKey(key: string | null): void {
  api = key === null ? null : createInspectorApi(key);
  unlock.hidden = key !== null;
  search.hidden = forget.hidden = key === null;
  showRecent();
  (key === null ? keyInput : userInput).focus();
}

function showRecent(): void {
  const users = api === null ? [] : recentUsers.list();
  recent.replaceChildren(
    ...users.map((user) => {
      const button = make('button', 'plain', user);
      button.type = 'button';
      button.addEventListener('click', () => open(user));
      return button;
    }),
  );
}

function open(user: string): void {
  if (api === null) return;
  close();
  userInput.value = user;
  looked = lookAt(user, api, {
    answer: show,
    change: (change) => changes.add(change),
    live: (isLive) => setText(find('#changes-note', HTMLElement), isLive ? 'live' : 'not live; trying again'),
    failed,
  });
}

function close(): void {
  looked?.end();
  looked = last = explainedConv = null;
  changes.clear();
  found.hidden = notice.hidden = repaired.hidden = why.hidden = true;
}

function show(answer: InspectAnswer): void {
  if (last === null) {
    recentUsers.add(answer.user);
    showRecent();
  }
  if (isOther(answer, explainedConv)) void explain(explainedConv).catch(failed);
  last = answer;
  notice.hidden = true;
  found.hidden = false;
  setText(find('#who', HTMLElement), answer.user);
  const { text, tone } = verdictOf(answer);
  setText(verdict, text);
  verdict.dataset['tone'] = tone;
  showSides(find('#sides', HTMLTableElement), answer);
  showRows(answer);
  const note = answer.left_out > 0 ? `those that differ and the newest; ${answer.left_out} more are not shown` : '';
  setText(find('#rows-note', HTMLElement), note);
  const { asked, answered } = answer.nodes;
  setText(silent, `${asked - answered} of ${asked} nodes did not say which devices they hold.`);
  silent.hidden = answered === asked;
  changes.seen(answer);
}

/** Whether what is explained has changed since the last look. */
function isOther({ rows }: InspectAnswer, conv: string | null): conv is string {
  if (conv === null || why.hidden) return false;
  const text = (all: readonly InspectedRow[] | undefined): string =>
    JSON.stringify(all?.find((row) => row.conv === conv));
  return text(rows) !== text(last?.rows);
}

async function explain(conv: string): Promise<void> {
  const asked = looked;
  if (api === null || asked === null) return;
  const answer = await api.explain(asked.user, conv);
  if (asked !== looked) return;
  const row = last?.rows.find((one) => one.conv === conv);
  setText(find('#why-title', HTMLElement), `Why is ${conv} at ${answer.unread}?`);
  find('#why-text', HTMLElement).replaceChildren(...explained(answer, row).map((line) => make('li', '', line)));
  why.hidden = false;
  explainedConv = conv;
}

async function repairUser(): Promise<void> {
  const asked = looked;
  if (api === null || asked === null) return;
  const wasBehind = (last?.verdicts.behind ?? 0) > 0;
  const { wrong, repaired: mended } = await api.repair(asked.user);
  await asked.look();
  if (asked !== looked) return;
  if (wrong === 0) setText(repaired, wasBehind ? BROUGHT_UP : 'Nothing was wrong.');
  else setText(repaired, mended > 0 ? 'Repaired, and told to the devices.' : STILL_WRONG);
  repaired.hidden = false;
}

const BROUGHT_UP = 'Nothing was wrong; what was behind has been brought up to date.';
const STILL_WRONG =
  'Something is still wrong: the messages themselves do not make what truth says, or the state changed meanwhile. Try again.';

function failed(error: unknown): void {
  if (error instanceof KeyRefused) {
    close();
    keptKey.forget();
    useKey(null);
  }
  setText(notice, error instanceof Error ? error.message : String(error));
  notice.hidden = false;
}

unlock.addEventListener('submit', (event) => {
  event.preventDefault();
  const key = keyInput.value.trim();
  keyInput.value = '';
  notice.hidden = true;
  keptKey.set(key);
  useKey(key);
});
search.addEventListener('submit', (event) => {
  event.preventDefault();
  open(userInput.value);
});
forget.addEventListener('click', () => {
  close();
  keptKey.forget();
  useKey(null);
});
repair.addEventListener('click', () => {
  if (repair.ariaBusy === 'true') return;
  repair.ariaBusy = 'true';
  void repairUser()
    .catch(failed)
    .finally(() => (repair.ariaBusy = null));
});
find('#why-close', HTMLButtonElement).addEventListener('click', () => (why.hidden = true));
document.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLInputElement;
  if (event.key === 'Escape') why.hidden = true;
  if (event.key !== '/' || isTyping || search.hidden) return;
  event.preventDefault();
  userInput.select();
});
useKey(keptKey.get());
