import { type EventResult, limits } from '../../protocol/index.ts';
import type { Services } from '../../src/services/services.ts';
import { openingLines, people, PREFIX, rooms } from '../cast.ts';

type Stage = Pick<Services, 'post' | 'commands'>;

const FIRST_ROUND = 'first';

/** Rooms and opening lines, made where they are missing; answers a result for each line. */
export function setScene(stage: Stage, groupThreshold: number): Promise<EventResult[]> {
  return play(stage, groupThreshold, FIRST_ROUND);
}

/** Everything read, nothing muted, hidden or cleared away, and the opening lines said once more. */
export async function startOver(stage: Stage, groupThreshold: number, round: string): Promise<EventResult[]> {
  for (const { user } of people) {
    for (const { conv } of rooms.filter(({ members }) => members.includes(user))) {
      await stage.commands.prefs(user, { conv, muted: false, hidden: false });
    }
    await stage.commands.readAll(user, {});
  }
  return play(stage, groupThreshold, round);
}

/** Ids of messages name the round: the same round again changes nothing. */
async function play(stage: Stage, groupThreshold: number, round: string): Promise<EventResult[]> {
  const created = rooms.map(({ conv, members, isLarge }) => ({
    type: 'conversation.created',
    conv,
    members: isLarge ? [...members, ...guests(groupThreshold)] : members,
  }));
  const said = openingLines.map(({ room, sender, mentions }, i) => ({
    type: 'message.created',
    conv: room.conv,
    message_id: `${PREFIX}${round}-${i}`,
    sender: sender.user,
    mentions,
  }));
  const results = await stage.post.post([...created, ...said]);
  return results.slice(created.length);
}

/** As many as make a room large; where the threshold is far out of reach it stays a small one. */
function guests(groupThreshold: number): string[] {
  const length = Math.min(groupThreshold, limits.groupThresholdDefault);
  return Array.from({ length }, (_, i) => `${PREFIX}guest-${i + 1}`);
}
