// Two devices of one user, and whatever may happen to them as plain data, so that a failing history can be printed, shrunk
// and kept. After each thing shown: the total is the sum of what is listed, and every number was the server's at some moment.
import fc from 'fast-check';
import { expect } from 'vitest';
import type { TidemarkClient } from '../../client/index.ts';
import type { ClientCodec } from '../../client/json-codec.ts';
import type { Codec } from '../../protocol/codec.ts';
import type { ServerFrame } from '../../protocol/server-frames.ts';
import { ClientWorld, shownBy, truthOf } from './client-world.ts';
import type { Fault } from './virtual-network.ts';

const CONVS = ['c0', 'c1', 'c2', 'c3', 'c4', 'c5'] as const;
const LARGE = 'c5';
const DEVICES = ['phone', 'laptop'] as const;
/** More rungs than this without equal sums, and a client shows what it cannot verify. */
const RUNGS_SHOWN_AFTER = 3;
const CALM_MS = 10 * 60_000;

type Conv = (typeof CONVS)[number];
type On = { on: (typeof DEVICES)[number] };

export type Step =
  | { do: 'post'; conv: Conv; from: string; countable: boolean; named: boolean }
  | { do: 'recall'; conv: Conv; seq: number }
  | { do: 'leave' | 'join'; conv: Conv }
  | ({ do: 'read'; conv: Conv; upTo?: number | undefined } & On)
  | ({ do: 'unread'; conv: Conv; fromSeq?: number | undefined } & On)
  | ({ do: 'mute' | 'hide'; conv: Conv; flag: boolean } & On)
  | ({ do: 'clear'; conv: Conv } & On)
  | ({ do: 'read all' | 'sync' | 'connect' | 'disconnect' } & On)
  | { do: 'faults'; faults: Fault[] }
  | { do: 'close all'; code: number }
  | { do: 'refuse'; with: { code: string; retry_ms?: number } | null }
  | { do: 'kill all' | 'lose state' }
  | { do: 'pass' | 'sleep' | 'line down'; ms: number };

export class ClientScene {
  readonly world: ClientWorld;
  readonly devices: Record<(typeof DEVICES)[number], TidemarkClient>;
  readonly wrong: string[] = [];
  #faults: Fault[] = [];
  #verifiable = true;

