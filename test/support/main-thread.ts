// What a page's main thread does meanwhile, task by task, as the browser itself records it. CPU time: a machine that others are
// using makes no task longer.
import type { CDPSession, Page } from 'playwright-core';

interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  /** CPU time in µs. */
  tdur?: number;
  args: { name?: string };
}

/** CPU time in ms of each task of the renderers' main threads while `work` runs, longest first. */
export async function mainThreadTasks(page: Page, work: () => Promise<unknown>): Promise<number[]> {
  const browser = page.context().browser();
  if (browser === null) throw new Error('the page has no browser');
  await browser.startTracing(page, { categories: ['toplevel', '__metadata'] });
  await work();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  const thread = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
  const mains = new Set(traceEvents.filter(({ args }) => args.name === 'CrRendererMain').map(thread));
  return traceEvents
    .filter((event) => event.name === 'ThreadControllerImpl::RunTask' && mains.has(thread(event)))
    .map(({ tdur = 0 }) => tdur / 1000)
    .toSorted((a, b) => b - a);
}

/** Bytes of the heap that something still refers to. */
export async function heapBytes(devtools: CDPSession): Promise<number> {
  await devtools.send('Performance.enable');
  await devtools.send('HeapProfiler.collectGarbage');
  const { metrics } = await devtools.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? NaN;
}
