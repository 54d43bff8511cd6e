import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { DEVICES, type DemoPage, eventually, openDemo } from '../support/demo-page.ts';

/** Each button for a mishap, and after it nine devices that agree with each other and with the server. */
const browser = useBrowser();
const ANN = DEVICES.map((name) => `Ann ${name}`);

const press = (demo: DemoPage, device: string, button: string): Promise<void> =>
  demo.device(device).getByRole('button', { name: button, exact: true }).click();
const stateOf = (demo: DemoPage, device: string): Promise<string> => demo.device(device).locator('.state').innerText();
const told = (demo: DemoPage, what: string): Promise<void> =>
  eventually(() => demo.page.locator('#journal').innerText()).toContain(what);

test('[SY2] a socket that is cut comes back by itself', async () => {
  const demo = await openDemo(browser());
  await press(demo, 'Ann Phone', 'Cut socket');
  await told(demo, 'Ann’s phone is back: nothing was missed');
  await eventually(() => stateOf(demo, 'Ann Phone')).toBe('live');
  await demo.level();
  expect(demo.complaints).toEqual([]);
});

test('[SY2][AK4] a device without a network keeps its numbers, and brings what was done there when it is back', async () => {
  const demo = await openDemo(browser());
  await press(demo, 'Ann Phone', 'Go offline');
  await eventually(() => stateOf(demo, 'Ann Phone')).toBe('offline');
  await demo.say('Meanwhile.');
  await eventually(() => demo.badge('Ann Laptop', 'launch')).toBe('4');
  expect(await demo.badge('Ann Phone', 'launch')).toBe('3');
  await demo.level(8);
  await demo.row('Ann Phone', 'ann-bob').locator('.row-open').click();
  await eventually(() => demo.badge('Ann Phone', 'ann-bob')).toBe('');
  expect(await demo.badge('Ann Laptop', 'ann-bob')).toBe('1');
  await press(demo, 'Ann Phone', 'Go online');
  await told(demo, 'Ann’s phone is back: what was missed came as a delta');
  for (const device of ANN) {
    await eventually(() => demo.badge(device, 'launch')).toBe('4');
    await eventually(() => demo.badge(device, 'ann-bob')).toBe('');
  }
  await demo.level();
  expect(demo.complaints).toEqual([]);
});

test('[AK2] an ack that comes late moves nothing back', async () => {
  const demo = await openDemo(browser());
  await press(demo, 'Ann Phone 2', 'Late ack');
  await told(demo, 'stale, nothing moves back');
  for (const device of ANN) await eventually(() => demo.badge(device, 'launch')).toBe('');
  await demo.level();
  expect(demo.complaints).toEqual([]);
});

test('[OR2] an event that is sent twice counts once', async () => {
  const demo = await openDemo(browser());
  await demo.press('send-twice');
  await told(demo, 'sent 2 times: it has one seq, and 1 answer said “duplicate”');
  for (const device of ANN) await eventually(() => demo.badge(device, 'launch')).toBe('4');
  await demo.level();
  expect(demo.complaints).toEqual([]);
});

test('[CN6] a recall lowers the number of those who had not read it', async () => {
  const demo = await openDemo(browser());
  await demo.row('Cem Phone', 'launch').locator('.row-open').click();
  await eventually(() => demo.badge('Cem Laptop', 'launch')).toBe('');
  await demo.press('recall');
  for (const device of ANN) await eventually(() => demo.badge(device, 'launch')).toBe('2');
  expect(await demo.badge('Cem Laptop', 'launch')).toBe('');
  await demo.level();
  expect(demo.complaints).toEqual([]);
});

test('[LC3] a conversation that is deleted is gone on all devices of that person, until the next message', async () => {
  const demo = await openDemo(browser());
  await demo.choose('Ann Laptop', 'launch', 'Delete conversation');
  for (const device of ANN) {
    await eventually(() => demo.badge(device, 'launch')).toBeNull();
    expect(await demo.total(device)).toBe(2);
  }
  expect(await demo.badge('Cem Phone', 'launch')).toBe('2');
  await demo.say('Here again.');
  for (const device of ANN) await eventually(() => demo.badge(device, 'launch')).toBe('1');
  await demo.level();
  expect(demo.complaints).toEqual([]);
});

