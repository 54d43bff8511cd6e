import { type App, type AppOverrides, createApp, type FrontParts } from '../../src/app.ts';
import type { Config } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import { systemClock, systemRandom } from '../../src/system.ts';
import { createDemoListener, isDemoPath } from './routes.ts';
import { createVisitors } from './visitors.ts';

/**
 * The app with the demo in front of it: says where the page is, and puts a new app in the place of the old one when the page asks
 * for a restart. To the outside it stays one app.
 */
export async function createDemoApp(config: Config, overrides: AppOverrides = {}): Promise<App> {
  const { log = createLog(config.logLevel), clock = systemClock, random = systemRandom } = overrides;
  const visitors = createVisitors(random);
  const { groupThreshold } = config;
  const parts: AppOverrides = { ...overrides, log, clock, random, front };
  let app = await createApp(config, parts);
  let isEnding = false;
  let restarted = Promise.resolve();

  function front(frontParts: FrontParts): FrontParts['api'] {
    const { services, tokens, api } = frontParts;
    const deps = { services, tokens, visitors, groupThreshold, clock, random, log, entered: sayWhere, restart };
    const demo = createDemoListener(deps);
    const rest = overrides.front?.(frontParts) ?? api;
    return (request, response) => (isDemoPath(request.url) ? demo : rest)(request, response);
  }

  function sayWhere(): void {
    log.info({ url: `${app.url}/demo?key=${visitors.invite()}` }, 'demo');
  }

  /** As after a crash: sockets are cut and the state in memory is lost. One at a time; a failure ends the process. */
  function restart(): void {
    restarted = restarted.then(async () => {
      if (isEnding) return;
      log.info('the demo restarts the server');
      const { port } = new URL(app.url);
      await app.stop();
      const next = await createApp({ ...config, port: Number(port) }, parts);
      await next.start();
      app = next;
    });
  }

  return {
    get services() {
      return app.services;
    },
    get url() {
      return app.url;
    },
    async start() {
      const started = await app.start();
      sayWhere();
      return started;
    },
    async drain() {
      isEnding = true;
      await restarted;
      await app.drain();
    },
    async stop() {
      isEnding = true;
      await restarted;
      await app.stop();
    },
  };
}
