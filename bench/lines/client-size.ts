import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import type { Line } from '../line.ts';

const KB = 1024;

/** What a page has to load before it shows a badge. */
export const clientSize: Line = {
  name: 'SDK, JSON build',
  what: 'the client with its default codec as one minified module, gzipped',
  budget: { kind: 'at most', bound: 10, unit: 'KB', isCounted: true },
  async run() {
    const json = await gzippedBytes("export * from './client/index.ts'");
    const both = await gzippedBytes("export * from './client/index.ts'; export * from './client/msgpack.ts'");
    return { value: json / KB, detail: `${(both / KB).toFixed(2)} KB with the compact codec` };
  },
};

async function gzippedBytes(contents: string): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: `${import.meta.dirname}/../..` },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
    write: false,
  });
  return gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length;
}
