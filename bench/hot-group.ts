/**
 * One group in which everybody is present, with messages one at a time and with as many as the server takes: the same messages to the
 * same devices, so only the merging differs. Played once for all lines that ask.
 */
import { Device } from '../loadtest/device.ts';
import { inParallel } from '../loadtest/in-parallel.ts';
import { Target } from '../loadtest/target.ts';
import type { UnreadAnswer } from '../protocol/index.ts';
import { median } from './line.ts';

export interface HotGroup {
  /** Medians over the rounds. */
  readonly framesAnUpdate: number;
  /** Of the server, in µs; a badge update is one message on one device. */
  readonly mergedUs: number;
  readonly unmergedUs: number;
  /** Per round, how many times the updates of a core-second. */
  readonly gain: number;
}

const MEMBERS = 400;
const MESSAGES = { merged: 2000, unmerged: 60 };
/** Requests under way, each with one message. */
const IN_FLIGHT = 64;
const ROUNDS = 7;
const US_PER_SECOND = 1_000_000;
const SHOWN_WITHIN_MS = 30_000;
const SENDER = 'sender';
const CONV = 'hot';

let played: Promise<HotGroup> | null = null;

export function hotGroup(): Promise<HotGroup> {
  return (played ??= play());
}

interface Played {
  readonly framesAnUpdate: number;
  readonly us: number;
}

async function play(): Promise<HotGroup> {
  const target = await Target.start();
  let frames = 0;
  const devices = Array.from({ length: MEMBERS }, (_, i) => {
    const onFrame = ({ t }: { t: string }): void => void (t === 'delta' && frames++);
    return new Device({ target, user: `u${i}`, device: 'phone', binary: i % 2 === 1, place: i, onFrame });
  });
  let head = 0;

  const say = async (): Promise<void> => {
    const event = { type: 'message.created', conv: CONV, message_id: `m${++head}`, sender: SENDER };
    await target.request('POST', '/v1/events', { events: [event] });
  };
  const shown = async (): Promise<void> => {
    for (const device of devices) {
      const isShown = (): boolean => device.state.rows.get(CONV)?.head_seq === head && device.isSettled;
      if (!(await device.waitFor(isShown, SHOWN_WITHIN_MS))) throw new Error('a device did not get the last message');
    }
  };
  const measure = async (messages: number, run: () => Promise<void>): Promise<Played> => {
    frames = 0;
    const since = target.cpuSeconds() ?? 0;
    await run();
    await shown();
    const updates = messages * MEMBERS;
    const us = (((target.cpuSeconds() ?? 0) - since) * US_PER_SECOND) / updates;
    return { framesAnUpdate: frames / updates, us };
  };
  const merged = (): Promise<Played> =>
    measure(MESSAGES.merged, () => inParallel(Array.from({ length: MESSAGES.merged }), IN_FLIGHT, say));
  const unmerged = (): Promise<Played> =>
    measure(MESSAGES.unmerged, async () => {
      for (let i = 0; i < MESSAGES.unmerged; i++) {
        await say();
        await shown();
      }
    });

  try {
    const members = [...devices.map(({ user }) => user), SENDER];
    await target.request('POST', '/v1/events', { events: [{ type: 'conversation.created', conv: CONV, members }] });
    for (const device of devices) device.connect();
    await shown();
    await merged();
    await unmerged();
    const rounds: { merged: Played; unmerged: Played }[] = [];
    for (let round = 0; round < ROUNDS; round++) rounds.push({ merged: await merged(), unmerged: await unmerged() });
    for (const device of devices) await isRight(device, target, head);
    return {
      framesAnUpdate: median(rounds.map((round) => round.merged.framesAnUpdate)),
      mergedUs: median(rounds.map((round) => round.merged.us)),
      unmergedUs: median(rounds.map((round) => round.unmerged.us)),
      gain: median(rounds.map((round) => round.unmerged.us / round.merged.us)),
    };
  } finally {
    await Promise.all(devices.map((device) => device.disconnect()));
    await target.stop();
  }
}

/** The same final state, however it was reached: nobody has read anything, so everybody has all of it unread. */
async function isRight({ user, state }: Device, target: Target, messages: number): Promise<void> {
  const { total, digest } = await target.request<UnreadAnswer>('GET', `/v1/users/${user}/unread`);
  const isSame = state.total === messages && total === messages && state.own.total === messages;
  if (!isSame) throw new Error(`${user} shows ${state.total}, GET says ${total} (${digest}), not ${messages}`);
}
