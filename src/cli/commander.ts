import { Argument, Command, CommanderError } from 'commander';
import type { Platform } from '../platform/platform.ts';
import type { FmtOptions } from './commands/fmt.ts';
import type { InitOptions } from './commands/init.ts';
import type { ServeOptions } from './commands/serve.ts';
import { writeEnvelope } from './envelope.ts';
import { EXIT } from './exit-codes.ts';
import type { OptionSpec } from './parse-options.ts';
import { parseRunArguments, RUN_OPTIONS } from './run-options.ts';
import { VERSION } from './version.ts';
import { isWorkerCommand, runWorkerCommand, WORKER_COMMANDS, type WorkerCommand } from './worker-commands.ts';

/** Help, parse errors, and all commands but the fast path of `run`. @returns the exit code */
export async function runCommander(platform: Platform, argv: readonly string[]): Promise<number> {
  let exitCode: number = EXIT.success;
  const program = createProgram(platform);
  const run = addCommand(program, 'run')
    .description('run a script, or go on with a parked loop (--resume)')
    .usage('[options] <file> [-- words for the script]\n       harn run [options] --resume <path-or-id> [-- input]')
    .argument('[file]', 'the script; - for standard input')
    .addHelpText('after', RUN_HELP);
  addOptions(run, RUN_OPTIONS);
  run.action(async () => {
    const { runCommand } = await import('./commands/run.ts');
    exitCode = await runCommand(platform, parseRunArguments(argv.slice(1)));
  });

  addCommand(program, 'check')
    .description('find mistakes in scripts without running them')
    .addArgument(new Argument('[paths...]', 'files and folders; - for standard input').default(['.'], 'the current folder'))
    .option('--json', 'print one JSON object on stdout')
    .addHelpText('after', '\nExit codes: 0 no error (warnings allowed), 1 errors, 2 usage.')
    .action(async (paths: string[], options: { json?: boolean }) => {
      const { checkCommand } = await import('./commands/check.ts');
      exitCode = await checkCommand(platform, paths, options);
    });

  addCommand(program, 'fmt')
    .description('put scripts into the one style, in place')
    .addArgument(new Argument('[paths...]', 'files and folders; - for standard input').default(['.'], 'the current folder'))
    .option('--check', 'write nothing; fail when a file would change')
    .option('--diff', 'as --check, and show what would change')
    .option('--line-width <characters>', 'longest line, where it can be broken (default 100)')
    .option('--json', 'print one JSON object on stdout')
    .addHelpText('after', FMT_HELP)
    .action(async (paths: string[], options: FmtOptions) => {
      const { fmtCommand } = await import('./commands/fmt.ts');
      exitCode = await fmtCommand(platform, paths, options);
    });

  const workers = addCommand(program, 'workers')
    .description('look after parked loops: list, explain, resume, end them')
    .helpCommand('help [command]', 'print the help of a command')
    .showHelpAfterError('(harn workers --help lists the commands)')
    .addHelpText('after', WORKERS_HELP);
  for (const name of Object.keys(WORKER_COMMANDS).filter(isWorkerCommand)) {
    const spec: WorkerCommand = WORKER_COMMANDS[name];
    const command = addCommand(workers, name).description(spec.description).addHelpText('after', spec.help);
    if (spec.argument !== '') command.argument(spec.argument, spec.argumentDescription);
    addOptions(command, spec.options).action(async () => {
      exitCode = await runWorkerCommand(platform, name, argv.slice(2));
    });
  }

  addCommand(program, 'explain')
    .description('say what an error code means and what to do about it')
    .argument('[code]', 'for example HARN-SUS-003; without one, all are listed')
    .option('--json', 'print JSON on stdout')
    .action(async (code: string | undefined, options: { json?: boolean }) => {
      const { explainCommand } = await import('./commands/explain.ts');
      exitCode = explainCommand(platform, code, options);
    });

  addCommand(program, 'init')
    .description('begin a project: a script with a tool, and a scripted model')
    .addArgument(new Argument('[folder]', 'made when it is not there').default('.', 'the current folder'))
    .option('--json', 'print one JSON object on stdout')
    .addHelpText('after', '\nNothing is overwritten.\nExit codes: 0 done, 2 usage, or a file is in the way.')
    .action(async (folder: string, options: InitOptions) => {
      const { initCommand } = await import('./commands/init.ts');
      exitCode = initCommand(platform, folder, options);
    });

  addCommand(program, 'doctor')
    .description('say what a run still needs, or what a model service really does')
    .argument('[provider]', 'asks this service four times: streaming, usage, tools, JSON Schema')
    .option('--model <name>', 'the model to ask; the default of the provider otherwise')
    .option('--json', 'print one JSON object on stdout')
    .addHelpText('after', '\nExit codes: 0 all is well, 1 something is missing, 2 usage.')
    .action(async (provider: string | undefined, options: { model?: string; json?: boolean }) => {
      const { doctorCommand } = await import('./commands/doctor.ts');
      exitCode = await doctorCommand(platform, provider, options);
    });

  addCommand(program, 'serve')
    .description('serve what a script offers to clients of the Model Context Protocol')
    .argument('<protocol>', 'mcp')
    .argument('<file>', 'the script')
    .option('--http', 'serve over streamable HTTP, at the path /mcp')
    .option('--host <address>', 'where to listen (default: 127.0.0.1)')
    .option('--port <number>', 'a port; 0 takes any that is free (default: 8765)')
    .addHelpText('after', SERVE_HELP)
    .action(async (protocol: string, file: string, options: ServeOptions) => {
      const { serveCommand } = await import('./commands/serve.ts');
      exitCode = await serveCommand(platform, protocol, parseRunArguments([file]), options);
    });

  addCommand(program, 'completion')
    .description('print a script that completes harn in a shell')
    .argument('<shell>', 'bash, zsh or fish')
    .addHelpText('after', COMPLETION_HELP)
    .action(async (shell: string) => {
      const { completionCommand } = await import('./commands/completion.ts');
      exitCode = completionCommand(platform, shell, program);
    });

  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT.success;
    // Commander has told people already.
    const { reportingOf } = await import('./command-failure.ts');
    const message = error.message.replace(/^error: /, '');
    if (reportingOf(platform, argv).kind === 'envelope')
      writeEnvelope(platform, { ok: false, data: null, error: { code: 'usage', message, details: {} } });
    return EXIT.usage;
  }
  return exitCode;
}

