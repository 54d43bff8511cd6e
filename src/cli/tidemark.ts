#!/usr/bin/env node
import { onSupportedNode } from '../node-version.ts';

await onSupportedNode(async () => {
  const { runProgram } = await import('./program.ts');
  await runProgram(process.argv);
});
