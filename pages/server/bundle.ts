import { join } from 'node:path';

/** The script of the page in one piece, from the sources in `folder`. esbuild is there after `npm ci`; a build brings the result instead. */
export async function bundlePage(folder: string): Promise<string> {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [join(folder, 'page/main.ts')],
    bundle: true,
    format: 'esm',
    target: 'es2024',
    minify: true,
    legalComments: 'none',
    logLevel: 'silent',
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}