const SERVE_HELP = `
The script runs to its end and registers what it offers with mcp_tools,
mcp_resource, mcp_resource_template and mcp_prompt. It is then served over
standard input and output until the client goes; what it prints goes to
standard error.

With --http many clients are served until a signal comes. Requests that name
another host, or come from a page of another site, are refused; with
HARN_MCP_TOKEN set, all that do not bear it. Beyond this machine it is served
only with a token.

Exit codes: 0 the client has gone or a signal ended the serving, 1 the script
failed or offers nothing, 2 usage.`;

const COMPLETION_HELP = `
bash  source <(harn completion bash)
zsh   source <(harn completion zsh)
fish  harn completion fish | source`;

const FMT_HELP = `
Prints the names of files that changed. The meaning of a script and its comments
stay; a file with a syntax error is left as it is. With - the result goes to
standard output.
Exit codes: 0 done, 1 a syntax error, or with --check a file that would change,
2 usage.`;

const RUN_HELP = `
Exit codes: 0 done or parked, n the entry value or exit(n), 1 error, 2 usage,
130 SIGINT, 143 SIGTERM.

Environment:
HARN_STATE_DIR        folder of parked loops (default .harn of the project)
HARN_CACHE_DIR        folder of compiled scripts (default ~/.cache/harn)
HARN_SIGNAL_GRACE_MS  time that loops have to park at a signal (default 10000)
NO_COLOR              no colours`;

const WORKERS_HELP = `
A worker is named by its id, by the beginning of it (12 characters or more), or
by the path of its file. Only resume runs anything.`;

const PROGRAM_HELP = `
Examples:
  harn init hello                            begin a project that needs no model
  harn run script.harn -- a b                run a script with two arguments
  harn workers list                          what is parked, and what wakes it
  harn run --resume worker_0199f -- "yes"    go on with it

harn COMMAND --help says more.`;

function createProgram({ stdio }: Platform): Command {
  return new Command('harn')
    .description('Runs agent pipelines whose loops can be parked in a file and resumed\nanywhere.')
    .version(VERSION, '-V, --version', 'print the version')
    .usage('<command> [options]')
    .addHelpText('after', PROGRAM_HELP)
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .configureOutput({
      writeOut: (text) => stdio.out(text),
      writeErr: (text) => stdio.err(text),
      outputError: (text, write) => write(text.replace(/^error: /, 'harn: ')),
      getOutHelpWidth: () => 80,
      getErrHelpWidth: () => 80,
    })
    .showHelpAfterError('(harn --help lists the commands)')
    .exitOverride();
}

/** Commands inherit output and errors from the program, but not how they name their help. */
function addCommand(parent: Command, name: string): Command {
  const typed = parent.name() === 'harn' ? `harn ${name}` : `harn ${parent.name()} ${name}`;
  return parent.command(name).helpOption('-h, --help', 'print this help').showHelpAfterError(`(${typed} --help lists the options)`);
}

function addOptions(command: Command, options: Readonly<Record<string, OptionSpec>>): Command {
  for (const { flag, value, description } of Object.values(options)) {
    command.option(value === undefined ? flag : `${flag} <${value}>`, description);
  }
  return command;
}
