import { newestFirst } from '../../core/snapshot-pages.ts';
import { buildUserState, largeOf, movedOn } from '../../core/user-state.ts';
import { Bug, Unavailable } from '../../errors.ts';
import type { Clock, Random, StateAnswer, StateCall, StateStore, StateView } from '../../ports.ts';
import { LargeRevs } from './large-revs.ts';
import type { Argument, Reply } from './link.ts';
import { AnswerReader, ANY_NODE } from './packed-answer.ts';
import { CallWriter } from './call-text.ts';
import { minuteOf, packMeta, unpackMeta } from './packed-meta.ts';
import { packRow, unpackRows } from './packed-row.ts';
import type { PartitionCalls } from './partition-calls.ts';
import { partitionOf, userKey } from './partitions.ts';
import { scripts } from './script-files.ts';

export interface RedisStateOptions {
  readonly calls: PartitionCalls;
  readonly clock: Clock;
  readonly random: Random;
  /** This node, as other nodes address it (wakeup.ts). */
  readonly nodeId: number;
  /** Whether this node holds sockets of the user. */
  readonly holds: (user: string) => boolean;
  /** A node that has not read a user's state for so long is not told of the user's changes. */
  readonly nodeMinutes: number;
  readonly ttlSeconds?: number;
}

const TTL_SECONDS = 30 * 24 * 3600;
/** The time to live is renewed when at least this much of it is gone, so that not every read is a write. */
const RENEW_AFTER_SECONDS = 24 * 3600;
/** A marker is of use as long as its build may run. */
const MARKER_TTL_SECONDS = 600;
/** One call of a script: about a millisecond of the server. */
const CALL_USERS_MAX = 200;
const CALL_ROWS_MAX = 2000;
const LARGE_FIELD = Buffer.of(0xff);

/** The state of all users in Redis or Valkey: one hash a user (packed-row.ts), changed by scripts alone. */
export class RedisState implements StateStore {
  readonly outlivesProcess = true;
  readonly #options: RedisStateOptions;
  readonly #calls: PartitionCalls;
  readonly #ttlSeconds: number;
  readonly #large: LargeRevs;
  readonly #nodeId: Buffer;

  constructor(options: RedisStateOptions) {
    this.#options = options;
    this.#calls = options.calls;
    this.#ttlSeconds = options.ttlSeconds ?? TTL_SECONDS;
    this.#large = new LargeRevs(options.calls, options.random, this.#ttlSeconds);
    this.#nodeId = Buffer.alloc(4);
    this.#nodeId.writeUInt32LE(options.nodeId);
  }

