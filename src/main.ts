import { onSupportedNode } from './node-version.ts';

await onSupportedNode(async () => {
  const { runServer } = await import('./server-process.ts');
  await runServer();
});
