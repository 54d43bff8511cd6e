import { createDemoApp } from '../demo/server/demo-app.ts';
import { createInspectorFront } from '../inspector/server/front.ts';
import { type App, createApp } from './app.ts';
import { type Config, ConfigError, hasDemo, readConfig } from './config.ts';
import { createLog, type Log } from './log.ts';

/** The process: environment in, signals, exit codes. Nothing else touches it. */
const EXIT_FAILED = 1;
const EXIT_SETTINGS = 2;
/** A terminal signals the whole group, and npm passes the signal on once more: what comes together is one wish, not two. */
const SAME_WISH_MS = 1000;
/** By custom: 128 + number of the signal. */
const EXIT_BY_SIGNAL = { SIGINT: 130, SIGTERM: 143 } as const;

/** Runs the server until it is told to stop. Sets the exit code; 0 means that everything accepted was carried out. */
export async function runServer(): Promise<void> {
  const config = configOrExit();
  if (config === null) return;
  const log = createLog(config.logLevel);
  process.once('uncaughtException', (error) => {
    log.fatal({ err: error }, 'a fault that nobody caught');
    process.exit(EXIT_FAILED);
  });
  let started: App | null = null;
  stopOnSignals(log, () => started);
  try {
    const app = await (hasDemo(config) ? createDemoApp : createApp)(config, {
      log,
      front: createInspectorFront(config.inspector),
      onLost(error) {
        log.fatal({ err: error }, 'the server has to stop');
        process.exitCode = EXIT_FAILED;
        if (started === null) process.exit();
        drain(started, log);
      },
    });
    const { url } = await app.start();
    started = app;
    // Always said, whatever the level: whoever starts the server waits for this line.
    log.child({}, { level: 'info' }).info({ url }, 'ready');
  } catch (error) {
    log.fatal({ err: error }, 'the server cannot start');
    process.exitCode = EXIT_FAILED;
  }
}

function configOrExit(): Config | null {
  try {
    return readConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = EXIT_SETTINGS;
    return null;
  }
}

/**
 * The first signal drains; the second one, from somebody who will not wait, stops at once. So does one during the start: nothing has been
 * accepted. As process 1 of a container the server would not even end if it left signals to the system.
 */
function stopOnSignals(log: Log, started: () => App | null): void {
  let stoppingSinceMs: number | null = null;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      const app = started();
      const isSameWish = stoppingSinceMs !== null && performance.now() - stoppingSinceMs < SAME_WISH_MS;
      if (isSameWish) return;
      if (app === null || stoppingSinceMs !== null) {
        log.warn({ signal }, 'stopping at once');
        process.exit(EXIT_BY_SIGNAL[signal]);
      }
      stoppingSinceMs = performance.now();
      log.info({ signal }, 'draining');
      drain(app, log);
    });
  }
}

/** Ends the process, too: a store that hangs would keep its connections open, and the process with them. */
function drain(app: App, log: Log): void {
  app
    .drain()
    .then(() => log.info('drained'))
    .catch((error: unknown) => {
      log.fatal({ err: error }, 'the drain failed');
      process.exitCode = EXIT_FAILED;
    })
    .finally(() => process.exit());
}
