import type { PlantedFault } from './planted-fault.ts';

const STREAM = ['test/integration/stream-delivery.test.ts'];
const HOLDS = ['test/integration/stream-holds.test.ts'];
const STREAM_SCRIPTS = 'src/stream/scripts';

/** docs/STREAM.md: who reads a stream, what is delivered again, what is put aside. */
export const PLANTED_STREAM_GUARDS: readonly PlantedFault[] = [
  {
    name: 'guard: a stream that is held is read by another node too',
    rule: 'OR1',
    file: `${STREAM_SCRIPTS}/take.lua`,
    find: "if holder or cursor ~= '0-0' then return false end",
    replace: "if cursor ~= '0-0' then return false end",
    tests: HOLDS,
  },
  {
    name: 'guard: a node that has lost its stream goes on taking entries',
    rule: 'OR1',
    file: `${STREAM_SCRIPTS}/take.lua`,
    find: "if holder or cursor ~= '0-0' then return false end",
    replace: 'if holder then return false end',
    tests: HOLDS,
  },
  {
    name: 'guard: a node that has lost its stream settles entries that are in the hands of another',
    rule: 'OR1',
    file: `${STREAM_SCRIPTS}/settle.lua`,
    find: "if redis.call('GET', lease) ~= token then return false end",
    replace: '',
    tests: HOLDS,
  },
  {
    name: 'guard: a node gives back a stream that another one holds',
    rule: 'OR1',
    file: `${STREAM_SCRIPTS}/hold.lua`,
    find: "if redis.call('GET', lease) ~= token then return 0 end",
    replace: '',
    tests: HOLDS,
  },
  {
    name: 'guard: new entries come before those that an abandoned reader left',
    rule: 'OR1',
    file: 'src/stream/held-stream.ts',
    find: "#cursor = '0-0';",
    replace: '#cursor = NEW;',
    tests: HOLDS,
  },
  {
    name: 'guard: a lease is not renewed while a batch takes long',
    rule: 'OR1',
    file: 'src/stream/stream-reader.ts',
    find: '        held.renew().catch(onError);\n',
    replace: '',
    tests: HOLDS,
  },
  {
    name: 'guard: a delivery counts although truth was away',
    rule: 'OR1',
    file: 'src/stream/stream-reader.ts',
    find: '      if (error instanceof Unavailable) throw error;\n      if (values.length === 1) {',
    replace: '      if (values.length === 1) {',
    tests: STREAM,
  },
  {
    name: 'guard: a stream goes on while the state is away',
    rule: 'OR1',
    file: 'src/stream/stream-reader.ts',
    find: '      await this.#deps.ready();\n',
    replace: '',
    tests: STREAM,
  },
  {
    name: 'guard: one event that fails takes its batch with it',
    rule: 'OR1',
    file: 'src/stream/stream-reader.ts',
    find: `      if (values.length === 1) {
        this.#deps.onError(error);
        return [{ ok: false, error: { code: 'internal', message: 'the event could not be stored' } }];
      }`,
    replace: `      if (values.length > 0) {
        this.#deps.onError(error);
        return values.map(() => ({ ok: false, error: { code: 'internal', message: 'the event could not be stored' } }));
      }`,
    tests: STREAM,
  },
  {
    name: 'guard: an entry that is delivered twice is applied twice',
    rule: 'DT3',
    file: 'src/stream/stream-entry.ts',
    find: "isObject(value) && !('event_id' in value) ? { ...value, event_id: entryName } : value",
    replace: 'isObject(value) ? { ...value } : entryName',
    tests: STREAM,
  },
];
