import { describe, expect, test } from 'vitest';
import { memoryBackend, persisted, STORE_FORMAT } from '../../../client/persistence.ts';
import type { StoreBackend, StoreChange, Stored } from '../../../client/persistence.ts';
import type { Kept } from '../../../client/store.ts';
import type { Row } from '../../../protocol/server-frames.ts';
import { ClientWorld, shownBy, truthOf } from '../../support/client-world.ts';

function failing(): never {
  throw new Error('a store that fails nobody expected');
}

async function scene() {
  const world = new ClientWorld();
  for (const conv of ['c1', 'c2', 'c3']) {
    world.truth.create(conv, ['u1', 'u2']);
    world.truth.post(conv, 'u2');
  }
  return world;
}

/** Remembers what was written. */
function watched(backend: StoreBackend = memoryBackend()) {
  const writes: StoreChange[] = [];
  const watching: StoreBackend = {
    ...backend,
    write: async (change) => {
      writes.push(structuredClone(change));
      return backend.write(change);
    },
  };
  return { backend: watching, writes };
}

test('a page that is loaded again shows the old numbers at once, asks from its cursor and sends what was not confirmed', async () => {
  const world = await scene();
  const backend = memoryBackend();
  const first = await world.live('u1', { store: persisted(backend, failing) });
  first.disconnect();
  first.markRead('c1');
  first.mute('c2');
  const held = shownBy(first);
  await first.close();

  world.truth.post('c3', 'u2');
  const second = world.client('u1', { store: persisted(backend, failing) });
  second.connect();
  second.markRead('c2', { upTo: 1 });
  await world.clock.pass(0);
  expect(second.user).toBe('u1');
  expect(second.list()).toHaveLength(3);
  expect(second.total()).toBe(held.total - 1);
  const modes: string[] = [];
  second.on('synced', ({ mode }) => modes.push(mode));
  await world.until(() => second.state === 'live' && second.pending().length === 0);
  expect(modes).toEqual(['delta']);
  expect(shownBy(second)).toEqual(truthOf(world.truth, 'u1'));
  expect(second.total()).toBe(2);
  const hellos = world.sent('hello') as { device: string }[];
  expect(new Set(hellos.map(({ device }) => device)).size).toBe(1);
  await second.close();
});

test('only what has changed is written, rows and cursor together, one write at a time', async () => {
  const world = await scene();
  const { backend, writes } = watched();
  const client = await world.live('u1', { store: persisted(backend, failing) });
  await world.clock.pass(10);
  const before = writes.length;
  for (let i = 0; i < 3; i++) world.truth.post('c2', 'u2');
  await world.clock.pass(10);
  const after = writes.slice(before);
  expect(after.length).toBeGreaterThan(0);
  expect(after.every(({ since }) => since !== null)).toBe(true);
  expect(after.flatMap(({ rows }) => rows.map(({ conv }) => conv))).not.toContain('c1');
  for (const { rows, syncVersion } of after) {
    for (const row of rows) expect(row.version).toBeLessThanOrEqual(syncVersion);
  }
  world.truth.leave('c1', 'u1');
  await world.clock.pass(10);
  expect(writes.at(-1)).toMatchObject({ removed: ['c1'], rows: [] });
  expect(await backend.load()).toMatchObject({ user: 'u1', rows: [{ conv: 'c2' }, { conv: 'c3' }] });
  await client.close();
});

test('pages of a snapshot write nothing until the last; what was loaded is not written again', async () => {
  const world = await scene();
  for (let i = 0; i < 500; i++) world.truth.create(`many${i}`, ['u1', 'u2']);
  const { backend, writes } = watched();
  const first = await world.live('u1', { store: persisted(backend, failing) });
  await world.clock.pass(10);
  await first.close();
  // What came before the rows: whose they are.
  const [welcomed, ...complete] = writes.splice(0);
  expect(welcomed).toMatchObject({ user: 'u1', epoch: null, rows: [] });
  expect(complete.map(({ rows }) => rows.length)).toEqual([503]);

  const second = await world.live('u1', { store: persisted(backend, failing) });
  world.truth.post('c2', 'u2');
  await world.until(() => second.total() === 4);
  await world.clock.pass(10);
  expect(writes.some(({ since }) => since === null)).toBe(false);
  expect(writes.flatMap(({ rows }) => rows.map(({ conv }) => conv))).toEqual(['c2']);
  await second.close();
});

test('a write that fails is told, and the next one makes up for it', async () => {
  const world = await scene();
  const kept = memoryBackend();
  const errors: unknown[] = [];
  let fails = true;
  const backend: StoreBackend = {
    ...kept,
    write: async (change) => {
      if (fails) throw new Error('the disk is full');
      return kept.write(change);
    },
  };
  const client = await world.live('u1', { store: persisted(backend, (error) => errors.push(error)) });
  await world.clock.pass(10);
  expect(errors).toContainEqual(new Error('the disk is full'));
  expect(client.total()).toBe(3);
  fails = false;
  world.truth.post('c1', 'u2');
  await world.clock.pass(10);
  expect(((await kept.load()) as StoreChange).rows).toHaveLength(3);
  await client.close();
});

test('what is asked for while a write fails is written all the same', async () => {
  const world = await scene();
  const kept = memoryBackend();
  const failures = [Promise.withResolvers<never>()];
  const backend: StoreBackend = { ...kept, write: async (change) => failures.shift()?.promise ?? kept.write(change) };
  const errors: unknown[] = [];
  const store = persisted(backend, (error) => errors.push(error));
  const [failure] = failures;
  const client = world.client('u1', { store });
  await world.clock.pass(0);
  client.markRead('c1', { upTo: 1 });
  await world.clock.pass(0);
  client.markRead('c2', { upTo: 1 });
  failure?.reject(new Error('the database was closed'));
  await store.settled();
  expect(errors).toEqual([new Error('the database was closed')]);
  expect(await kept.load()).toMatchObject({ commands: [{ conv: 'c1' }, { conv: 'c2' }] });
  await client.close();
});

