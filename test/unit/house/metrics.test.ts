import { describe, expect, test } from 'vitest';
import { createMetrics, METRIC_PREFIX, metricDefinitions, noMetrics } from '../../../src/metrics.ts';
import { filesOf, textOf } from '../../support/source-tree.ts';

type Method = keyof typeof noMetrics;
const METHODS = Object.keys(noMetrics) as Method[];

async function valuesAfter(happen: (metrics: ReturnType<typeof createMetrics>) => void): Promise<string[]> {
  const metrics = createMetrics();
  happen(metrics);
  const lines = (await metrics.render()).split('\n');
  return lines.filter((line) => line.startsWith(METRIC_PREFIX) && !line.includes('_bucket{'));
}

describe('metrics', () => {
  test('each one is rendered with its meaning, beside those of the process', async () => {
    const text = await createMetrics().render();
    for (const [name, { kind, help }] of Object.entries(metricDefinitions)) {
      expect(text).toContain(`# HELP ${METRIC_PREFIX}${name} ${help}`);
      expect(text).toContain(`# TYPE ${METRIC_PREFIX}${name} ${kind}`);
    }
    expect(text).toContain('nodejs_eventloop_lag_seconds');
  });

  test('two registries count apart', async () => {
    const first = createMetrics();
    first.diverged();
    expect(await first.render()).toContain('tidemark_divergence_total 1');
    expect(await createMetrics().render()).toContain('tidemark_divergence_total 0');
  });

  test('events are counted by type and result, and unknown types share one label', async () => {
    const events = [
      { type: 'message.created' },
      { type: 'message.created' },
      { type: 'toString' },
      null,
      7,
      { type: 7 },
    ];
    const refused = { ok: false, error: { code: 'unknown_event' } };
    const results = [{ ok: true }, { ok: true, duplicate: true }, refused, refused, refused, { ok: false }];
    expect(await valuesAfter((metrics) => metrics.eventsAnswered(events, results))).toEqual(
      expect.arrayContaining([
        'tidemark_events_total{type="message.created",result="ok"} 1',
        'tidemark_events_total{type="message.created",result="duplicate"} 1',
        'tidemark_events_total{type="unknown",result="unknown_event"} 3',
        'tidemark_events_total{type="unknown",result="internal"} 1',
      ]),
    );
  });

  test('sockets go up and down, and are counted when they close', async () => {
    const values = await valuesAfter((metrics) => {
      metrics.connectionOpened();
      metrics.connectionOpened();
      metrics.sessionLive(1);
      metrics.sessionLive(1);
      metrics.sessionLive(-1);
      metrics.connectionClosed(4100);
    });
    expect(values).toEqual(
      expect.arrayContaining([
        'tidemark_connections{state="open"} 1',
        'tidemark_connections{state="live"} 1',
        'tidemark_closes_total{code="4100"} 1',
      ]),
    );
  });

  test('whatever code a peer closes with, the labels are few', async () => {
    const values = await valuesAfter((metrics) => {
      for (let code = 3000; code < 4000; code++) metrics.connectionClosed(code);
      for (const code of [1000, 1001, 1005, 1006, 1013, 4404, 4999]) metrics.connectionClosed(code);
    });
    const codes = values.filter((line) => line.startsWith('tidemark_closes_total'));
    expect(new Set(codes.map((line) => /code="(\w+)"\} (\d+)/.exec(line)?.slice(1).join(' ')))).toEqual(
      new Set(['1000 1', '1001 1', '1005 1', '1006 1', '4404 1', 'other 1002']),
    );
  });

  test('a request is counted by route, and timed', async () => {
    const values = await valuesAfter((metrics) => metrics.requestAnswered('/v1/events', 'POST', 200, 0.002));
    expect(values).toContain('tidemark_http_requests_total{route="/v1/events",method="POST",status="200"} 1');
    expect(values).toContain('tidemark_http_request_seconds_count{route="/v1/events"} 1');
  });

  test('nobody has to look', () => {
    for (const method of METHODS) expect((noMetrics[method] as () => void)()).toBeUndefined();
  });

  test('everything that can be counted is counted somewhere', () => {
    const code = filesOf('src/**/*.ts')
      .filter((file) => file !== 'src/metrics.ts')
      .map(textOf)
      .join('\n');
    expect(METHODS.filter((method) => !new RegExp(`\\b[mM]etrics\\.${method}\\(`).test(code))).toEqual([]);
  });
});
