// What can be done to the server from the page: say something, say it twice, take it back, say very much, start again.
import type { MessageCreated } from '../../protocol/events.ts';
import type { EventResult } from '../../protocol/http.ts';
import { openingLines, type Person, PREFIX, type Room, rooms } from '../cast.ts';
import { demoServer } from './demo-server.ts';
import type { Device } from './device.ts';
import type { Feed } from './feed.ts';
import type { Say } from './journal.ts';
import { countText, plural } from './numbers.ts';
import { smallTalk } from './small-talk.ts';

export interface Draft {
  readonly sender: Person;
  readonly room: Room;
  /** '' says something of its own. */
  readonly text: string;
  readonly mentions: readonly string[];
  readonly mentionsAll: boolean;
  /** A system notice: takes a seq and never counts (CN5). */
  readonly isNotice: boolean;
}

export type Deeds = ReturnType<typeof createDeeds>;

const FLOOD = 1500;
const FLOOD_BATCH = 500;
const ARRIVAL_MS_MAX = 10_000;

export function createDeeds(devices: readonly Device[], feed: Feed, say: Say) {
  /** Says it once; `times` sends the very same event so often at once. */
  async function send(draft: Draft, times = 1): Promise<void> {
    const text = draft.text || smallTalk();
    const event = eventOf(draft);
    const startedAtMs = performance.now();
    const sent = await Promise.all(Array.from({ length: times }, () => demoServer.post([event])));
    const results = sent.flat();
    const seq = seqOf(results[0]);
    const { sender, room, isNotice } = draft;
    feed.add({ conv: room.conv, seq, sender, text, isNotice });
    if (isNotice)
      return say(
        `${sender.name} posts a notice to ${room.title}: it takes seq ${countText(seq)} and counts for nobody.`,
      );
    const seen = await seenBy(draft, seq);
    const tookMs = Math.max(1, Math.round(performance.now() - startedAtMs));
    say(
      `${sender.name} writes to ${room.title}: message ${countText(seq)} shows on ${plural(seen, 'device')} after ${tookMs} ms.`,
    );
    if (times > 1) tellRepeats(results);
  }

  function tellRepeats(results: readonly EventResult[]): void {
    const seqs = new Set(results.map(seqOf));
    const duplicates = results.filter((result) => result.ok && result.duplicate === true).length;
    const once = seqs.size === 1 ? 'it has one seq' : `it has ${seqs.size} seqs, which is wrong`;
    say(
      `That message was sent ${results.length} times: ${once}, and ${plural(duplicates, 'answer')} said “duplicate”.`,
      'fault',
    );
  }

  /** How many devices of others count the message; gives up on those that are away. */
  async function seenBy({ sender, room }: Draft, seq: number): Promise<number> {
    const signal = AbortSignal.timeout(ARRIVAL_MS_MAX);
    const arrivals = devices
      .filter(
        ({ person, client }) => client.state === 'live' && person !== sender && room.members.includes(person.user),
      )
      .map(({ client }) =>
        client
          .waitFor(() => hasSeen(client.get(room.conv), seq), { signal })
          .then(
            () => true,
            () => false,
          ),
      );
    return (await Promise.all(arrivals)).filter(Boolean).length;
  }

  async function recallLast(room: Room): Promise<void> {
    const said = feed.newestToRecall(room.conv);
    if (said === undefined) return say(`Nothing in ${room.title} that this page could recall.`);
    feed.recall(said);
    await demoServer.post([{ type: 'message.recalled', conv: said.conv, seq: said.seq }]);
    say(
      `${said.sender.name} takes back message ${countText(said.seq)} of ${room.title}: it counts for nobody any more.`,
      'fault',
    );
  }

  async function flood(draft: Draft): Promise<void> {
    const { room, sender, isNotice } = draft;
    const framesBefore = devices.map(({ line }) => line.received.frames);
    const startedAtMs = performance.now();
    let seq = 0;
    for (let sent = 0; sent < FLOOD; sent += FLOOD_BATCH) {
      const events = Array.from({ length: FLOOD_BATCH }, () => eventOf({ ...draft, mentions: [], mentionsAll: false }));
      seq = seqOf((await demoServer.post(events)).at(-1));
    }
    const tookMs = Math.round(performance.now() - startedAtMs);
    feed.add({ conv: room.conv, seq, sender, text: `That was message ${countText(FLOOD)}.`, isNotice });
    if (!isNotice) await seenBy(draft, seq);
    const frames = Math.max(...devices.map(({ line }, i) => line.received.frames - (framesBefore[i] ?? 0)));
    say(
      `${sender.name} sends ${countText(FLOOD)} messages to ${room.title} in ${tookMs} ms; no device needed more than ${plural(frames, 'frame')}.`,
      'fault',
    );
  }

  async function restart(): Promise<void> {
    await demoServer.restart();
    say(
      'The server is gone, and with it all numbers in its memory. The facts are on disk; the devices come back by themselves.',
      'fault',
    );
  }

  async function openScene(scene: typeof demoServer.scene): Promise<void> {
    const { results } = await scene();
    for (const [i, { room, sender, text }] of openingLines.entries()) {
      const seq = seqOf(results[i]);
      feed.add({ conv: room.conv, seq, sender, text, isNotice: false });
    }
  }

  async function startOver(): Promise<void> {
    await openScene(demoServer.startOver);
    say(
      `All is read, and the people begin again: ${plural(openingLines.length, 'message')} in ${plural(rooms.length, 'conversation')}.`,
    );
  }

  return { send, recallLast, flood, restart, startOver, setScene: () => openScene(demoServer.scene) };
}

function eventOf({ sender, room, mentions, mentionsAll, isNotice }: Draft): MessageCreated {
  return {
    type: 'message.created',
    conv: room.conv,
    message_id: `${PREFIX}${crypto.randomUUID()}`,
    sender: sender.user,
    countable: !isNotice,
    mentions: [...mentions],
    mention_all: mentionsAll,
  };
}

/** Devices do not follow the head of a capped row (CN8). */
function hasSeen(row: { headSeq: number; capped: boolean } | undefined, seq: number): boolean {
  return row !== undefined && (row.capped || row.headSeq >= seq);
}

function seqOf(result: EventResult | undefined): number {
  return result?.ok === true ? (result.seq ?? 0) : 0;
}
