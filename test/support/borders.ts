/**
 * Who may import what. `room` and `may` are paths from the root (a folder covers what is inside), names of packages, or
 * `node:*`. The first room that a file lies in counts, so exceptions come first. `typesOnly` rooms vanish when run.
 */
export interface Border {
  room: string;
  may: string[];
  typesOnly?: boolean;
}

const RULES = ['src/core', 'protocol'];
const USE_CASES = ['src/ports.ts', ...RULES, 'src/errors.ts', 'src/deadline.ts', 'src/metrics.ts'];
const ADAPTER = [...USE_CASES, 'src/log.ts', 'node:*'];
const SETTINGS = [
  'src/config.ts',
  'src/config-table.ts',
  'src/config-option.ts',
  'src/data-folder.ts',
  'src/kept-secret.ts',
  'src/system.ts',
  'src/user-tokens.ts',
];
const EDGE = ['src/services', 'src/user-tokens.ts', ...USE_CASES, 'src/log.ts', 'node:*'];

const STREAM_PARTS = ['redis-url', 'redis-connection', 'script-files'].map((name) => `src/state/redis/${name}.ts`);

export const BORDERS: Border[] = [
  { room: 'protocol/codec-msgpack.ts', may: ['protocol', 'msgpackr'] },
  { room: 'protocol', may: ['protocol'] },
  { room: 'client/react', may: ['client', 'protocol', 'react'] },
  { room: 'client', may: ['client', 'protocol'] },
  // Pages that the server brings along, and what they have in common.
  { room: 'pages/server', may: ['pages/server', 'hono', '@hono/node-server', 'esbuild', 'node:*'] },
  { room: 'pages', may: [] },
  { room: 'inspector/server', may: ['inspector', 'pages', 'src', 'hono', '@hono/node-server', 'node:*'] },
  { room: 'inspector', may: ['inspector', 'pages', 'protocol'] },
  { room: 'demo/server', may: ['demo', 'pages', 'src', 'protocol', 'hono', '@hono/node-server', 'node:*'] },
  { room: 'demo', may: ['demo', 'pages', 'client', 'protocol'] },

  // Pure: no clock, no randomness, no I/O. The compact frames are the edge's affair.
  { room: 'src/core', may: RULES },
  { room: 'src/ports.ts', may: RULES, typesOnly: true },
  { room: 'src/truth', may: ['src/truth', 'mysql2', ...ADAPTER] },
  { room: 'src/state', may: ['src/state', 'ioredis', ...ADAPTER] },
  { room: 'src/services', may: ['src/services', ...USE_CASES] },
  { room: 'src/gateway', may: ['src/gateway', 'ws', ...EDGE] },
  { room: 'src/api', may: ['src/api', 'hono', '@hono/node-server', ...EDGE] },
  // What names a Redis, connects to it and reads scripts is the same for state and streams.
  { room: 'src/stream', may: ['src/stream', 'src/services', 'ioredis', ...STREAM_PARTS, ...USE_CASES, 'node:*'] },
  { room: 'src/jobs', may: ['src/jobs', 'src/services', ...USE_CASES, 'src/log.ts'] },
  // What is run: looks at the Node before it loads anything that an older one lacks.
  { room: 'src/cli/tidemark.ts', may: ['src/node-version.ts', 'src/cli/program.ts'] },
  { room: 'src/main.ts', may: ['src/node-version.ts', 'src/server-process.ts'] },
  { room: 'src/node-version.ts', may: [] },
  { room: 'src/cli', may: ['src/cli', 'src/server-process.ts', ...SETTINGS, ...RULES, 'commander', 'node:*'] },
  { room: 'src/errors.ts', may: ['protocol'] },
  { room: 'src/deadline.ts', may: ['src/errors.ts', 'src/ports.ts'] },
  { room: 'src/background-faults.ts', may: ['src/errors.ts', 'src/log.ts', 'src/ports.ts'] },
  { room: 'src/log.ts', may: ['src/errors.ts', 'pino'] },
  { room: 'src/metrics.ts', may: ['protocol', 'prom-client'] },
  { room: 'src/config.ts', may: ['src/config-table.ts', 'src/unknown-settings.ts', 'src/state/redis/redis-url.ts'] },
  { room: 'src/config-table.ts', may: ['protocol', 'src/config-option.ts'] },
  { room: 'src/unknown-settings.ts', may: ['src/config-table.ts'] },
  { room: 'src/config-option.ts', may: [] },
  { room: 'src/system.ts', may: ['src/ports.ts', 'node:*'] },
  { room: 'src/data-folder.ts', may: ['node:*'] },
  { room: 'src/kept-secret.ts', may: ['src/data-folder.ts', 'src/ports.ts', 'node:*'] },
  { room: 'src/user-tokens.ts', may: ['src/ports.ts', 'protocol', 'jose', 'node:crypto'] },
  {
    room: 'src/server-process.ts',
    may: [
      'demo/server/demo-app.ts',
      'inspector/server/front.ts',
      'src/app.ts',
      'src/config.ts',
      'src/log.ts',
      'src/errors.ts',
      'node:*',
    ],
  },
  { room: 'src/sole-node.ts', may: ['src/jobs/schedule.ts', 'src/ports.ts'] },
  { room: 'src/claimed-truth.ts', may: ['src/state/claimed-state.ts', 'src/ports.ts'] },
  {
    room: 'src/stores.ts',
    may: [
      'src/config.ts',
      'src/data-folder.ts',
      'src/sole-node.ts',
      'src/claimed-truth.ts',
      'src/truth',
      'src/state',
      ...USE_CASES,
      'node:*',
    ],
  },
  { room: 'src/app.ts', may: ['src', 'protocol', 'node:*'] },

  // A black box: knows the wire and nothing of the server.
  { room: 'loadtest', may: ['loadtest', 'protocol', 'client', 'ws', 'hdr-histogram-js', 'node:*'] },
];

/** Nothing of the product, and no tool, is built on tests. */
export const NEVER_IMPORTED = 'test';

export function liesIn(path: string, room: string): boolean {
  if (room === 'node:*') return path.startsWith('node:');
  return path === room || path.startsWith(`${room}/`);
}

export function borderOf(file: string): Border | undefined {
  return BORDERS.find(({ room }) => liesIn(file, room));
}
