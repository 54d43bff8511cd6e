import type { Scenario } from '../scenario.ts';

/** Devices a person: half have a phone, half a phone and a laptop. */
const DEVICES_MEAN = 1.5;
const CHATS_A_PERSON = 4;
const TEAM = 10;
const TEAMS_A_PERSON = 3;
const GROUP = 100;
const GROUPS_A_PERSON = 2;
/** How messages fall on conversations; what is left goes to everybody's conversation. */
const SHARES = { chat: 0.55, team: 0.35, group: 0.098 };
const MENTIONS = 0.02;
const RECALLS = 0.01;
const READS = 0.5;

/** The mix of an office: many small conversations, some middling ones, and now and then a message to all. */
export const steady: Scenario = {
  name: 'steady',
  question: 'a chat mix: how long from a message to the badges, and what does a badge cost',
  defaults: { seconds: 30, rate: 200, connections: 1000 },

  cast(casting, { connections }) {
    const count = Math.max(TEAM, Math.round(connections / DEVICES_MEAN));
    for (let i = 0; i < count; i++) casting.person(1 + (i % 2));
    casting.groups('chat', (count * CHATS_A_PERSON) / 2, 2);
    casting.groups('team', Math.ceil((count * TEAMS_A_PERSON) / TEAM), TEAM);
    casting.groups('group', Math.ceil((count * GROUPS_A_PERSON) / GROUP), GROUP);
    casting.conversation('all', casting.people);
  },

  arrive(stage, dueMs) {
    const { random, cast } = stage;
    const ofKind = cast.ofKind(kindAt(random.fraction()));
    // Where there are too few people for a group, a team gets the message.
    const conversation = random.pick(ofKind.length > 0 ? ofKind : cast.ofKind('team'));
    const sender = random.pick(conversation.members);
    const named = random.fraction() < MENTIONS ? [random.pick(conversation.members).user] : [];
    stage.say(conversation, sender, named, dueMs);
    if (random.fraction() < READS) stage.read(conversation, random.pick(conversation.members), dueMs);
    if (random.fraction() < RECALLS) stage.recall(random.pick(cast.ofKind('team')), dueMs);
  },
};

function kindAt(fraction: number): string {
  let from = 0;
  for (const [kind, share] of Object.entries(SHARES)) {
    if (fraction < from + share) return kind;
    from += share;
  }
  return 'all';
}
