import { expect, onTestFinished, test } from 'vitest';
import { freshDatabase, openTruthAt } from '../support/mysql-database.ts';
import { onEachServer } from '../support/mysql-servers.ts';

await onEachServer((server) => {
  test('[DT3] a lease, as of forgetting event ids, is one node’s, goes on while it is renewed, and over to another when it has run out', async () => {
    const database = await freshDatabase(server);
    const [one, other] = await Promise.all([openTruthAt(database.url), openTruthAt(database.url)]);
    onTestFinished(async () => {
      await Promise.all([one.close(), other.close()]);
      await database.drop();
    });
    const first = await Promise.all([one.leases.hold('work', 60_000), other.leases.hold('work', 60_000)]);
    expect(first.toSorted((a, b) => Number(a) - Number(b))).toEqual([false, true]);
    const [holder, waiting] = first[0] ? [one, other] : [other, one];
    expect(await waiting.leases.hold('other work', 60_000)).toBe(true);
    expect(await holder.leases.hold('other work', 60_000)).toBe(false);
    expect(await holder.leases.hold('work', 60_000)).toBe(true);
    expect(await waiting.leases.hold('work', 60_000)).toBe(false);
    // The holder says how long from now on, also where it was longer before.
    expect(await holder.leases.hold('work', 1)).toBe(true);
    await expect.poll(() => waiting.leases.hold('work', 60_000)).toBe(true);
    expect(await holder.leases.hold('work', 60_000)).toBe(false);
  });

  test('[SY10] a lease that has run out is kept by whoever held it last, and by nobody who was not the last', async () => {
    const database = await freshDatabase(server);
    const [one, other] = await Promise.all([openTruthAt(database.url), openTruthAt(database.url)]);
    onTestFinished(async () => {
      await Promise.all([one.close(), other.close()]);
      await database.drop();
    });
    expect(await one.leases.keep('work', 60_000)).toBe(false);
    expect(await one.leases.hold('work', 0)).toBe(true);
    expect(await one.leases.keep('work', 60_000)).toBe(true);
    expect(await other.leases.hold('work', 60_000)).toBe(false);
    expect(await one.leases.keep('work', 0)).toBe(true);
    expect(await other.leases.keep('work', 60_000)).toBe(false);
    expect(await other.leases.hold('work', 0)).toBe(true);
    expect(await one.leases.keep('work', 60_000)).toBe(false);
  });
});
