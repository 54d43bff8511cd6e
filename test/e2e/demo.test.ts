import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { DEVICES, eventually, openDemo } from '../support/demo-page.ts';

/** What somebody sees who clicks on the link: the same numbers on all devices of a person, at any moment. */
const browser = useBrowser();
const of = (person: string): string[] => DEVICES.map((name) => `${person} ${name}`);
const ANN = of('Ann');

test('nine devices show the opening lines; the browser has nothing to complain about', async () => {
  const demo = await openDemo(browser());
  for (const device of ANN) {
    expect(await demo.total(device)).toBe(5);
    expect(await demo.badge(device, 'launch')).toBe('3');
    expect(await demo.row(device, 'launch').locator('.mention').textContent()).toBe('@');
    expect(await demo.badge(device, 'cem-ann')).toBe('');
    expect(await demo.badge(device, 'bob-cem')).toBeNull();
  }
  expect(await demo.page.locator('.place', { hasText: 'msgpack' }).count()).toBe(4);
  expect(new URL(demo.page.url()).search).toBe('');
  expect(demo.complaints).toEqual([]);
});

test('[AK5] a message shows on all devices of the others, and what is read on one is read on all', async () => {
  const demo = await openDemo(browser());
  await demo.say('The tide turns.');
  for (const device of [...ANN, ...of('Cem')]) {
    await eventually(() => demo.row(device, 'launch').innerText()).toContain('Bob: The tide turns.');
  }
  for (const device of ANN) await eventually(() => demo.badge(device, 'launch')).toBe('4');
  for (const device of of('Bob')) expect(await demo.badge(device, 'launch')).toBe('1');
  await demo.row('Ann Laptop', 'launch').locator('.row-open').click();
  for (const device of ANN) {
    await eventually(() => demo.badge(device, 'launch')).toBe('');
    expect(await demo.total(device)).toBe(2);
  }
  // What is said comes over the app's own network, and may show before the numbers do.
  await eventually(() => demo.badge('Cem Phone', 'launch')).toBe('3');
  await demo.level();
  expect(demo.complaints).toEqual([]);
});

test('[CN2][CN5] a mention is marked, a system notice changes no number', async () => {
  const demo = await openDemo(browser());
  await demo.page.locator('#mention').selectOption({ label: 'Cem' });
  await demo.say('Cem?');
  for (const device of of('Cem')) {
    await eventually(() => demo.row(device, 'launch').locator('.mention').textContent()).toBe('@');
  }
  await demo.page.locator('#mention').selectOption({ label: 'nobody' });
  await demo.page.locator('#notice').check();
  await demo.say('Cem has joined.');
  await eventually(() => demo.page.locator('#journal').innerText()).toContain('counts for nobody');
  expect(await demo.badge('Cem Phone', 'launch')).toBe('3');
  await demo.level();
  expect(demo.complaints).toEqual([]);
});

test('[LC4][LC5][AK7] mute, hide and mark as unread show on all devices, and can be taken back', async () => {
  const demo = await openDemo(browser());
  await demo.choose('Ann Phone', 'launch', 'Mute');
  for (const device of ANN) {
    await eventually(() => demo.device(device).locator('.app-badge').textContent()).toBe('3');
    expect(await demo.total(device)).toBe(5);
  }
  await demo.choose('Ann Laptop', 'launch', 'Unmute');
  for (const device of ANN) await eventually(() => demo.device(device).locator('.app-badge').textContent()).toBe('5');

  await demo.choose('Ann Phone', 'launch', 'Hide');
  for (const device of ANN) await eventually(() => demo.total(device)).toBe(2);
  await demo.device('Ann Phone 2').getByRole('button', { name: 'Show Launch' }).click();
  for (const device of ANN) await eventually(() => demo.total(device)).toBe(5);

  await demo.choose('Ann Phone', 'cem-ann', 'Mark as unread');
  for (const device of ANN) {
    await eventually(() => demo.row(device, 'cem-ann').getAttribute('class')).toContain('marked');
    expect(await demo.total(device)).toBe(5);
  }
  await demo.row('Ann Laptop', 'cem-ann').locator('.row-open').click();
  for (const device of ANN) {
    await eventually(() => demo.row(device, 'cem-ann').getAttribute('class')).not.toContain('marked');
  }
  await demo.level();
  expect(demo.complaints).toEqual([]);
});

test('can be used with the keyboard alone', async () => {
  const demo = await openDemo(browser());
  const { keyboard } = demo.page;
  await demo.row('Ann Phone', 'launch').locator('.row-more').focus();
  await keyboard.press('Enter');
  await eventually(() => demo.page.locator('#menu button:focus').textContent()).toBe('Mark as unread');
  await keyboard.press('ArrowDown');
  await keyboard.press('ArrowDown');
  await keyboard.press('ArrowDown');
  await keyboard.press('ArrowDown');
  await keyboard.press('ArrowUp');
  await keyboard.press('Escape');
  await eventually(() => demo.page.locator('.row-more:focus').count()).toBe(1);
  expect(await demo.badge('Ann Phone', 'launch')).toBe('3');
  await keyboard.press('Shift+Tab');
  await keyboard.press('Enter');
  for (const device of ANN) await eventually(() => demo.badge(device, 'launch')).toBe('');
});
