import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { options } from '../../../src/config-table.ts';
import { parseDurationMs } from '../../../src/config-option.ts';
import { textOf } from '../../support/source-tree.ts';

interface Service {
  readonly image: string;
  readonly environment: Record<string, string>;
  readonly ports?: string[];
  readonly stop_grace_period?: string;
  readonly depends_on?: Record<string, { condition: string }>;
  readonly healthcheck?: object;
}

/** What the drain may take beyond its window: requests and commands that are still being answered. */
const BEYOND_DRAIN_MS = 15_000;
const { services } = parse(textOf('compose.yaml'), { merge: true }) as { services: Record<string, Service> };
const gateways = Object.values(services).filter(({ image }) => image === 'tidemark');

describe('compose.yaml', () => {
  test('starts two gateways that are alike but for their port', () => {
    expect(gateways).toHaveLength(2);
    const [first, second] = gateways.map(({ ports, ...rest }) => ({ ports, rest }));
    expect(first?.rest).toEqual(second?.rest);
    expect(first?.ports).not.toEqual(second?.ports);
  });

  test('sets nothing that is no setting', () => {
    const known = new Set<string>(Object.values(options).map(({ env }) => env));
    const set = gateways.flatMap(({ environment }) => Object.keys(environment));
    expect(set.filter((name) => !known.has(name))).toEqual([]);
  });

  test('has no key of its own: without one from outside it does not start', () => {
    for (const { environment } of gateways) {
      expect(environment).toMatchObject({
        TIDEMARK_API_KEY: '${TIDEMARK_API_KEY:?}',
        TIDEMARK_TOKEN_SECRET: '${TIDEMARK_TOKEN_SECRET:?}',
      });
    }
  });

  test('lets a gateway drain before it is killed', () => {
    for (const { environment, stop_grace_period: grace = '' } of gateways) {
      const drainMs = parseDurationMs(environment['TIDEMARK_DRAIN_MS'] ?? String(options.drainMs.default));
      expect(parseDurationMs(grace)).toBeGreaterThanOrEqual(drainMs + BEYOND_DRAIN_MS);
    }
  });

  test('starts gateways when what they need is healthy, by a check of its own', () => {
    for (const { depends_on: needed = {} } of gateways) {
      expect(Object.keys(needed)).toEqual(['mysql', 'redis']);
      for (const [name, { condition }] of Object.entries(needed)) {
        expect(condition).toBe('service_healthy');
        expect(services[name]?.healthcheck).toBeDefined();
      }
    }
  });
});
