import { expect, onTestFinished, test } from 'vitest';
import type { OutboxTarget } from '../../src/ports.ts';
import type { MysqlTruth } from '../../src/truth/mysql/truth.ts';
import { freshDatabase, openTruthAt, say } from '../support/mysql-database.ts';
import { onEachServer } from '../support/mysql-servers.ts';
import { store } from '../support/truth-facts.ts';

const MINUTE_MS = 60_000;

interface Nodes {
  readonly one: MysqlTruth;
  readonly two: MysqlTruth;
  readonly url: string;
}

await onEachServer((server) => {
  const twoNodes = async (): Promise<Nodes> => {
    const database = await freshDatabase(server);
    const nodes = { one: await openTruthAt(database.url), two: await openTruthAt(database.url), url: database.url };
    onTestFinished(async () => {
      await nodes.one.close();
      await nodes.two.close();
      await database.drop();
    });
    return nodes;
  };
  const rows = (count: number): OutboxTarget[] =>
    Array.from({ length: count }, (_, n) => ({ conv: `c${n}`, user: null }));

  test('[CN9] two relays that ask at once share the rows out, and together get every one', async () => {
    const nodes = await twoNodes();
    const { one, two } = nodes;
    const ids = await store(one, { outbox: rows(900) });
    const handedOut: number[] = [];
    for (let round = 0; handedOut.length < ids.length && round < 40; round++) {
      // Asked for rows that nobody has touched for a while; these are as old as the test wants them to be.
      await age(nodes, MINUTE_MS);
      const pages = await Promise.all([one, two, one, two].map(async (node) => node.outbox(MINUTE_MS / 2, 100)));
      const page = pages.flat().map(({ id }) => id);
      expect(new Set(page).size).toBe(page.length);
      handedOut.push(...page);
      await Promise.all(
        pages.map(async (claimed, i) => (i % 2 === 0 ? one : two).outboxDone(claimed.map(({ id }) => id))),
      );
    }
    expect(handedOut.toSorted((a, b) => a - b)).toEqual(ids);
    expect(await two.outbox(0, 10)).toEqual([]);
  });

  test('[CN9] rows that one relay was handed are not those of another of the same age, until they have been left alone for as long', async () => {
    const nodes = await twoNodes();
    const { one, two } = nodes;
    const ids = await store(one, { outbox: rows(3) });
    await age(nodes, MINUTE_MS);
    expect((await one.outbox(MINUTE_MS / 2, 10)).map(({ id }) => id)).toEqual(ids);
    expect(await two.outbox(MINUTE_MS / 2, 10)).toEqual([]);
    // The first has died with them.
    await age(nodes, MINUTE_MS);
    const found = await two.outbox(MINUTE_MS / 2, 10);
    expect(found.map(({ id }) => id)).toEqual(ids);
    expect(Math.abs(found[0]!.createdAtMs - Date.now())).toBeLessThan(MINUTE_MS);
  });

  test('[CN9] rows of a transaction that has not committed are passed over, and waited for by nobody', async () => {
    const { one, two } = await twoNodes();
    const stored = Promise.withResolvers<void>();
    const seen = Promise.withResolvers<void>();
    const open = one.transact(async (tx) => {
      await tx.store({ outbox: rows(1) });
      stored.resolve();
      await seen.promise;
    });
    await stored.promise;
    const [committed] = await store(two, { outbox: rows(1) });
    expect((await two.outbox(0, 10)).map(({ id }) => id)).toEqual([committed]);
    await two.outboxDone([committed!]);
    seen.resolve();
    await open;
    // Its id is lower than one that was handed out before: a cursor over ids would have missed it.
    const [late] = await two.outbox(0, 10);
    expect(late!.id).toBeLessThan(committed!);
  });

  test('what is done is forgotten in few transactions, however many ask', async () => {
    const { one } = await twoNodes();
    const ids = await store(one, { outbox: rows(300) });
    await Promise.all(ids.map(async (id) => one.outboxDone([id])));
    expect(await one.outbox(0, 10)).toEqual([]);
  });

  test('[SY1] epochs: one is shared by all at their first build; a later build, on any node, draws one that nobody has had', async () => {
    const { one, two } = await twoNodes();
    const users = Array.from({ length: 300 }, (_, n) => `user-${n}`);
    const first = await Promise.all(users.map(async (user, n) => (n % 2 === 0 ? one : two).epochs.draw(user)));
    const [shared] = first;
    expect(new Set(first)).toEqual(new Set([shared]));
    const later = await Promise.all(users.flatMap((user) => [one.epochs.draw(user), two.epochs.draw(user)]));
    expect(new Set([...later, shared]).size).toBe(users.length * 2 + 1);
    for (const epoch of later) expect(epoch).toMatch(/^[0-9a-z]{8}$/);
  });

  test('[SY1] epochs: of two nodes that build one user at once, one gets the shared epoch at most', async () => {
    const { one, two } = await twoNodes();
    const shared = await one.epochs.draw('somebody');
    for (let n = 0; n < 20; n++) {
      const user = `contested-${n}`;
      const drawn = await Promise.all([one, two, one, two].map(async (node) => node.epochs.draw(user)));
      expect(drawn.filter((epoch) => epoch === shared)).toHaveLength(1);
      expect(new Set(drawn).size).toBe(4);
    }
  });

  test('[SY10] fences: of many nodes that raise one at once exactly one does, and the losers read what it set', async () => {
    const { one, two } = await twoNodes();
    expect(await one.fences.read()).toEqual(new Map());
    const first = { number: 1, runId: 'run-1', replId: 'repl-1' };
    const starts = await Promise.all([one, two, one, two].map(async (node) => node.fences.raise(7, null, first)));
    expect(starts.filter(Boolean)).toHaveLength(1);
    expect(await one.fences.raise(7, null, { ...first, runId: 'other' })).toBe(false);

    const raises = await Promise.all(
      [one, two, one, two].map(async (node, n) =>
        node.fences.raise(7, first, { number: 2, runId: `run-2-${n}`, replId: 'repl-1' }),
      ),
    );
    expect(raises.filter(Boolean)).toHaveLength(1);
    const winner = { number: 2, runId: `run-2-${raises.indexOf(true)}`, replId: 'repl-1' };
    expect((await two.fences.read()).get(7)).toEqual(winner);
    // Each part of the old pair counts.
    for (const wrong of [
      { ...winner, number: 1 },
      { ...winner, runId: 'x' },
      { ...winner, replId: 'x' },
    ]) {
      expect(await one.fences.raise(7, wrong, { number: 3, runId: 'r', replId: 'p' })).toBe(false);
    }
    expect(await one.fences.raise(8, null, first)).toBe(true);
    expect(await two.fences.read()).toEqual(
      new Map([
        [7, winner],
        [8, first],
      ]),
    );
  });
});

/** Lets time pass for the outbox. */
async function age({ url }: Nodes, ms: number): Promise<void> {
  await say(url, `UPDATE outbox SET touched_at = touched_at - ${ms}`);
}
