// One device of one person: the client of the product, a line that can be cut, and a store that shows where the device stands.
import { type ClientStore, type Kept, TidemarkClient } from '../../client/index.ts';
import { clientJsonCodec } from '../../client/json-codec.ts';
import { msgpackCodec } from '../../client/msgpack.ts';
import { type RowSums, sumsOf } from '../../protocol/row-sums.ts';
import type { Row } from '../../protocol/server-frames.ts';
import type { Person } from '../cast.ts';
import { demoServer } from './demo-server.ts';
import { createLine, type Line } from './line.ts';

export type DeviceKind = 'phone' | 'laptop';
type Form = 'json' | 'msgpack';

export interface DeviceStanding {
  readonly epoch: string;
  readonly syncVersion: number;
  /** Added up here from the rows held, whatever the client says. */
  readonly sums: RowSums;
}

export interface Device {
  readonly person: Person;
  readonly name: string;
  readonly kind: DeviceKind;
  readonly form: Form;
  /** "Ann’s laptop" */
  readonly title: string;
  readonly client: TidemarkClient;
  readonly line: Line;
  /** Null before the first snapshot, and while something that was done here waits for the server. */
  standing(): DeviceStanding | null;
  row(conv: string): Row | undefined;
  /** Resolves when the server has answered everything that was done here. */
  confirmed(): Promise<void>;
  /** Called whenever the device may stand elsewhere. */
  onMove(listener: () => void): void;
}

const CODECS = { json: clientJsonCodec, msgpack: msgpackCodec };

export function createDevice(person: Person, name: string, kind: DeviceKind, form: Form): Device {
  const line = createLine(CODECS[form]);
  const listeners = new Set<() => void>();
  let kept: Kept | null = null;
  const store: ClientStore = {
    load: () => Promise.resolve(null),
    save(next) {
      kept = next;
      for (const listener of listeners) listener();
    },
    clear: () => (kept = null),
    settled: () => Promise.resolve(),
  };
  const client = new TidemarkClient({
    url: location.origin,
    getToken: () => demoServer.token(person.user),
    codec: CODECS[form],
    WebSocket: line.WebSocket,
    foreground: line.foreground,
    store,
  });
  return {
    person,
    name,
    kind,
    form,
    title: `${person.name}’s ${name.toLowerCase()}`,
    client,
    line,
    standing() {
      if (kept === null || kept.epoch === null || client.pending().length > 0) return null;
      return { epoch: kept.epoch, syncVersion: kept.syncVersion, sums: sumsOf(kept.rows.values()) };
    },
    row: (conv) => kept?.rows.get(conv),
    confirmed() {
      const { promise, resolve } = Promise.withResolvers<void>();
      const look = () => client.pending().length === 0 && resolve();
      const stops = [client.on('confirmed', look), client.on('refused', look)];
      look();
      return promise.finally(() => stops.forEach((stop) => stop()));
    },
    onMove: (listener) => void listeners.add(listener),
  };
}
