import type { PlantedFault } from './planted-fault.ts';

const LOAD = 'src/truth/mysql/load-facts.ts';
const LOCKED = "select(CONVERSATION_COLUMNS, 'conversations', 'PRIMARY', 'conv', 'FOR UPDATE')";
const UNLOCKED = "select(CONVERSATION_COLUMNS, 'conversations', 'PRIMARY', 'conv')";
const CROSSINGS = ['test/integration/mysql-interleavings.test.ts'];
const OUTBOX = ['test/integration/mysql-outbox.test.ts'];

/** ARCHITECTURE in truth: locks and their order, what is claimed, compare and set, the commit whose answer is lost. */
export const PLANTED_TRUTH_GUARDS: readonly PlantedFault[] = [
  {
    name: 'guard: a recall does not wait for the message that commits, and misses it',
    rule: 'CN6',
    file: LOAD,
    find: LOCKED,
    replace: UNLOCKED,
    tests: CROSSINGS,
  },
  {
    name: 'guard: an edit does not wait for the message that commits, and misses it',
    rule: 'CN7',
    file: LOAD,
    find: LOCKED,
    replace: UNLOCKED,
    tests: CROSSINGS,
  },
  {
    name: 'guard: a join does not wait for the message that commits, and takes an older head',
    rule: 'LC1',
    file: LOAD,
    find: LOCKED,
    replace: UNLOCKED,
    tests: CROSSINGS,
  },
  {
    name: 'guard: one message that comes on two nodes at once is stored twice',
    rule: 'OR2',
    file: LOAD,
    find: LOCKED,
    replace: UNLOCKED,
    tests: CROSSINGS,
  },
  {
    name: 'guard: messages are read before the conversation is locked',
    rule: 'CN6',
    file: LOAD,
    find: `  const locked = lockConversations ? await lockedConversations(session, convs, reservations) : null;
  const memberships = wanted(request.memberships, ({ conv, user }) => keyOf(conv, user));
  await find(session, MEMBERSHIPS, memberships, {
    row: ({ user, conv }) => [user, conv],
    order: byUserConv,
    read: readMembership,
    key: ({ conv, user }) => keyOf(conv, user),
  });
  // Without a lock they are read after the memberships, so that they are not older than those.
  const conversations = locked ?? (await readConversations(session, CONVERSATIONS, convs));
  const byId = wanted(request.messagesById, ({ conv, messageId }) => keyOf(conv, messageId));
  await find(session, MESSAGES_BY_ID, byId, {
    row: ({ conv, messageId }) => [conv, messageId],
    read: readMessage,
    key: ({ conv, messageId }) => keyOf(conv, messageId),
  });
`,
    replace: `  const byId = wanted(request.messagesById, ({ conv, messageId }) => keyOf(conv, messageId));
  await find(session, MESSAGES_BY_ID, byId, {
    row: ({ conv, messageId }) => [conv, messageId],
    read: readMessage,
    key: ({ conv, messageId }) => keyOf(conv, messageId),
  });
  const locked = lockConversations ? await lockedConversations(session, convs, reservations) : null;
  const memberships = wanted(request.memberships, ({ conv, user }) => keyOf(conv, user));
  await find(session, MEMBERSHIPS, memberships, {
    row: ({ user, conv }) => [user, conv],
    order: byUserConv,
    read: readMembership,
    key: ({ conv, user }) => keyOf(conv, user),
  });
  // Without a lock they are read after the memberships, so that they are not older than those.
  const conversations = locked ?? (await readConversations(session, CONVERSATIONS, convs));
`,
    tests: CROSSINGS,
    title: 'it finds the message',
  },
  {
    name: 'guard: what a transaction reads behind the lock is as old as its first look',
    rule: 'CN6',
    file: 'src/truth/mysql/open.ts',
    find: 'TRANSACTION ISOLATION LEVEL READ COMMITTED',
    replace: 'TRANSACTION ISOLATION LEVEL REPEATABLE READ',
    tests: CROSSINGS,
    title: 'what was read before the lock',
  },
  {
    name: 'guard: a conversation that does not exist yet is not locked',
    rule: 'OR1',
    file: LOAD,
    find: '  await reservations.conversations(session, missing);\n',
    replace: '',
    tests: CROSSINGS,
  },
  {
    name: 'guard: an event_id that is not known yet is not locked',
    rule: 'DT3',
    file: LOAD,
    find: '  if (await reservations.events(session, eventIds)) return found;\n',
    replace: '',
    tests: CROSSINGS,
  },
  {
    name: 'guard: event ids are locked in the order in which they came',
    rule: 'DT3',
    file: LOAD,
    find: 'const eventIds = [...new Set(ids)].toSorted(byBytes);',
    replace: 'const eventIds = [...new Set(ids)];',
    tests: CROSSINGS,
    title: 'without a deadlock',
  },
  {
    name: 'guard: two acks of a user on two nodes do not wait for each other, and the last one wins',
    rule: 'AK1',
    file: LOAD,
    find: "'memberships', 'PRIMARY', '(user, conv)', 'FOR UPDATE')",
    replace: "'memberships', 'PRIMARY', '(user, conv)')",
    tests: CROSSINGS,
  },
  {
    name: 'guard: a relay waits for rows that others are about to commit',
    rule: 'CN9',
    file: 'src/truth/mysql/outbox.ts',
    find: 'LIMIT ? FOR UPDATE SKIP LOCKED',
    replace: 'LIMIT ? FOR UPDATE',
    tests: OUTBOX,
    title: 'rows of a transaction that has not committed',
  },
  {
    name: 'guard: what one relay was handed is handed to the next as well',
    rule: 'CN9',
    file: 'src/truth/mysql/outbox.ts',
    find: 'SET touched_at = ${NOW_MS} WHERE',
    replace: 'SET touched_at = touched_at WHERE',
    tests: OUTBOX,
    title: 'rows that one relay was handed',
  },
  {
    name: 'guard: a fence is raised whatever it has become meanwhile',
    rule: 'SY10',
    file: 'src/truth/mysql/fences.ts',
    find: 'AND number = ? AND run_id = ? AND repl_id = ?',
    replace: 'AND (TRUE OR number = ? OR run_id = ? OR repl_id = ?)',
    tests: OUTBOX,
  },
  {
    name: 'guard: of two first fences the second counts',
    rule: 'SY10',
    file: 'src/truth/mysql/fences.ts',
    find: 'ON DUPLICATE KEY UPDATE partition_no = VALUES(partition_no)',
    replace: 'ON DUPLICATE KEY UPDATE run_id = VALUES(run_id)',
    tests: OUTBOX,
  },
  {
    name: 'guard: every build gets the same epoch',
    rule: 'SY1',
    file: 'src/truth/mysql/epochs.ts',
    find: 'first.delete(user) ? epoch : this.#fresh()',
    replace: 'first.size >= 0 ? epoch : this.#fresh()',
    tests: OUTBOX,
  },
  {
    name: 'guard: two nodes that build one user at once get the same epoch',
    rule: 'SY1',
    file: 'src/truth/mysql/epochs.ts',
    find: '(by === claim ? [user as string] : [])',
    replace: '(by !== null ? [user as string] : [])',
    tests: OUTBOX,
    title: 'one gets the shared epoch at most',
  },
  {
    name: 'guard: a lease goes to whoever asks',
    rule: 'DT3',
    file: 'src/truth/mysql/leases.ts',
    find: 'holder = IF(holder = VALUES(holder) OR expires_at <= ${NOW_MS}, VALUES(holder), holder),',
    replace: 'holder = VALUES(holder),',
    tests: ['test/integration/mysql-leases.test.ts'],
  },
  {
    name: 'guard: a commit whose answer is lost is run again',
    rule: 'OR2',
    file: 'src/truth/mysql/truth.ts',
    find: "if (failureOf(error) !== 'away') throw error;",
    replace: "if (failureOf(error) !== 'refused') throw error;",
    tests: ['test/integration/mysql-failures.test.ts'],
  },
  {
    name: 'guard: the embedded truth runs two transactions at once',
    rule: 'OR1',
    file: 'src/truth/sqlite/lane.ts',
    find: 'const done = this.#tail.then(work);',
    replace: 'const done = Promise.resolve().then(work);',
    tests: ['test/contract/truth-sqlite.test.ts'],
  },
];
