import { Command, CommanderError } from 'commander';
import type { Platform } from '../platform/platform.ts';
import { EXIT } from './exit-codes.ts';
import { type OptionSpec, parseRunArguments, RUN_OPTIONS } from './run-options.ts';
import { VERSION } from './version.ts';

/** Help, parse errors, and all commands but the fast path of `run`. */
export async function runCommander(platform: Platform, argv: readonly string[]): Promise<number> {
  let exitCode: number = EXIT.success;
  const program = new Command('harn')
    .description('Runs agent pipelines whose loops can be parked in a file and resumed anywhere.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .configureOutput({
      writeOut: (text) => platform.stdio.out(text),
      writeErr: (text) => platform.stdio.err(text),
      getOutHelpWidth: () => 80,
      getErrHelpWidth: () => 80,
    })
    .showHelpAfterError('(harn --help lists the commands)')
    .exitOverride();

  const run = program
    .command('run')
    .description('run a script, or go on with a parked loop (--resume)')
    .argument('[file]', 'the script')
    .helpOption('-h, --help', 'print this help')
    .addHelpText('after', '\nExit codes: 0 done or parked, n the entry value or exit(n), 1 error, 2 usage, 130 SIGINT, 143 SIGTERM.\n');
  for (const spec of Object.values(RUN_OPTIONS) as OptionSpec[]) {
    run.option(spec.value === undefined ? spec.flag : `${spec.flag} <${spec.value}>`, spec.description);
  }
  run.action(async () => {
    const { runCommand } = await import('./commands/run.ts');
    exitCode = await runCommand(platform, parseRunArguments(argv.slice(1)));
  });

  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT.success : EXIT.usage;
  }
  return exitCode;
}