  constructor(codec: Codec, clientCodec: ClientCodec) {
    this.world = new ClientWorld({ codec, clientCodec, server: { heartbeatMs: 5_000 }, tokenMs: 120_000 });
    const { network, truth } = this.world;
    for (const conv of CONVS) truth.create(conv, ['u1', 'u2', 'u3'], conv === LARGE);
    network.fault = () => this.#faults.shift() ?? 'none';
    network.falsify = falsified;
    this.devices = { phone: this.world.client('u1'), laptop: this.world.client('u1') };
    for (const [name, device] of Object.entries(this.devices)) {
      device.on('repair', ({ rung }) => (this.#verifiable &&= rung <= RUNGS_SHOWN_AFTER));
      device.subscribe(() => this.#look(name, device));
      device.connect();
    }
  }

  async perform(step: Step): Promise<void> {
    const { world } = this;
    const device = 'on' in step ? this.devices[step.on] : this.devices.phone;
    switch (step.do) {
      case 'post':
        return void world.truth.post(step.conv, step.from, {
          countable: step.countable,
          mentions: step.named ? ['u1'] : [],
        });
      case 'recall':
        return world.truth.recall(step.conv, step.seq);
      case 'leave':
        return world.truth.leave(step.conv, 'u1');
      case 'join':
        return world.truth.join(step.conv, 'u1');
      case 'read':
        if (step.upTo !== undefined) device.markRead(step.conv, { upTo: step.upTo });
        else if (device.get(step.conv)) device.markRead(step.conv);
        return undefined;
      case 'unread':
        return device.markUnread(step.conv, step.fromSeq === undefined ? {} : { fromSeq: step.fromSeq });
      case 'mute':
        return device.mute(step.conv, step.flag);
      case 'hide':
        return device.hide(step.conv, step.flag);
      case 'clear':
        return device.get(step.conv) && device.clear(step.conv);
      case 'read all':
        return device.list().length > 0 ? device.markAllRead() : undefined;
      case 'sync':
        return device.sync({ force: true });
      case 'connect':
        return device.connect();
      case 'disconnect':
        return device.disconnect();
      case 'faults':
        this.#faults = [...step.faults];
        return undefined;
      case 'close all':
        return world.server.closeAll(step.code);
      case 'refuse':
        world.server.refuseWith = step.with;
        return undefined;
      case 'kill all':
        return world.network.killAll();
      case 'lose state':
        return world.truth.loseState('u1');
      case 'pass':
        return world.clock.pass(step.ms);
      case 'sleep':
        return world.clock.sleep(step.ms);
      case 'line down':
        world.network.down = true;
        await world.clock.pass(step.ms);
        world.network.down = false;
        return undefined;
    }
  }

  /** Nothing goes wrong any more: both devices come to show what the server counts, and nothing stays pending. */
  async calm(): Promise<void> {
    const { world } = this;
    this.#faults = [];
    world.network.down = false;
    world.server.refuseWith = null;
    const devices = Object.values(this.devices);
    for (const device of devices) device.connect();
    const right = () => JSON.stringify(truthOf(world.truth, 'u1'));
    const settled = (device: TidemarkClient) =>
      device.state === 'live' && device.pending().length === 0 && JSON.stringify(shownBy(device)) === right();
    await world.clock.passUntil(() => devices.every(settled), CALM_MS);
    for (const device of devices) {
      expect(shownBy(device)).toEqual(truthOf(world.truth, 'u1'));
      expect(device.pending()).toEqual([]);
      expect(device.state).toBe('live');
      await device.close();
    }
    expect(this.wrong).toEqual([]);
    expect(world.clientClock.timers()).toBe(0);
  }

  #look(name: string, device: TidemarkClient): void {
    const say = (what: string) => this.wrong.push(`${name}: ${what}`);
    const list = device.list();
    const sum = (part: (one: (typeof list)[number]) => number) => list.reduce((all, one) => all + part(one), 0);
    if (device.total() !== sum(({ unread }) => unread)) say('total is not the sum of the list');
    if (device.mentions() !== sum(({ mentions }) => mentions)) say('mentions is not the sum of the list');
    if (device.badge() !== sum((one) => (one.muted ? one.mentions : one.unread)))
      say('badge is not the sum of the list');
    if (!this.#verifiable) return;
    const { everRows, everTotals } = this.world.truth.state('u1');
    const touched = new Set(
      device.pending().flatMap((one) => (one.t === 'read_all' ? one.heads.map(({ conv }) => conv) : [one.conv])),
    );
    for (const { conv, unread, mentions } of list) {
      const readHere = touched.has(conv) && unread === 0 && mentions === 0;
      if (!readHere && !everRows.has(`${conv} ${unread} ${mentions}`)) say(`never true: ${conv} ${unread} ${mentions}`);
    }
    const totals = `${device.total()} ${device.badge()} ${device.mentions()}`;
    if (touched.size === 0 && list.length > 0 && !everTotals.has(totals)) say(`never true: totals ${totals}`);
  }
}

/** A number, a digest or a sum that is not the server's. */
function falsified(frame: ServerFrame): ServerFrame {
  switch (frame.t) {
    case 'delta':
    case 'snapshot':
      return { ...frame, rows: frame.rows.map((row, i) => (i === 0 ? { ...row, unread: row.unread + 1 } : row)) };
    case 'hb':
    case 'acked':
      return { ...frame, digest: '123456789abc' };
    case 'welcome':
    case 'synced':
      return { ...frame, total: frame.total + 1 };
    default:
      return frame;
  }
}

// ---------------------------------------------------------------------- arbitrary histories

const conv = fc.constantFrom(...CONVS);
const on = fc.constantFrom(...DEVICES);
const flag = fc.boolean();
const seq = fc.nat(12);
const is = <K extends Step['do']>(...kinds: K[]) => fc.constantFrom(...kinds);
const faults = fc.array(fc.constantFrom<Fault>('none', 'drop', 'duplicate', 'swap', 'kill'), { maxLength: 6 });

const weighted: [number, fc.Arbitrary<Step>][] = [
  [6, fc.record({ do: is('post'), conv, from: fc.constantFrom('u1', 'u2', 'u3'), countable: flag, named: flag })],
  [1, fc.record({ do: is('recall'), conv, seq })],
  [2, fc.record({ do: is('leave', 'join'), conv })],
  [6, fc.record({ do: is('read'), on, conv, upTo: fc.option(seq, { nil: undefined }) })],
  [
    2,
    fc.record({ do: is('unread'), on, conv, fromSeq: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }) }),
  ],
  [2, fc.record({ do: is('mute', 'hide'), on, conv, flag })],
  [1, fc.record({ do: is('clear'), on, conv })],
  [5, fc.record({ do: is('read all', 'sync', 'connect', 'connect', 'disconnect'), on })],
  [4, fc.record({ do: is('faults'), faults })],
  [1, fc.constant({ do: 'faults', faults: ['lie'] })],
  [1, fc.record({ do: is('close all'), code: fc.constantFrom(4000, 4001, 4100, 4101, 4103, 4200) })],
  [
    1,
    fc.record({
      do: is('refuse'),
      with: fc.constantFrom({ code: 'unavailable', retry_ms: 300 }, { code: 'internal' }, null),
    }),
  ],
  [2, fc.record({ do: is('kill all', 'lose state') })],
  [8, fc.record({ do: is('pass'), ms: fc.integer({ min: 0, max: 60 }) })],
  [3, fc.record({ do: is('pass', 'line down'), ms: fc.integer({ min: 100, max: 30_000 }) })],
  [1, fc.record({ do: is('sleep'), ms: fc.integer({ min: 1, max: 200_000 }) })],
];

export const histories = fc.array(fc.oneof(...weighted.map(([weight, arbitrary]) => ({ weight, arbitrary }))), {
  minLength: 5,
  maxLength: 80,
  size: 'max',
});
