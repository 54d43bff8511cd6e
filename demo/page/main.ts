// The page: three people, three devices each, all of them real clients of the server behind it.
import { people } from '../cast.ts';
import { startChecker } from './checker.ts';
import { createComposer } from './composer.ts';
import { createDeeds } from './deeds.ts';
import { Unreachable } from './demo-server.ts';
import { createDevice, type Device } from './device.ts';
import { createFeed } from './feed.ts';
import { createJournal } from './journal.ts';
import { createMenu } from './menu.ts';
import { createPersonView } from './person-view.ts';
import { tellReturns } from './returns.ts';
import { createStrip } from './strip.ts';
import { find } from '../../pages/element.ts';

const say = createJournal();
/** That the server is away for a moment is part of the play. */
const failed = (error: unknown): void => {
  say(error instanceof Error ? `${error.message}.` : String(error), error instanceof Unreachable ? 'fault' : 'wrong');
};

const feed = createFeed();
const devices = people.flatMap((person, i) => [
  createDevice(person, 'Phone', 'phone', 'msgpack'),
  createDevice(person, 'Phone 2', 'phone', 'json'),
  createDevice(person, 'Laptop', 'laptop', i % 2 === 0 ? 'json' : 'msgpack'),
]);

function tellTroubles({ client, title }: Device): void {
  client.on('state', ({ stop }) => stop && say(`${title} does not come back: ${stop.reason}.`, 'wrong'));
  client.on('repair', ({ cause }) => say(`${title} asks the server where it stands (${cause}).`));
  client.on('refused', ({ message }) => say(`The server refuses what ${title} asked: ${message}.`, 'wrong'));
  client.on('error', ({ error }) => say(`${title}: ${error.message}.`, 'wrong'));
}

const tools = { feed, say, openMenu: createMenu() };
const views = people.map((person) => createPersonView(person, devices, tools));
find('#people', HTMLElement).append(...views.map(({ element }) => element));

const deeds = createDeeds(devices, feed, say);
createComposer(deeds, failed);
startChecker(devices, {
  tally: createStrip(),
  standing: (standing) => views.forEach((view) => view.update(standing)),
  wrong: (what) => say(`Wrong: ${what}.`, 'wrong'),
  fault: failed,
});
devices.forEach(tellTroubles);
tellReturns(devices, say);

const startedAtMs = performance.now();
await deeds.setScene().catch(failed);
for (const { client } of devices) client.connect();
await Promise.all(devices.map(({ client }) => client.waitFor('live'))).then(() => {
  const tookMs = Math.round(performance.now() - startedAtMs);
  say(
    `${devices.length} devices are live after ${tookMs} ms. A click on a conversation reads it; ⋯ has the rest.`,
    'good',
  );
}, failed);