  async apply(calls: readonly StateCall[]): Promise<StateAnswer[]> {
    const answers = Array.from<StateAnswer>({ length: calls.length });
    const writer = new CallWriter();
    const groups = groupCalls(calls, (partition) => this.#calls.unitOf(partition));
    const outcomes = await Promise.allSettled(groups.map((group) => this.#applyGroup(group, calls, writer, answers)));
    const failures = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    const fault = failures.find((reason) => !(reason instanceof Unavailable));
    if (fault !== undefined || (failures.length > 0 && failures.length === groups.length)) throw fault ?? failures[0];
    outcomes.forEach((outcome, i) => {
      if (outcome.status === 'fulfilled') return;
      const { retryMs } = outcome.reason as Unavailable;
      for (const place of (groups[i] as Group).places) answers[place] = { kind: 'away', retryMs };
    });
    return answers;
  }

  async read(user: string, sinceVersion?: number): Promise<StateView | null> {
    const { clock, holds, nodeMinutes } = this.#options;
    const partition = partitionOf(user);
    const args = [
      sinceVersion === undefined ? '' : String(sinceVersion),
      holds(user) ? this.#nodeId : '',
      String(minuteOf(clock.nowMs())),
      String(nodeMinutes),
      String(this.#ttlSeconds),
      String(this.#ttlSeconds - Math.min(RENEW_AFTER_SECONDS, this.#ttlSeconds / 2)),
    ];
    const caughtUp = this.#large.caughtUp();
    // Waited for only where it is of use: who is in no large conversation can be served without it.
    caughtUp.catch(() => {});
    const reply = await this.#calls.run(scripts.read, partition, [userKey(partition, user)], args);
    if (!Array.isArray(reply)) return null;
    const [metaBytes, rowBytes, largeBytes] = reply.map(bufferOf) as [Buffer, Buffer, Buffer];
    const { nodes: _, ...stands } = unpackMeta(metaBytes, 0, metaBytes.length);
    const rows = unpackRows(rowBytes);
    const largeRows = sinceVersion === undefined ? rows : unpackRows(largeBytes);
    const large = new Map(largeRows.filter((row) => row.large && row.member).map((row) => [row.conv, row]));
    if (large.size > 0) await caughtUp;
    const names = [...large.keys()].map(copied);
    const largeBehind = movedOn({ rows: large }, names, (conv) => this.#large.revOf(conv));
    return { ...stands, user, rows, large: names, largeBehind };
  }

  async beginBuild(user: string, token: string, takeOverAfterMs: number): Promise<boolean> {
    const args = [token, String(takeOverAfterMs), String(MARKER_TTL_SECONDS)];
    return (await this.#runFor(user, scripts.beginBuild, args)) === 1;
  }

  async completeBuild(
    user: string,
    token: string,
    epoch: string,
    rows: Parameters<StateStore['completeBuild']>[3],
    evenIfDirty = false,
  ): Promise<{ stored: boolean; dirty: readonly string[] }> {
    const state = buildUserState(user, epoch, rows);
    // Until every node that holds sockets of the user has read the new state, and so said that it does, all are told.
    const nodes = [{ id: ANY_NODE, minute: minuteOf(this.#options.clock.nowMs()) }];
    const fields: Argument[] = ['', packMeta(state, this.#calls.fenceOf(partitionOf(user)), nodes)];
    const large = largeOf(state);
    if (large.length > 0) fields.push(LARGE_FIELD, Buffer.concat(large.map(packName)));
    // A hash in its compact form keeps the order in which it was written, and what is nearly sorted costs a snapshot little to sort.
    for (const row of [...state.rows.values()].toSorted(newestFirst)) fields.push(row.conv, packRow(row));
    const args = [token, String(this.#ttlSeconds), evenIfDirty ? '1' : '0', ...fields];
    const reply = await this.#runFor(user, scripts.completeBuild, args);
    if (!Array.isArray(reply)) return { stored: false, dirty: [] };
    const [stored, ...dirty] = reply;
    return { stored: stored === 1, dirty: dirty.map(String) };
  }

  async abandonBuild(user: string, token: string): Promise<void> {
    await this.#runFor(user, scripts.abandonBuild, [token]);
  }

  raiseLarge(revs: ReadonlyMap<string, number>): Promise<void> {
    return this.#large.raise(revs);
  }

  async drop(user: string): Promise<void> {
    const partition = partitionOf(user);
    await this.#calls.send(partition, 'UNLINK', userKey(partition, user));
  }

  ping(): Promise<void> {
    return this.#calls.ping();
  }

  async close(): Promise<void> {
    this.#calls.close();
  }

  /** Puts the answers of the group in their places. */
  async #applyGroup(
    { unit, places, keys }: Group,
    calls: readonly StateCall[],
    writer: CallWriter,
    answers: StateAnswer[],
  ): Promise<void> {
    const args: string[] = [];
    let times = 0;
    for (const place of places) {
      const written = writer.write(calls[place] as StateCall);
      if (written === args.at(-2)) args[args.length - 1] = String(++times);
      else {
        times = 1;
        args.push(written, '1');
      }
    }
    const reply = bufferOf(await this.#calls.run(scripts.apply, unit, keys, args));
    const { clock, nodeMinutes } = this.#options;
    const reader = new AnswerReader(reply, { nowMs: clock.nowMs(), nodeMinutes });
    for (const place of places.toReversed()) answers[place] = reader.previous(calls[place] as StateCall);
    reader.finish();
  }

  #runFor(user: string, script: (typeof scripts)[keyof typeof scripts], args: readonly Argument[]): Promise<Reply> {
    const partition = partitionOf(user);
    return this.#calls.run(script, partition, [userKey(partition, user)], args);
  }
}

/** These outlive the rows that they are cut from. */
function copied(name: string): string {
  return Buffer.from(name).toString();
}

/** Users whose calls go out as one. */
interface Group {
  readonly unit: number;
  /** Where in the list of calls. */
  readonly places: number[];
  readonly keys: string[];
  rows: number;
}

/** In the order given, and no larger than one call of a script may be. */
function groupCalls(calls: readonly StateCall[], unitOf: (partition: number) => number): Group[] {
  const groups: Group[] = [];
  const last = new Map<number, Group>();
  calls.forEach(({ user, rows, parts }, place) => {
    const partition = partitionOf(user);
    const unit = unitOf(partition);
    const weight = rows.length + parts.length;
    let group = last.get(unit);
    if (!group || group.places.length >= CALL_USERS_MAX || group.rows + weight > CALL_ROWS_MAX) {
      group = { unit, places: [], keys: [], rows: 0 };
      groups.push(group);
      last.set(unit, group);
    }
    group.places.push(place);
    group.keys.push(userKey(partition, user));
    group.rows += weight;
  });
  return groups;
}

/** The length in one byte, then the name. */
function packName(name: string): Buffer {
  const bytes = Buffer.from(name);
  return Buffer.concat([Buffer.of(bytes.length), bytes]);
}

function bufferOf(reply: Reply | undefined): Buffer {
  if (Buffer.isBuffer(reply)) return reply;
  throw new Bug('the state store answered something else than a script answers');
}
