// The page: three people, three devices each, all of them real clients of the server behind it.
import { people } from '../cast.ts';
import { startChecker } from './checker.ts';
import { createComposer } from './composer.ts';
import { createDeeds } from './deeds.ts';
import { createDevice, type Device } from './device.ts';
import { createDeviceView } from './device-view.ts';
import { find, setText, stamp } from './element.ts';
import { createFeed } from './feed.ts';
import { createJournal } from './journal.ts';
import { createMenu } from './menu.ts';
import { createStrip } from './strip.ts';

const say = createJournal();
const failed = (error: unknown): void => say(error instanceof Error ? error.message : String(error), 'wrong');

const feed = createFeed();
const devices = people.flatMap((person, i) => [
  createDevice(person, 'Phone', 'phone', 'msgpack'),
  createDevice(person, 'Work phone', 'phone', 'json'),
  // Every other one, so that half of them all speak each form.
  createDevice(person, 'Laptop', 'laptop', i % 2 === 0 ? 'json' : 'msgpack'),
]);
const deeds = createDeeds(devices, feed, say);

function tellOf(device: Device): void {
  const { client, title } = device;
  let wasAway = false;
  client.on('state', ({ state, stop }) => {
    if (state === 'resuming' || state === 'offline') wasAway = true;
    if (stop !== null) say(`${title} does not come back: ${stop.reason}`, 'wrong');
  });
  client.on('synced', ({ mode, reason }) => {
    if (!wasAway) return;
    wasAway = false;
    const how = {
      noop: 'nothing was missed',
      delta: 'what was missed came as a delta',
      snapshot: 'a snapshot replaced all',
    };
    say(`${title} is back: ${how[mode]}${reason === 'epoch' ? ', since the epoch is new' : ''}.`, 'good');
  });
  client.on('repair', ({ cause }) => say(`${title} asks the server where it stands (${cause}).`));
  client.on('refused', ({ message }) => say(`The server refuses what ${title} asked: ${message}`, 'wrong'));
  client.on('error', ({ error }) => say(`${title}: ${error.message}`, 'wrong'));
}

function showPeople(): void {
  const stage = find('#people', HTMLElement);
  const openMenu = createMenu();
  for (const person of people) {
    const section = stamp('person-template');
    setText(find('.person-name', HTMLElement, section), person.name);
    const own = devices.filter((device) => device.person === person);
    find('.devices', HTMLElement, section).append(
      ...own.map((device) => createDeviceView(device, feed, say, openMenu)),
    );
    stage.append(section);
  }
}

showPeople();
createComposer(deeds, failed);
startChecker(devices, { tally: createStrip(), wrong: (what) => say(`Wrong: ${what}.`, 'wrong'), fault: failed });
await deeds.setScene().catch(failed);
for (const device of devices) {
  tellOf(device);
  device.client.connect();
}
