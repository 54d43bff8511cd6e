// The public surface of the wire contract; the only barrel of the repository. The msgpack codec and the client reducer
// are imported from here too, tree shaking leaves out what is not used.
export * from './client-frames.ts';
export * from './client-state.ts';
export * from './close-codes.ts';
export * from './codec-json.ts';
export * from './codec-msgpack.ts';
export * from './codec.ts';
export * from './digest.ts';
export * from './error-codes.ts';
export * from './events.ts';
export * from './http.ts';
export * from './ids.ts';
export * from './limits.ts';
export * from './row-sums.ts';
export * from './schema.ts';
export * from './server-frames.ts';
export * from './version.ts';
