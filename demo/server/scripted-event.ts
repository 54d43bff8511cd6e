import { type Event, eventsBody, check, checkEvent } from '../../protocol/index.ts';
import { UserFault } from '../../src/errors.ts';
import { personOf, PREFIX, roomOf } from '../cast.ts';

/** The events of a body that the page sent. Throws when one is not part of the play: the page reaches nothing else. */
export function scriptedEvents(body: unknown): Event[] {
  const checked = check(eventsBody, body);
  if (!checked.ok) throw new UserFault('invalid_field', `${checked.field} ${checked.message}`, checked.field);
  return checked.value.events.map((value, i) => {
    const event = checkEvent(value);
    if (!event.ok) throw new UserFault(event.error.code, event.error.message, `events[${i}].${event.error.field}`);
    if (!isScripted(event.event)) throw new UserFault('invalid_field', 'not an event of the demo', `events[${i}]`);
    return event.event;
  });
}

function isScripted(event: Event): boolean {
  if (roomOf(event.conv) === undefined) return false;
  if (event.type === 'message.recalled') return true;
  if (event.type !== 'message.created') return false;
  const users = [event.sender, ...(event.mentions ?? [])];
  const isPlain = event.members === undefined && event.seq === undefined && event.event_id === undefined;
  return isPlain && event.message_id.startsWith(PREFIX) && users.every((user) => personOf(user) !== undefined);
}