test('a copy that was wiped, or that another one has written, is made anew as a whole', async () => {
  const world = await scene();
  const backend = memoryBackend();
  const client = await world.live('u1', { store: persisted(backend, failing) });
  await world.clock.pass(10);
  const kept = async () => ((await backend.load()) as Stored).rows.map(({ conv }) => conv);
  const older = (await backend.load()) as Stored;
  await backend.clear();
  world.truth.post('c1', 'u2');
  await world.clock.pass(10);
  expect(await kept()).toEqual(['c1', 'c2', 'c3']);
  await backend.write({ ...older, since: null, rows: older.rows.slice(0, 1), removed: [] });
  world.truth.post('c1', 'u2');
  await world.clock.pass(10);
  expect(await kept()).toEqual(['c1', 'c2', 'c3']);
  await client.close();
});

test('a store that cannot be read costs what it held, not the client', async () => {
  const world = await scene();
  const store = persisted({ ...memoryBackend(), load: () => Promise.reject(new Error('private mode')) }, failing);
  const client = world.client('u1', { store });
  const errors: unknown[] = [];
  client.on('error', ({ error }) => errors.push([error.code, error.cause]));
  client.connect();
  await world.until(() => client.state === 'live');
  expect(errors).toEqual([['store', new Error('private mode')]]);
  expect(client.total()).toBe(3);
  await client.close();
});

describe('what cannot be trusted is not taken', () => {
  const row = { conv: 'c1', version: 3, unread: 1, mentions: 0, read_seq: 0, read_epoch: 0, head_seq: 1 };
  const good = { format: STORE_FORMAT, device: 'd', user: 'u1', epoch: 'e', syncVersion: 3, rows: [row], commands: [] };
  const load = (held: unknown) => persisted({ ...memoryBackend(), load: async () => held }, failing).load();
  test('the good one is', async () => {
    expect(await load(good)).toMatchObject({ user: 'u1', rows: new Map([['c1', row]]) });
  });
  test.each([
    ['nothing', null],
    ['text', 'x'],
    ['another format', { ...good, format: 0 }],
    ['a damaged row', { ...good, rows: [{ ...row, unread: '1' }] }],
    ['no rows', { ...good, rows: undefined }],
    ['no device', { ...good, device: undefined }],
    ['damaged commands', { ...good, commands: [null] }],
    ['commands of a newer version', { ...good, commands: [{ t: 'pin', conv: 'c1' }] }],
  ])('%s', async (_name, held) => {
    expect(await load(held)).toBeNull();
  });
});

test('[SY7] rows that were changed behind our back are found by their digest', async () => {
  const world = await scene();
  const backend = memoryBackend();
  const first = await world.live('u1', { store: persisted(backend, failing) });
  await first.close();
  const stored = (await backend.load()) as StoreChange;
  await backend.write({
    ...stored,
    since: null,
    removed: [],
    rows: stored.rows.map((row) => ({ ...row, unread: 5 })),
  });
  const second = await world.live('u1', { store: persisted(backend, failing) });
  await world.until(() => second.total() === 3);
  expect(world.server.divergences).toBe(1);
  await second.close();
});

test('another user: nothing of the former one is shown, sent or kept', async () => {
  const world = await scene();
  world.truth.create('c9', ['u3', 'u2']);
  world.truth.post('c9', 'u2');
  const backend = memoryBackend();
  const first = await world.live('u1', { store: persisted(backend, failing) });
  first.disconnect();
  first.markRead('c1');
  await first.close();

  const second = world.client('u3', { store: persisted(backend, failing) });
  const totals = new Set<number>();
  second.connect();
  await world.clock.pass(0);
  second.subscribe(() => totals.add(second.total()));
  await world.until(() => second.state === 'live');
  expect([...totals]).toEqual([0, 1]);
  expect(world.sent('ack')).toEqual([]);
  expect(second.list().map(({ conv }) => conv)).toEqual(['c9']);
  await second.close();
  expect(await backend.load()).toMatchObject({ user: 'u3', rows: [{ conv: 'c9' }], commands: [] });
});

test('a page of another user that has written at the same version: nobody’s rows are laid over those of somebody else', async () => {
  const backend = memoryBackend();
  const [ann, bob] = [persisted(backend, failing), persisted(backend, failing)];
  const rowOf = (conv: string, version: number): Row => ({
    conv,
    version,
    unread: 1,
    mentions: 0,
    read_seq: 0,
    read_epoch: 0,
    head_seq: 1,
  });
  const of = (user: string, syncVersion: number, ...rows: Row[]): Kept => ({
    device: 'd',
    user,
    epoch: 'shared',
    syncVersion,
    commands: [],
    rows: new Map(rows.map((row) => [row.conv, row])),
  });
  const before = of('ann', 5, rowOf('a1', 4), rowOf('a2', 5));
  ann.save(before);
  await ann.settled();
  bob.save(of('bob', 5, rowOf('b1', 5)));
  await bob.settled();
  const after = of('ann', 6, ...before.rows.values(), rowOf('a3', 6));
  ann.save(after);
  await ann.settled();
  expect(await bob.load()).toEqual(after);
});

test('a log-out leaves nothing behind', async () => {
  const world = await scene();
  const backend = memoryBackend();
  const client = await world.live('u1', { store: persisted(backend, failing) });
  client.markRead('c1');
  await client.close({ forget: true });
  expect(await backend.load()).toBeNull();
  expect([client.total(), client.list(), client.pending()]).toEqual([0, [], []]);
});
