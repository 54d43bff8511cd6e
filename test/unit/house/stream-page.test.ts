import { execFileSync } from 'node:child_process';
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { textOf } from '../../support/source-tree.ts';

const PAGE = textOf('docs/STREAM.md');

function example(language: string): string {
  return new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'm').exec(PAGE)?.[1] ?? '';
}

test.each(['c1', 'room 7/ä', '会话', 'x'.repeat(128)])(
  'the examples of docs/STREAM.md find the stream of %s',
  (conv) => {
    const stream = `chat:{${crc32(Buffer.from(conv)) % 16}}\n`;
    const options = { env: { ...process.env, CONV: conv }, encoding: 'utf8' } as const;
    expect(execFileSync('sh', ['-c', example('sh')], options)).toBe(stream);
    expect(execFileSync(process.execPath, ['--input-type=module-typescript', '-e', example('ts')], options)).toBe(
      stream,
    );
  },
);
