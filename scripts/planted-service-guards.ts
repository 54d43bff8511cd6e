import type { PlantedFault } from './planted-fault.ts';

const BUILDS = ['test/integration/services/build-interleavings.test.ts'];
const INTERLEAVINGS = ['test/integration/services/interleavings.test.ts'];
const SOLE = ['test/unit/sole-node.test.ts'];
const CLAIMED = ['test/unit/state/claimed-state.test.ts'];
const LOST_HINTS = ['test/integration/gateway-lost-hints.test.ts'];
const GATEWAY = ['test/integration/gateway-interleavings.test.ts'];

/** ARCHITECTURE, flows: builds, the outbox, large conversations, live registration, reconcile, the only node. */
export const PLANTED_SERVICE_GUARDS: readonly PlantedFault[] = [
  {
    name: 'guard: what changed during a build is not derived again',
    rule: 'SY10',
    file: 'src/services/sync.ts',
    find: 'for (const row of call.rows) rows.set(row.conv, row);',
    replace: '',
    tests: BUILDS,
  },
  {
    name: 'guard: what is built is stored before what changed meanwhile is derived',
    rule: 'SY10',
    file: 'src/services/sync.ts',
    find: 'await state.completeBuild(user, token, epoch, [...rows.values()]);',
    replace: 'await state.completeBuild(user, token, epoch, [...rows.values()], true);',
    tests: BUILDS,
    title: 'a node dies while it derives',
  },
  {
    name: 'guard: who changes all the time is kept waiting for a moment of quiet',
    rule: 'SY10',
    file: 'src/services/sync.ts',
    find: 'const isLast = round === BUILD_ROUNDS_MAX;',
    replace: 'const isLast = false;',
    tests: BUILDS,
    title: 'without a pause',
  },
  {
    name: 'guard: a build reads truth before its marker stands',
    rule: 'SY10',
    file: 'src/services/sync.ts',
    find: `    while (!(await state.beginBuild(user, token, BUILD_TAKEOVER_MS))) {
      await new Promise<void>((resolve) => clock.after(BUILD_POLL_MS, resolve));
      if (await state.read(user, Number.MAX_SAFE_INTEGER)) return;
    }
    try {
      // Between two builds everybody else is served: a batch may ask for hundreds of users.
      await turn(clock);
      const facts = await truth.rowsOfUser(user);
`,
    replace: `    const facts = await truth.rowsOfUser(user);
    while (!(await state.beginBuild(user, token, BUILD_TAKEOVER_MS))) {
      await new Promise<void>((resolve) => clock.after(BUILD_POLL_MS, resolve));
      if (await state.read(user, Number.MAX_SAFE_INTEGER)) return;
    }
    try {
      await turn(clock);
`,
    tests: BUILDS,
    title: 'it is counted once',
  },
  {
    name: 'guard: a build of another node is not waited for',
    rule: 'SY10',
    file: 'src/services/sync.ts',
    find: 'const BUILD_TAKEOVER_MS = 10_000;',
    replace: 'const BUILD_TAKEOVER_MS = 0;',
    tests: BUILDS,
  },
  {
    name: 'guard: a build of a node that died is waited for without end',
    rule: 'SY10',
    file: 'src/services/sync.ts',
    find: 'const BUILD_TAKEOVER_MS = 10_000;',
    replace: 'const BUILD_TAKEOVER_MS = 1e15;',
    tests: BUILDS,
    title: 'is taken over after 10 s',
  },
  {
    name: 'guard: an ack that met the build of another node is answered without its effect',
    rule: 'AK4',
    file: 'src/services/commands.ts',
    find: "if (answer?.kind !== 'building') return head;",
    replace: 'return head;',
    tests: BUILDS,
  },
  {
    name: 'guard: an ack that is in truth and not in the state is owed by nobody',
    rule: 'AK4',
    file: 'src/services/command-transaction.ts',
    find: 'const outbox: OutboxTarget[] = keepsOutbox ?',
    replace: 'const outbox: OutboxTarget[] = false ?',
    tests: INTERLEAVINGS,
  },
  {
    name: 'guard: a clear that only puts the row away is owed by nobody',
    rule: 'LC3',
    file: 'src/services/command-transaction.ts',
    find: '  const outbox = keepsOutbox ? memberships.map(({ conv, user }) => ({ conv, user })) : [];\n',
    replace: '  const outbox: OutboxTarget[] = [];\n',
    tests: INTERLEAVINGS,
  },
  {
    name: 'guard: a message that is in truth and not in the state is owed by nobody',
    rule: 'CN1',
    file: 'src/services/post.ts',
    find: 'const outbox = this.#deps.keepsOutbox ? outboxOf(plan) : [];',
    replace: 'const outbox: OutboxTarget[] = [];',
    tests: INTERLEAVINGS,
  },
  {
    name: 'guard: a leave is owed to those who stay alone',
    rule: 'LC2',
    file: 'src/services/post.ts',
    find: '    ...touched.map((user) => ({ conv, user })),\n',
    replace: '',
    tests: INTERLEAVINGS,
  },
  {
    name: 'guard: a message counts as told before the state has answered',
    rule: 'CN9',
    file: 'src/services/post.ts',
    find: 'offered.then(() => (outboxIds',
    replace: 'Promise.resolve().then(() => (outboxIds',
    tests: INTERLEAVINGS,
  },
  {
    name: 'guard: an ack counts as told before the state has answered',
    rule: 'AK4',
    file: 'src/services/commands.ts',
    find: '    const lists = itemsOf(items);\n',
    replace: '    const lists = itemsOf(items);\n    await this.#deps.truth.outboxDone(outboxIds);\n',
    tests: INTERLEAVINGS,
  },
  {
    name: 'guard: a relay takes its rows as done before they are fanned out',
    rule: 'CN9',
    file: 'src/jobs/relay.ts',
    find: `    await fanOut.again(rows);
    await truth.outboxDone(rows.map(({ id }) => id));
`,
    replace: `    await truth.outboxDone(rows.map(({ id }) => id));
    await fanOut.again(rows);
`,
    tests: ['test/unit/jobs/relay.test.ts'],
  },
  {
    name: 'guard: every node forgets event ids and walks the users',
    rule: 'DT3',
    file: 'src/jobs/on-one-node.ts',
    find: 'if (await leases.hold(NAME, HOLD_MS)) await run();',
    replace: 'await leases.hold(NAME, HOLD_MS);\n    await run();',
    tests: ['test/unit/jobs/jobs.test.ts'],
  },
  {
    name: 'guard: users who could not be reached count as told',
    rule: 'AK5',
    file: 'src/services/refresh.ts',
    find: "if (awayMs > 0) throw new Unavailable('the state of some users cannot be reached', awayMs);",
    replace: '',
    tests: ['test/unit/services/refresh.test.ts'],
  },
  {
    name: 'guard: a stale ack leaves a state that lags behind truth as it is',
    rule: 'AK2',
    file: 'src/services/command-transaction.ts',
    find: 'const call = rows.length > 0 ?',
    replace: "const call = rows.length > 0 && items.flat().some(({ status }) => status !== 'stale') ?",
    tests: ['test/integration/services/commands.test.ts'],
  },
  {
    name: 'guard: changes are merged although one of another node lies between them',
    rule: 'CN9',
    file: 'src/services/pending-change.ts',
    find: 'if (!first || !second || first.toRev !== second.fromRev) return null;',
    replace: 'if (!first || !second) return null;',
    tests: INTERLEAVINGS,
  },
  {
    name: 'guard: one event that cannot be stored takes its batch with it',
    rule: 'CN1',
    file: 'src/services/post.ts',
    find: `      if (events.length === 1) {
        this.#deps.onError(error);
        return [{ ok: false, error: { code: 'internal', message: 'the event could not be stored' } }];
      }`,
    replace: `      if (events.length > 0) {
        this.#deps.onError(error);
        return events.map(() => ({ ok: false, error: { code: 'internal', message: 'the event could not be stored' } }));
      }`,
    tests: ['test/integration/services/fan-out.test.ts'],
  },
  {
    name: 'guard: one command that cannot be stored takes its batch with it',
    rule: 'AK4',
    file: 'src/services/commands.ts',
    find: 'isolates: (error) => !(error instanceof Unavailable),',
    replace: '',
    tests: INTERLEAVINGS,
  },
  {
    name: 'guard: a row that lags is called wrong',
    rule: 'CN1',
    file: 'src/core/comparison.ts',
    find: `  if (held === undefined || held.convRev < due.convRev || held.memberRev < due.memberRev) return 'behind';
  if (held.convRev !== due.convRev || held.memberRev !== due.memberRev) return 'ahead';
`,
    replace: `  if (held === undefined) return 'behind';
`,
    tests: ['test/integration/services/reconcile.test.ts'],
  },
  {
    name: 'guard: a count during which a message commits is called wrong',
    rule: 'CN1',
    file: 'src/services/reconcile.ts',
    find: 'if (again?.conversation.rev !== one.conversation.rev || again.membership.rev !== one.membership.rev) continue;',
    replace: 'if (again === undefined) continue;',
    tests: INTERLEAVINGS,
  },
  {
    name: 'guard: a user who is built a second time gets the same epoch',
    rule: 'SY10',
    file: 'src/state/memory-epochs.ts',
    find: 'if (drawn.has(user) || drawn.size >= usersMax) {',
    replace: 'if (drawn.size >= usersMax) {',
    tests: ['test/integration/services/sync.test.ts'],
  },
  {
    name: 'guard: the rev of a large conversation is not known to the state before the nodes are told',
    rule: 'CN8',
    file: 'src/services/fan-out.ts',
    find: 'await this.#deps.state.raiseLarge(new Map([[notice.conv, notice.rev]]));',
    replace: '',
    tests: ['test/integration/services/sync.test.ts'],
  },
  {
    name: 'guard: a large conversation whose notice was lost stays as it was',
    rule: 'CN8',
    file: 'src/services/sync.ts',
    find: 'if (view.largeBehind.length === 0) return view;',
    replace: 'if (view.largeBehind.length >= 0) return view;',
    tests: GATEWAY,
  },
  {
    name: 'guard: connected users are not compared with the state',
    rule: 'CN8',
    file: 'src/gateway/state-watch.ts',
    find: 'for (const session of registry.sessionsOf(user)) session.compare(view);',
    replace: '',
    tests: GATEWAY,
  },
  {
    name: 'guard: a socket is registered for pushes after the state has been read',
    rule: 'SY5',
    file: 'src/gateway/session.ts',
    find: 'if (!registry.enter(this)) return this.close(4404);',
    replace: 'void this.#deps.services.sync.view(this.user).then(() => registry.enter(this));',
    tests: GATEWAY,
  },
  {
    name: 'guard: a notice that comes between the read of the state and the registration is missed (hello)',
    rule: 'SY5',
    file: 'src/gateway/session.ts',
    find: 'registry.concerns(this.user, view.large, this.#largeMark);',
    replace: 'registry.concerns(this.user, view.large, registry.largeMark);',
    tests: GATEWAY,
  },
  {
    name: 'guard: commands of one user overtake each other',
    rule: 'AK4',
    file: 'src/services/command-lanes.ts',
    find: 'if (front.length > 0) await this.#options.run(user, front);',
    replace: 'if (front.length > 0) void this.#options.run(user, front);',
    tests: ['test/integration/services/commands.test.ts'],
  },
  {
    name: 'guard: an ack that is late when it begins is carried out with later ones',
    rule: 'AK4',
    file: 'src/services/commands.ts',
    find: 'jobs.map(stillWaitedFor)',
    replace: 'jobs',
    tests: ['test/integration/services/commands.test.ts'],
  },
  {
    name: 'guard: who was the only node once believes it for ever',
    rule: 'SY10',
    file: 'src/sole-node.ts',
    find: 'isHeld: () => clock.steadyMs() < heldUntilMs,',
    replace: 'isHeld: () => heldUntilMs > 0,',
    tests: SOLE,
  },
  {
    name: 'guard: the claim is counted from when truth answered, and so runs out later than there',
    rule: 'SY10',
    file: 'src/sole-node.ts',
    find: 'heldUntilMs = isOurs ? askedAtMs + LEASE_MS : -Infinity;',
    replace: 'heldUntilMs = isOurs ? clock.steadyMs() + LEASE_MS : -Infinity;',
    tests: SOLE,
    title: 'slow',
  },
  {
    name: 'guard: a claim that another node had meanwhile is taken as if nothing had happened',
    rule: 'SY10',
    file: 'src/sole-node.ts',
    find: "(await confirmed('keep'))",
    replace: "(await confirmed('hold'))",
    tests: SOLE,
  },
  {
    name: 'guard: a change that comes while the claim is in doubt is not known afterwards',
    rule: 'SY10',
    file: 'src/state/claimed-state.ts',
    find: 'await Promise.all(calls.map(({ user }) => state.drop(user)));',
    replace: '',
    tests: CLAIMED,
  },
  {
    name: 'guard: who says again and again that wake-ups were lost puts the comparison off each time',
    rule: 'SY4',
    file: 'src/gateway/state-watch.ts',
    find: 'const isDue = this.#mustHurry || this.#isHurried',
    replace: 'const isDue = this.#isHurried',
    tests: LOST_HINTS,
    title: 'again and again',
  },
  {
    name: 'guard: who begins to listen does not look for what a node kept to itself that took itself to be alone',
    rule: 'SY4',
    file: 'src/state/redis/wakeup.ts',
    find: '      clock.after(LOOK_AFTER_MS, lookForMissed);',
    replace: '',
    tests: LOST_HINTS,
    title: 'who did not listen',
  },
];
