import type { MetricsRegistry } from '../metrics.ts';
import type { Readiness } from './readiness.ts';
import type { Route } from './route.ts';

export interface HealthDeps {
  readonly metrics: MetricsRegistry;
  /** Metrics tell nothing of users, but much about the system: without this they are for holders of the API key. */
  readonly metricsOpen: boolean;
  /** Throws Unavailable while requests would fail: truth is away, or the server is about to stop. */
  readonly ready: () => Promise<Readiness>;
}

/** What an orchestrator and an operator look at. `healthz`: the process answers; `readyz`: send it requests. */
export function healthRoutes({ metrics, metricsOpen, ready }: HealthDeps): Route[] {
  return [
    {
      method: 'GET',
      path: '/healthz',
      access: 'open',
      isAlwaysAdmitted: true,
      answer: (c) => c.json({ status: 'ok' }),
    },
    {
      method: 'GET',
      path: '/readyz',
      access: 'open',
      isAlwaysAdmitted: true,
      answer: async (c) => {
        const { away, slow } = await ready();
        const faults = { ...(away.length > 0 ? { away } : {}), ...(slow.length > 0 ? { slow } : {}) };
        return c.json({ status: 'ready', ...faults });
      },
    },
    {
      method: 'GET',
      path: '/metrics',
      access: metricsOpen ? 'open' : 'key',
      isAlwaysAdmitted: true,
      answer: async (c) => c.body(await metrics.render(), 200, { 'content-type': metrics.contentType }),
    },
  ];
}
