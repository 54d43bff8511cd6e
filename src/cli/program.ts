import { Command, Option } from 'commander';
import { readConfig } from '../config.ts';
import { callServer, listed } from './server-call.ts';
import { settingsTable } from './settings-table.ts';
import { checkToken, mintToken } from './token.ts';

/** What an operator types. Everything exits with 1 and one clear line when it cannot do what it was asked. */
const program = new Command('tidemark')
  .description('Real-time unread gateway for instant messaging.')
  .showHelpAfterError()
  .configureHelp({ showGlobalOptions: true });

program
  .command('start')
  .description('run the server; all settings are TIDEMARK_* variables, see `tidemark config doc`')
  .action(async () => {
    const { runServer } = await import('../server-process.ts');
    await runServer();
  });

const token = program.command('token').description('make a user token, for trying things out');
token
  .option('-u, --user <id>', 'user that the token is for')
  .option('-t, --ttl <time>', 'how long it is valid (30s, 15m, 1h, 7d)', '1h')
  .option('-d, --device <id>', 'only device that may use it')
  .action(async ({ user, ttl, device }: { user?: string; ttl: string; device?: string }) => {
    if (user === undefined) return token.error('error: say whose token it is: --user <id>');
    print(await mintToken(readConfig(), user, ttl, device ?? null));
  });
token
  .command('check <token>')
  .description('say whether a token is valid, and for whom')
  .action(async (text: string) => print(await checkToken(readConfig(), text)));

const config = program.command('config').description('the settings');
config
  .command('check')
  .description('read the settings as `start` would, and report every fault')
  .action(() => {
    readConfig();
    print('the settings are fine');
  });
config
  .command('doc')
  .description('all settings as a table')
  .action(() => print(settingsTable()));

program
  .command('reconcile')
  .description('compare the state of users with truth on the running server')
  .option('-u, --user <id...>', 'only these users')
  .option('--repair', 'put right what is wrong', false)
  .addOption(new Option('--dry-run', 'only compare, which is what it does without --repair').conflicts('repair'))
  .action(async ({ user, repair }: { user?: string[]; repair: boolean }) => {
    print(listed(await callServer(readConfig(), 'POST', '/v1/reconcile', { users: user, repair })));
  });

program
  .command('explain <user> <conversation>')
  .description('say why an unread number is what it is, on the running server')
  .action(async (user: string, conv: string) => {
    const path = `/v1/users/${encodeURIComponent(user)}/conversations/${encodeURIComponent(conv)}/explain`;
    print(listed(await callServer(readConfig(), 'GET', path)));
  });

function print(text: string): void {
  console.log(text);
}

export async function runProgram(argv: readonly string[]): Promise<void> {
  try {
    await program.parseAsync(argv);
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
