// The version of the wire contract. The fingerprint test fails when a schema or a byte layout changes without a new line here.

export const PROTOCOL_VERSION = 1;

export type ProtocolRelease = { version: number; what: string; fingerprint: string };

/** `fingerprint`: see test/unit/protocol/version.test.ts. */
export const protocolHistory: readonly ProtocolRelease[] = [
  { version: 1, what: 'the first contract', fingerprint: '8109cb3b81cb4de9cec18cdbd5ae8504634abeff' },
];
