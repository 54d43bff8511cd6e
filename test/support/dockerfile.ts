import { execFile } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** A Dockerfile read and carried out by hand, on a machine without a container engine: each stage is a folder that stands for its root. */
export interface Instruction {
  readonly name: string;
  readonly text: string;
}

export interface Stage {
  readonly image: string;
  readonly alias: string | null;
  readonly instructions: readonly Instruction[];
}

export interface BuiltStage {
  readonly root: string;
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface BuildOptions {
  readonly context: string;
  /** Empty; gets one folder a stage. */
  readonly folder: string;
  readonly path: string;
}

const STEP_TIMEOUT_MS = 5 * 60_000;
/** What is only written down in an image. */
const NOTES = new Set(['USER', 'VOLUME', 'EXPOSE', 'STOPSIGNAL', 'HEALTHCHECK', 'CMD']);

export function readDockerfile(text: string): Stage[] {
  const stages: { image: string; alias: string | null; instructions: Instruction[] }[] = [];
  const lines = text.replaceAll(/^\s*#.*\n/gm, '').replaceAll(/\\\n\s*/g, '');
  for (const line of lines.split('\n').filter((one) => one.trim() !== '')) {
    const [, name = '', rest = ''] = /^([A-Z]+)\s+(.+)$/.exec(line) ?? [];
    if (name === 'FROM') {
      const [, image = '', alias = null] = /^(\S+)(?:\s+AS\s+(\S+))?$/.exec(rest) ?? [];
      stages.push({ image, alias, instructions: [] });
    } else if (name === '') throw new Error(`not an instruction: ${line}`);
    else stages.at(-1)?.instructions.push({ name, text: rest });
  }
  return stages;
}

/** The one instruction of this name. */
export function instruction({ instructions }: Stage, name: string): string {
  const [first, ...more] = instructions.filter((one) => one.name === name);
  if (first === undefined || more.length > 0) throw new Error(`${name} stands ${more.length} times more than once`);
  return first.text;
}

/** The words of an exec form; throws for the shell form, which would put a shell between the engine and the program. */
export function execForm(text: string): string[] {
  const [, list] = /(\[.*\])$/.exec(text) ?? [];
  if (list === undefined) throw new Error(`not an exec form: ${text}`);
  return JSON.parse(list) as string[];
}

/** Carries out all stages; answers the last one. */
export async function build(stages: readonly Stage[], options: BuildOptions): Promise<BuiltStage> {
  const built = new Map<string, BuiltStage>();
  let last: BuiltStage | undefined;
  for (const [i, stage] of stages.entries()) {
    last = await buildStage(stage, join(options.folder, String(i)), options, built);
    if (stage.alias !== null) built.set(stage.alias, last);
  }
  if (last === undefined) throw new Error('a Dockerfile without a stage');
  return last;
}

async function buildStage(
  { instructions }: Stage,
  root: string,
  { context, path }: BuildOptions,
  built: ReadonlyMap<string, BuiltStage>,
): Promise<BuiltStage> {
  const env: Record<string, string> = {};
  let workdir = '/';
  mkdirSync(root);
  for (const { name, text } of instructions) {
    if (name === 'WORKDIR') {
      workdir = text;
      mkdirSync(join(root, workdir), { recursive: true });
    } else if (name === 'ENV') {
      for (const [, key = '', value = ''] of text.matchAll(/(\w+)=(\S+)/g)) env[key] = value;
    } else if (name === 'COPY') {
      copy(text, { context, to: join(root, workdir), built });
    } else if (name === 'RUN') {
      // Absolute paths are those of the image.
      const command = text.replaceAll(/(?<=\s)\/(?=\w)/g, `${root}/`);
      await run(command, join(root, workdir), { ...ofTheBuilder(), ...env, PATH: path });
    } else if (!NOTES.has(name)) throw new Error(`${name} is not carried out here`);
  }
  return { root, workdir, env };
}

async function run(command: string, cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  const options = {
    cwd,
    timeout: STEP_TIMEOUT_MS,
    env: { ...env, npm_config_prefer_offline: 'true' },
    maxBuffer: 2 ** 26,
  };
  try {
    await promisify(execFile)('sh', ['-c', command], options);
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`RUN ${command}\n${stdout}${stderr}`);
  }
}

/** Certificates, proxies, caches: what an engine would give to a build, too. Not what says which package this test is part of. */
function ofTheBuilder(): NodeJS.ProcessEnv {
  const isOurs = /^(TIDEMARK_|NODE_ENV$|VITEST|INIT_CWD$|npm_(package|lifecycle)_|npm_config_local_prefix$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOurs.test(name)));
}

interface CopyPlace {
  readonly context: string;
  readonly to: string;
  readonly built: ReadonlyMap<string, BuiltStage>;
}

function copy(text: string, { context, to, built }: CopyPlace): void {
  const [, from, list = ''] = /^(?:--from=(\S+)\s+)?(.+)$/.exec(text) ?? [];
  const words = list.split(/\s+/);
  const target = words.pop() ?? '';
  for (const word of words) {
    if (from !== undefined) {
      const source = built.get(from);
      if (source === undefined) throw new Error(`no stage ${from}`);
      cpSync(join(source.root, word), join(to, target), { recursive: true, verbatimSymlinks: true });
      continue;
    }
    for (const name of inContext(context)) {
      if (word !== '.' && word !== name) continue;
      mkdirSync(dirname(join(to, target, name)), { recursive: true });
      cpSync(join(context, name), join(to, target, name), { recursive: true });
    }
  }
}

/** What .dockerignore, which has to be a list of what is let in, lets in. */
function inContext(context: string): string[] {
  const lines = readFileSync(join(context, '.dockerignore'), 'utf8').split('\n');
  const [first, ...others] = lines.filter((line) => line !== '' && !line.startsWith('#'));
  if (first !== '*' || others.some((line) => !line.startsWith('!')))
    throw new Error('.dockerignore is no list of what is let in');
  const names = others.map((line) => line.slice(1));
  const missing = names.filter((name) => globSync(name, { cwd: context }).length === 0);
  if (missing.length > 0) throw new Error(`.dockerignore lets in what is not there: ${missing.join(', ')}`);
  return names;
}
