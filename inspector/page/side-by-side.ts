// Truth, the state and the devices as columns, and in words what differs between them.
import type { InspectAnswer, InspectedDevice } from '../../protocol/http.ts';

/** `behind`: not yet, or not until the user asks. */
export type Tone = 'plain' | 'same' | 'behind' | 'wrong';

export interface Cell {
  readonly text: string;
  readonly tone: Tone;
}

export interface Column {
  readonly title: string;
  /** What is to be said of the column as a whole. */
  readonly note: string;
  readonly tone: Tone;
  /** By the fields of `SIDES`. */
  readonly cells: Readonly<Partial<Record<Side, Cell>>>;
}

export const SIDES = ['total', 'badge', 'mentions', 'digest', 'sync_version', 'epoch', 'rows'] as const;
export type Side = (typeof SIDES)[number];

type State = NonNullable<InspectAnswer['state']>;
const SUMS = ['total', 'badge', 'mentions', 'digest'] as const;

export function columnsOf(answer: InspectAnswer): Column[] {
  const state = stateColumn(answer);
  return [truthColumn(answer), state, ...answer.devices.map((device) => deviceColumn(answer, device, state.tone))];
}

/** One sentence on the user. */
export function verdictOf(answer: InspectAnswer): Cell {
  const { truth, state, verdicts, devices } = answer;
  if (truth.rows === 0 && (state === null || state.rows === 0)) {
    return { text: 'Truth knows no conversation of this user.', tone: 'behind' };
  }
  const columns = columnsOf(answer);
  const [, stateSays] = columns as [Column, Column];
  if (stateSays.tone === 'wrong') return { text: stateSays.note, tone: 'wrong' };
  const device = columns.find(({ tone }) => tone === 'wrong');
  if (device !== undefined) return { text: `${device.title}: ${device.note}`, tone: 'wrong' };
  if (state === null) return { text: stateSays.note, tone: 'behind' };
  if (verdicts.behind + verdicts.ahead > 0) return { text: stateSays.note, tone: 'behind' };
  if (devices.length === 0) return { text: 'Truth and state agree; no device is connected.', tone: 'same' };
  if (columns.some(({ tone }) => tone === 'behind')) {
    return { text: 'Truth and state agree; a device is on its way there.', tone: 'behind' };
  }
  return { text: 'Truth, state and devices agree.', tone: 'same' };
}

function truthColumn({ truth }: InspectAnswer): Column {
  const cells = Object.fromEntries(
    [...SUMS, 'rows' as const].map((side) => [side, { text: String(truth[side]), tone: 'plain' }]),
  );
  return { title: 'Truth', note: 'counted from the facts', tone: 'plain', cells };
}

function stateColumn({ truth, state, verdicts }: InspectAnswer): Column {
  if (state === null) {
    const note = 'Nothing is held; it is built from truth when the user next asks.';
    return { title: 'State', note, tone: 'behind', cells: {} };
  }
  const torn = SUMS.filter((side) => state[side] !== state.of_rows[side]);
  const isWrong = verdicts.wrong > 0 || torn.length > 0;
  const isBehind = verdicts.behind + verdicts.ahead > 0;
  const otherwise: Tone = isWrong || !isBehind ? 'wrong' : 'behind';
  const cells: Column['cells'] = {
    ...Object.fromEntries(SUMS.map((side) => [side, sumCell(state, side, truth[side], otherwise)])),
    sync_version: { text: String(state.sync_version), tone: 'plain' },
    epoch: { text: state.epoch, tone: 'plain' },
    rows: { text: String(state.rows), tone: 'plain' },
  };
  return {
    title: 'State',
    note: noteOnState(verdicts, torn),
    tone: isWrong ? 'wrong' : isBehind ? 'behind' : 'same',
    cells,
  };
}

function sumCell(state: State, side: (typeof SUMS)[number], due: string | number, otherwise: Tone): Cell {
  const [held, ofRows] = [state[side], state.of_rows[side]];
  if (held !== ofRows) return { text: `${held}, but its rows make ${ofRows}`, tone: 'wrong' };
  return held === due ? { text: String(held), tone: 'same' } : { text: `${held}, not ${due}`, tone: otherwise };
}

function noteOnState({ wrong, behind, ahead }: InspectAnswer['verdicts'], torn: readonly string[]): string {
  const words = [
    ...(wrong > 0 ? [`${conversations(wrong)} wrong`] : []),
    ...(torn.length > 0 ? [`sums that are not those of its rows (${torn.join(', ')})`] : []),
    ...(behind > 0 ? [`${conversations(behind)} behind`] : []),
    ...(ahead > 0 ? [`${conversations(ahead)} ahead of truth`] : []),
  ];
  return words.length === 0 ? 'The state agrees with truth.' : `The state has ${words.join(', ')}.`;
}

/** Judged by where the state stands: a device is to be told what the state holds, and the state what truth says. */
function deviceColumn({ truth, state }: InspectAnswer, { device, told }: InspectedDevice, stateTone: Tone): Column {
  if (told === null) return { title: device, note: 'is being welcomed', tone: 'behind', cells: {} };
  const isLevel = told.epoch === state?.epoch && told.sync_version === state.sync_version;
  const isToldOtherwise = isLevel && (told.digest !== state.digest || told.total !== state.total);
  const isRight = told.total === truth.total && told.digest === truth.digest;
  const otherwise: Tone = isToldOtherwise || (isLevel && stateTone === 'wrong') ? 'wrong' : 'behind';
  const cells: Column['cells'] = {
    total: dueCell(told.total, truth.total, otherwise),
    digest: dueCell(told.digest, truth.digest, otherwise),
    sync_version: { text: String(told.sync_version), tone: isLevel ? 'same' : 'behind' },
    epoch: { text: told.epoch, tone: told.epoch === state?.epoch ? 'same' : 'behind' },
  };
  const isSame = isLevel && isRight && !isToldOtherwise;
  const note = noteOnDevice({ isLevel, isToldOtherwise, isRight });
  return { title: device, note, tone: isSame ? 'same' : otherwise, cells };
}

function noteOnDevice({
  isLevel,
  isToldOtherwise,
  isRight,
}: Record<'isLevel' | 'isToldOtherwise' | 'isRight', boolean>) {
  if (isToldOtherwise) return 'was told something else than the state now holds at this version';
  if (!isLevel) return 'stands at another version than the state';
  return isRight ? 'was told what truth says' : 'was told what the state says, not what truth says';
}

function dueCell(told: string | number, due: string | number, otherwise: Tone): Cell {
  return told === due ? { text: String(told), tone: 'same' } : { text: `${told}, not ${due}`, tone: otherwise };
}

function conversations(count: number): string {
  return `${count} conversation${count === 1 ? '' : 's'}`;
}
