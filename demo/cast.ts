// Who plays in the demo, and where: known to the page and to its server. The prefix keeps them apart from everything real
// in the same store.
export const PREFIX = 'demo:';

export interface Person {
  readonly user: string;
  readonly name: string;
}

export interface Room {
  readonly conv: string;
  readonly title: string;
  /** User ids of the people in it. */
  readonly members: readonly string[];
  /** Filled with guests up to above the group threshold, so that its rows are capped (CN8). */
  readonly isLarge: boolean;
}

export interface Line {
  readonly room: Room;
  readonly sender: Person;
  readonly text: string;
  readonly mentions: readonly string[];
}

const person = (id: string, name: string): Person => ({ user: `${PREFIX}${id}`, name });
export const people = [person('ann', 'Ann'), person('bob', 'Bob'), person('cem', 'Cem')] as const;
const [ann, bob, cem] = people;

function room(id: string, title: string, members: readonly Person[], isLarge = false): Room {
  return { conv: `${PREFIX}${id}`, title, members: members.map(({ user }) => user), isLarge };
}
const launch = room('launch', 'Launch', people);
const annBob = room('ann-bob', 'Ann & Bob', [ann, bob]);
const bobCem = room('bob-cem', 'Bob & Cem', [bob, cem]);
const cemAnn = room('cem-ann', 'Cem & Ann', [cem, ann]);
const townHall = room('town-hall', 'Town hall', people, true);
export const rooms: readonly Room[] = [launch, annBob, bobCem, cemAnn, townHall];

const line = (place: Room, sender: Person, text: string, mentions: readonly Person[] = []): Line => ({
  room: place,
  sender,
  text,
  mentions: mentions.map(({ user }) => user),
});

/** What has been said when the page opens. */
export const openingLines: readonly Line[] = [
  line(launch, bob, 'The posters are at the printer.'),
  line(launch, cem, 'Ann, can you look at the map once more?', [ann]),
  line(launch, bob, 'High water is at 17:42 on Saturday.'),
  line(annBob, bob, 'Did the boat come in?'),
  line(bobCem, cem, 'I have your keys.'),
  line(bobCem, cem, 'They are with the harbour master.'),
  line(cemAnn, ann, 'Lunch at one?'),
  line(townHall, cem, 'The minutes are up.'),
];

export function personOf(user: string): Person | undefined {
  return people.find((one) => one.user === user);
}

export function roomOf(conv: string): Room | undefined {
  return rooms.find((one) => one.conv === conv);
}
