import { expect, test } from 'vitest';
import * as protocol from '../../../protocol/index.ts';
import {
  canonicalShape,
  msgpackCodec,
  PROTOCOL_VERSION,
  protocolHistory,
  SUBPROTOCOLS,
} from '../../../protocol/index.ts';
import type { Schema } from '../../../protocol/index.ts';
import { sha1Hex } from '../../../protocol/sha1.ts';
import { clientCases, serverCases } from '../../../scripts/vector-frames.ts';

/** Over what a peer may send (all schemas) and how it travels (the bytes of all example frames). */
function fingerprint(): string {
  const { clientFrames, serverFrames, events } = protocol;
  const bodies = Object.entries(protocol).filter(([name]) => name.endsWith('Body')) as [string, Schema<unknown>][];
  const schemas: [string, Schema<unknown>][] = [
    ...Object.entries(clientFrames),
    ...Object.entries(serverFrames),
    ...Object.entries(events),
    ...bodies,
  ];
  const shapes = schemas.map(([name, schema]) => `${name} ${canonicalShape(schema)}`);
  const bytes = [...clientCases, ...serverCases].map(({ frame }) =>
    Buffer.from(msgpackCodec.encode(frame)).toString('hex'),
  );
  return sha1Hex([...SUBPROTOCOLS, ...shapes, ...bytes].join('\n'));
}

test('[SY1] a change of schemas or layouts needs a new line in the history of the protocol', () => {
  const present = protocolHistory.at(-1);
  expect(present).toMatchObject({ version: PROTOCOL_VERSION, fingerprint: fingerprint() });
});

test('[SY1] versions rise one by one, and the subprotocols name the present one', () => {
  expect(protocolHistory.map(({ version }) => version)).toEqual(protocolHistory.map((_, i) => i + 1));
  for (const name of SUBPROTOCOLS) expect(name).toContain(`.v${PROTOCOL_VERSION}.`);
});
