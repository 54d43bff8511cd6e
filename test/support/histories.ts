import fc from 'fast-check';
import type { AckItem, Event } from '../../protocol/index.ts';

/** Few names and small seqs, so that random histories meet the same messages, users and events again and again. */
export const USERS = ['ann', 'ben', 'cat', 'dan'] as const;
export const CONVS = ['c1', 'c2'] as const;

export type Command =
  | { kind: 'acks'; acks: { user: string; item: AckItem }[] }
  | { kind: 'mark'; user: string; conv: string; fromSeq?: number; readEpoch?: number }
  | { kind: 'prefs'; user: string; conv: string; muted?: boolean; hidden?: boolean }
  | { kind: 'clear'; user: string; conv: string; upToSeq?: number };
export type Step = { kind: 'events'; events: Event[] } | Command;

const user = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom('ann', 'ben') },
  { weight: 1, arbitrary: fc.constantFrom(...USERS) },
);
const users = fc.uniqueArray(user, { maxLength: 3 });
const sender = fc.oneof({ weight: 9, arbitrary: user }, { weight: 1, arbitrary: fc.constant('bot') });
const conv = fc.oneof({ weight: 6, arbitrary: fc.constant(CONVS[0]) }, { weight: 2, arbitrary: fc.constant(CONVS[1]) });
const messageId = fc.nat({ max: 24 }).map((n) => `m${n}`);
/** Recalls and edits keep to fewer, so that several of them meet one message. */
const changedId = fc.nat({ max: 7 }).map((n) => `m${n}`);
const changedSeq = fc.integer({ min: 1, max: 9 });
const seq = fc.oneof(
  { weight: 200, arbitrary: fc.integer({ min: 1, max: 18 }) },
  { weight: 1, arbitrary: fc.constant(Number.MAX_SAFE_INTEGER) },
);
/** Left out half the time, or most of the time. */
const sometimes = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const seldom = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
const eventId = { event_id: seldom(fc.nat({ max: 9 }).map((n) => `e${n}`)) };
const version = { member_version: seldom(fc.nat({ max: 5 })) };

const messageCreated = fc.record({
  type: fc.constant('message.created' as const),
  ...eventId,
  conv,
  message_id: messageId,
  sender,
  countable: seldom(fc.boolean()),
  mentions: sometimes(users),
  mention_all: seldom(fc.boolean()),
  sender_read: seldom(fc.boolean()),
  seq: sometimes(seq),
  members: seldom(users),
});
/** By message_id or by seq. */
const named = fc.oneof(
  changedId.map((id) => ({ message_id: id })),
  changedSeq.map((at) => ({ seq: at })),
);
const messageRecalled = fc
  .tuple(fc.record({ type: fc.constant('message.recalled' as const), ...eventId, conv }), named)
  .map(([event, name]) => ({ ...event, ...name }));
const messageEdited = fc
  .tuple(
    fc.record({
      type: fc.constant('message.edited' as const),
      ...eventId,
      conv,
      mentions: sometimes(users),
      mention_all: sometimes(fc.boolean()),
      countable: sometimes(fc.boolean()),
    }),
    named,
  )
  .map(([event, name]) => ({ ...event, ...name }));
const members = (type: 'member.joined' | 'member.left') =>
  fc.record({ type: fc.constant(type), ...eventId, conv, users, ...version });

const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 14, arbitrary: messageCreated },
  { weight: 4, arbitrary: messageRecalled },
  { weight: 4, arbitrary: messageEdited },
  { weight: 3, arbitrary: members('member.joined') },
  { weight: 1, arbitrary: members('member.left') },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('conversation.created' as const), ...eventId, conv, members: users }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('conversation.purged' as const),
      ...eventId,
      conv,
      up_to_seq: fc.nat({ max: 20 }),
    }),
  },
  {
    weight: 1,
    // The second conversation only, so that most of a history is spent in a living one.
    arbitrary: fc.record({
      type: fc.constant('conversation.dissolved' as const),
      ...eventId,
      conv: fc.constant(CONVS[1]),
    }),
  },
);

const ackSeq = fc.oneof(
  { weight: 6, arbitrary: fc.nat({ max: 22 }) },
  { weight: 2, arbitrary: fc.constant(Number.MAX_SAFE_INTEGER) },
);
const readEpoch = sometimes(fc.oneof(fc.constant(0), fc.nat({ max: 3 })));
const ackItem: fc.Arbitrary<AckItem> = fc
  .tuple(
    fc.record({ conv, read_epoch: readEpoch }),
    fc.oneof(
      { weight: 5, arbitrary: ackSeq.map((at) => ({ seq: at })) },
      { weight: 1, arbitrary: messageId.map((id) => ({ message_id: id })) },
    ),
  )
  .map(([item, name]) => ({ ...item, ...name }));

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('acks' as const),
      acks: fc.array(fc.record({ user, item: ackItem }), { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 2,
    arbitrary: optionals({
      kind: fc.constant('mark' as const),
      user,
      conv,
      fromSeq: sometimes(fc.nat({ max: 20 })),
      readEpoch,
    }),
  },
  {
    weight: 2,
    arbitrary: optionals({
      kind: fc.constant('prefs' as const),
      user,
      conv,
      muted: sometimes(fc.boolean()),
      hidden: sometimes(fc.boolean()),
    }),
  },
  {
    weight: 2,
    arbitrary: optionals({ kind: fc.constant('clear' as const), user, conv, upToSeq: sometimes(fc.nat({ max: 20 })) }),
  },
);

/** What a batch of one request may hold, also one event twice. */
const batch = fc.oneof(
  { weight: 3, arbitrary: fc.array(event, { minLength: 1, maxLength: 6 }) },
  { weight: 1, arbitrary: fc.array(event, { minLength: 1, maxLength: 3 }).map((events) => [...events, ...events]) },
);

const founded: Step = {
  kind: 'events',
  events: [{ type: 'conversation.created', conv: CONVS[0], members: ['ann', 'ben', 'cat'] }],
};

export const histories: fc.Arbitrary<Step[]> = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: batch.map((events): Step => ({ kind: 'events', events: events.map(withoutUndefined) })) },
      { weight: 2, arbitrary: command },
    ),
    { minLength: 1, maxLength: 40, size: 'max' },
  )
  .map((steps) => [founded, ...steps]);

function optionals<T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<Present<T>> {
  return fc.record(fields).map((one) => withoutUndefined(one as T) as Present<T>);
}

/** A field that is undefined is left out, as on the wire. */
function withoutUndefined<T extends object>(one: T): T {
  return Object.fromEntries(Object.entries(one).filter(([, value]) => value !== undefined)) as T;
}

type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};
