import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  closeCodes,
  errorCodes,
  limits,
  ops,
  reconnectAdvice,
  serverFrames,
  clientFrames,
  events,
} from '../../../protocol/index.ts';
import type { ErrorInfo } from '../../../protocol/index.ts';
import { clientTypeCodes } from '../../../protocol/msgpack-client-frames.ts';
import { serverTypeCodes } from '../../../protocol/msgpack-server-frames.ts';

const spec = readFileSync(join(import.meta.dirname, '../../../protocol/SPEC.md'), 'utf8');
/** Rows of all tables as cells. */
const cells = [...spec.matchAll(/^\| (.+) \|$/gm)].map(([, line = '']) => line.split('|').map((cell) => cell.trim()));
const rowOf = (first: string): string[] | undefined => cells.find(([cell]) => cell === first);

describe('SPEC.md', () => {
  test('every rule of the contract is an item of its own, once', () => {
    const groups = { CN: 9, OR: 3, AK: 9, SY: 10, LC: 6, DT: 8, MP: 4, CD: 7 };
    const ids = [...spec.matchAll(/^- \*\*([A-Z]{2}\d+)\*\* /gm)].map(([, id]) => id);
    const expected = Object.entries(groups).flatMap(([group, last]) =>
      Array.from({ length: last }, (_, i) => `${group}${i + 1}`),
    );
    expect(new Set(ids)).toEqual(new Set(expected));
    expect(ids).toHaveLength(expected.length);
  });

  test('every frame and event stands in its table with every field', () => {
    const schemas = { ...clientFrames, ...serverFrames };
    for (const [type, schema] of Object.entries(schemas)) {
      const fields = Object.keys(objectShape(schema.shape)).filter((field) => field !== 't');
      const text = rowOf(`\`${type}\``)?.[1] ?? '';
      const named = type === 'synced' ? (rowOf('`welcome`')?.[1] ?? '') : text;
      expect(text !== '' || fields.length === 0).toBe(true);
      expect(fields.filter((field) => !named.includes(`\`${field}\``))).toEqual([]);
    }
    for (const [type, schema] of Object.entries(events)) {
      const line = cells.find(([cell = '']) => cell.includes(`\`${type}\``))?.[1] ?? '';
      const fields = Object.keys(objectShape(schema.shape)).filter((field) => !['type', 'event_id'].includes(field));
      expect(fields.filter((field) => !line.includes(`\`${field}\``))).toEqual([]);
    }
  });

  test('[MP1] every type code stands in the table of layouts', () => {
    for (const [type, code] of Object.entries({ ...clientTypeCodes, ...serverTypeCodes })) {
      expect(rowOf(type)?.[1]).toMatch(new RegExp(`^${code}\\b`));
    }
    expect(ops).toHaveLength(10);
  });

  test('[DT5] the table of error codes is the one of the code', () => {
    for (const [code, info] of Object.entries<ErrorInfo>(errorCodes)) {
      expect(rowOf(code)).toEqual([code, info.meaning, info.retry ? 'yes' : 'no', String(info.http ?? '')]);
    }
  });

  test('[DT5] the table of close codes is the one of the code', () => {
    const text = {
      now: 'comes back after',
      backoff: 'comes back with back-off',
      new_token: 'gets a new token',
      never: 'stays away',
    };
    for (const [code, { name, reconnect }] of Object.entries(closeCodes)) {
      expect(rowOf(code)?.[1]).toBe(name);
      expect(rowOf(code)?.[2]).toContain(text[reconnect]);
    }
  });
});

describe('close codes', () => {
  test('[DT5] every code does what its range says', () => {
    for (const [code, { reconnect }] of Object.entries(closeCodes))
      expect(reconnectAdvice(Number(code))).toBe(reconnect);
  });

  test.each([
    [4042, 'now'],
    [4142, 'backoff'],
    [4242, 'new_token'],
    [4442, 'never'],
    [4342, 'backoff'],
    [4500, 'backoff'],
    [1000, 'backoff'],
    [1001, 'backoff'],
    [1006, 'backoff'],
    [1009, 'backoff'],
    [0, 'backoff'],
  ] as const)('[DT5] %i means %s', (code, advice) => {
    expect(reconnectAdvice(code)).toBe(advice);
  });
});

test('[AK4] the limits of the contract', () => {
  expect(limits).toMatchObject({
    frameBytesBeforeWelcomeMax: 4 * 1024,
    frameBytesMax: 64 * 1024,
    idBytesMax: 128,
    ackItemsMax: 200,
    eventsMax: 500,
    unreadCap: 999,
    groupThresholdDefault: 500,
    helloTimeoutMs: 10_000,
    retryMsMin: 500,
    retryMsMax: 30_000,
  });
});

function objectShape(shape: unknown): Record<string, unknown> {
  const { object, inner } = shape as { object?: Record<string, unknown>; inner?: unknown };
  return object ?? objectShape(inner);
}
