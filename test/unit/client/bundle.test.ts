import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { ROOT } from '../../support/source-tree.ts';

const JSON_BYTES_MAX = 10 * 1024;
const MSGPACK_BYTES_MAX = 16 * 1024;

/** The size, gzipped, and the files that something of is left. */
async function bundled(...entries: string[]) {
  const { outputFiles, metafile } = await build({
    stdin: { contents: entries.map((entry) => `export * from './${entry}';`).join(''), resolveDir: ROOT },
    absWorkingDir: ROOT,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
    write: false,
    metafile: true,
  });
  const [output] = outputFiles;
  const inputs = Object.entries(Object.values(metafile.outputs)[0]?.inputs ?? {});
  const used = inputs.filter(([path, { bytesInOutput }]) => bytesInOutput > 0 && path !== '<stdin>');
  return { gzipped: gzipSync(output?.contents ?? '', { level: 9 }).length, used: used.map(([path]) => path) };
}

const isOurs = (path: string) => /^(client|protocol)\//.test(path);

test('the JSON build is at most 10 KB, gzipped, without dependencies and without the compact codec', async () => {
  const { gzipped, used } = await bundled('client/index.ts');
  expect(gzipped).toBeLessThanOrEqual(JSON_BYTES_MAX);
  expect(used).toContain('client/client.ts');
  expect(used.filter((path) => !isOurs(path) || path.includes('msgpack'))).toEqual([]);
});

test('with the compact codec it is at most 16 KB', async () => {
  const { gzipped, used } = await bundled('client/index.ts', 'client/msgpack.ts');
  expect(gzipped).toBeLessThanOrEqual(MSGPACK_BYTES_MAX);
  expect(used).toContain('protocol/msgpack-reader.ts');
});
