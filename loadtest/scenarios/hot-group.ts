import type { Scenario } from '../scenario.ts';

/** Everybody reads once in so long, on average. */
const READ_EVERY_SECONDS = 10;
const KIND = 'hot';

/** One group in which everybody is present. Above the group threshold of the server it is a large one: merged notices, capped at 999. */
export const hotGroup: Scenario = {
  name: 'hot-group',
  question: 'one group of all: how many badge updates a second, and how few frames do they take',
  defaults: { seconds: 20, rate: 100, connections: 400 },

  cast(casting, { connections }) {
    for (let i = 0; i < connections; i++) casting.person(1);
    casting.conversation(KIND, casting.people);
  },

  arrive(stage, dueMs) {
    const { random, cast, scale } = stage;
    const [group] = cast.ofKind(KIND);
    if (group === undefined) return;
    stage.say(group, random.pick(group.members), [], dueMs);
    const readsAMessage = group.members.length / READ_EVERY_SECONDS / scale.rate;
    const reads = Math.floor(readsAMessage + random.fraction());
    for (let i = 0; i < reads; i++) stage.read(group, random.pick(group.members), dueMs);
  },
};
