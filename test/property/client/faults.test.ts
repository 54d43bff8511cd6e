import fc from 'fast-check';
import { test } from 'vitest';
import { clientJsonCodec } from '../../../client/json-codec.ts';
import { msgpackCodec as clientMsgpackCodec } from '../../../client/msgpack.ts';
import { jsonCodec } from '../../../protocol/codec-json.ts';
import { msgpackCodec } from '../../../protocol/codec-msgpack.ts';
import { ClientScene, histories } from '../../support/client-scene.ts';

const RUNS = Number(process.env['TEST_CLIENT_RUNS'] ?? 150);

const CODECS = [
  [jsonCodec, clientJsonCodec],
  [msgpackCodec, clientMsgpackCodec],
] as const;

for (const [codec, clientCodec] of CODECS) {
  test(`[SY3][SY4][SY6][SY7][AK4] after any faults a device is right, and was never wrong before (${codec.subprotocol})`, async () => {
    const property = fc.asyncProperty(histories, async (history) => {
      const scene = new ClientScene(codec, clientCodec);
      for (const step of history) await scene.perform(step);
      await scene.calm();
    });
    await fc.assert(property, { numRuns: RUNS });
  });
}