test('[CN8] 1,500 messages are counted exactly in a small conversation, and up to the cap in a large one', async () => {
  const demo = await openDemo(browser());
  await demo.press('flood');
  for (const device of ANN) {
    await eventually(() => demo.total(device)).toBe(1505);
    expect(await demo.badge(device, 'launch')).toBe('99+');
  }
  await demo.level();
  await demo.page.locator('#room').selectOption({ label: 'Town hall' });
  await demo.press('flood');
  const badge = demo.row('Ann Phone', 'town-hall').locator('.badge');
  await eventually(() => badge.getAttribute('title')).toBe('more than 999');
  for (const device of ANN) await eventually(() => demo.total(device)).toBe(1504 + 999);
  await demo.level();
  await demo.row('Ann Phone 2', 'town-hall').locator('.row-open').click();
  for (const device of ANN) await eventually(() => demo.total(device)).toBe(1504);
  await demo.level();
  expect(demo.complaints).toEqual([]);
});

test('[SY10] after a restart of the server everything comes back by itself, at the same address, under a new epoch', async () => {
  const demo = await openDemo(browser());
  await demo.say('Before.');
  await eventually(() => demo.badge('Ann Phone', 'launch')).toBe('4');
  await demo.press('restart');
  await told(demo, 'the epoch is new, so a snapshot replaced all');
  await demo.level();
  for (const device of ANN) expect(await demo.badge(device, 'launch')).toBe('4');
  await demo.say('After.');
  for (const device of ANN) await eventually(() => demo.badge(device, 'launch')).toBe('5');
  await demo.page.reload();
  await demo.level();
  expect(demo.server.lines.filter((line) => line.includes('the demo restarts the server'))).toHaveLength(1);
  demo.server.child.kill('SIGTERM');
  expect(await demo.server.exit).toBe(0);
});

test('start over: everything as in the beginning', async () => {
  const demo = await openDemo(browser());
  await demo.choose('Ann Laptop', 'launch', 'Delete conversation');
  await demo.choose('Ann Laptop', 'ann-bob', 'Hide');
  await demo.choose('Ann Laptop', 'town-hall', 'Mute');
  await eventually(() => demo.device('Ann Phone').locator('.row').count()).toBe(2);
  // Whatever reaches the server after the beginning anew is not taken back by it.
  await eventually(() => demo.row('Ann Phone', 'town-hall').getAttribute('class')).toContain('muted');
  await demo.press('start-over');
  for (const device of ANN) {
    await eventually(() => demo.total(device)).toBe(5);
    await eventually(() => demo.device(device).locator('.app-badge').textContent()).toBe('5');
  }
  await demo.level();
  expect(demo.complaints).toEqual([]);
});

test('[SY7] the strip sees a wrong number, and does not forget it', async () => {
  const demo = await openDemo(browser());
  await demo.page.route('**/demo/api/standing', async (route) => {
    const response = await route.fetch();
    const standing = (await response.json()) as { users: { total: number }[] };
    for (const user of standing.users) user.total++;
    await route.fulfill({ response, json: standing });
  });
  await told(demo, 'Wrong: Ann’s phone holds other numbers than the server');
  await told(demo, 'Wrong: Cem’s laptop holds other numbers than the server');
  const strip = demo.page.locator('#strip');
  const checks = demo.page.locator('#checks');
  expect(await strip.getAttribute('data-verdict')).toBe('wrong');
  await demo.page.unrouteAll({ behavior: 'wait' });
  const before = await checks.innerText();
  await eventually(() => checks.innerText()).not.toBe(before);
  expect(await checks.innerText()).toMatch(/ checks, [1-9]\d* wrong$/);
  expect(await strip.getAttribute('data-verdict')).toBe('wrong');
});
