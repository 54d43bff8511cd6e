import { afterEach, expect, test, vi } from 'vitest';
import { browserForeground } from '../../../client/foreground.ts';

afterEach(() => vi.unstubAllGlobals());

test('what a browser says of attention and network, until it is stopped', () => {
  const document = Object.assign(new EventTarget(), { visibilityState: 'visible' });
  const window = new EventTarget();
  vi.stubGlobal('document', document);
  vi.stubGlobal('window', window);
  const heard: string[] = [];
  const stop = browserForeground({
    foreground: () => heard.push('foreground'),
    online: () => heard.push('online'),
    offline: () => heard.push('offline'),
    leaving: () => heard.push('leaving'),
  });
  const persisted = (value: boolean) => Object.assign(new Event('pageshow'), { persisted: value });
  document.dispatchEvent(new Event('visibilitychange'));
  document.visibilityState = 'hidden';
  document.dispatchEvent(new Event('visibilitychange'));
  document.dispatchEvent(new Event('resume'));
  window.dispatchEvent(persisted(false));
  window.dispatchEvent(persisted(true));
  window.dispatchEvent(new Event('pagehide'));
  window.dispatchEvent(new Event('offline'));
  window.dispatchEvent(new Event('online'));
  expect(heard).toEqual(['foreground', 'online', 'foreground', 'leaving', 'offline', 'online']);
  stop();
  document.visibilityState = 'visible';
  for (const target of [document, window]) {
    for (const name of ['visibilitychange', 'resume', 'pagehide', 'online', 'offline'])
      target.dispatchEvent(new Event(name));
  }
  expect(heard).toHaveLength(6);
});

test('without a document there is nothing to hear', () => {
  const stop = browserForeground({ foreground: vi.fn(), online: vi.fn(), offline: vi.fn(), leaving: vi.fn() });
  expect(stop()).toBeUndefined();
});
