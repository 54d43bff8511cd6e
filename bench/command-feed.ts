/** The commands that arrive at a Redis, as it shows them itself; what its scripts do is not among them. */
import { Redis } from 'ioredis';

export interface CommandFeed {
  /** How often each command arrived, by its name, from the beginning of the run to its end. */
  during(run: () => Promise<void>): Promise<Map<string, number>>;
  close(): void;
}

export async function openCommandFeed(port: number): Promise<CommandFeed> {
  const plain = new Redis({ port, host: '127.0.0.1' });
  const monitor = await plain.monitor();
  const counts = new Map<string, number>();
  let marked: () => void = () => {};
  monitor.on('monitor', (_time: string, [command = '']: string[], source: string) => {
    const name = command.toLowerCase();
    if (name === 'echo') marked();
    else if (source !== 'lua') counts.set(name, (counts.get(name) ?? 0) + 1);
  });
  /** Commands are shown in the order in which they were carried out, so all before this one have been. */
  const mark = async (): Promise<void> => {
    const shown = new Promise<void>((resolve) => (marked = resolve));
    await plain.echo('mark');
    await shown;
  };
  return {
    async during(run) {
      await mark();
      counts.clear();
      await run();
      await mark();
      return new Map(counts);
    },
    close() {
      monitor.disconnect();
      plain.disconnect();
    },
  };
}
