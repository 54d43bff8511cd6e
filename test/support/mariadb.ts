import { type MariadbServer, startMariadb as start } from '../../loadtest/mariadb.ts';
import { need } from './debian.ts';

/** A server of its own, for whoever kills it or makes it slow; all others share one (shared-mariadb.ts). */
export async function startMariadb(): Promise<MariadbServer> {
  const program = await need('mariadb');
  if ('reason' in program) throw new Error(program.reason);
  return start(program.path);
}
