import type { ProcessRequest, ProcessResult } from '../../platform/platform.ts';
import { executionEnv, executionRoot } from '../agents/execution-place.ts';
import type { Builtin, BuiltinGroup } from '../builtin.ts';
import type { Context } from '../context.ts';
import { dictOf } from '../dict.ts';
import { display } from '../display.ts';
import { thrownText } from '../errors.ts';
import { errorDetail } from '../file-errors.ts';
import type { Value } from '../value.ts';
import { absolutePath } from './files.ts';

const text = (value: Value): string => (value === undefined ? '' : display(value));

/** Runs a program to its end; a failing one does not throw, one that cannot start does. */
export async function processResult(context: Context, given: ProcessRequest): Promise<ProcessResult> {
  try {
    const env = executionEnv(context);
    const request = env === undefined ? given : { ...given, env: { ...env, ...given.env } };
    return await context.run.platform.processes.run({ ...request, signal: context.signal });
  } catch (error) {
    if (context.signal.aborted) throw context.signal.reason;
    throw thrownText(`exec failed: ${missingPart(context, given)}: ${errorDetail(error)}`);
  }
}

/** A missing folder and a missing program fail alike; the message names the one that it was. */
function missingPart(context: Context, { command, cwd }: ProcessRequest): string {
  const isThere = cwd === undefined || context.run.platform.files.stat(cwd)?.isDirectory === true;
  return isThere ? command : `folder ${cwd}`;
}

export async function runProcess(context: Context, request: ProcessRequest): Promise<Value> {
  const { stdout, stderr, status } = await processResult(context, request);
  return dictOf([
    ['stdout', stdout],
    ['stderr', stderr],
    ['status', status],
    ['success', status === 0],
  ]);
}

function run(context: Context, command: string, args: readonly string[], cwd: string, shell: boolean): Promise<Value> {
  return runProcess(context, { command, args, cwd, shell });
}

function requireCommand(name: string, command: Value): string {
  if (command === undefined || text(command) === '') throw thrownText(`${name}: command is required`);
  return text(command);
}

/** A worker may have variables of its own. */
function variable(context: Context, name: Value): string | undefined {
  return executionEnv(context)?.[text(name)] ?? context.run.platform.env.get(text(name));
}

const RESULT = '-> dict';

function environment(name: string, doc: string, signature: string, run: (context: Context, ...args: Value[]) => Value): [string, Builtin] {
  return [name, { signature, doc, call: (c, _d, ...args) => run(c, ...args) }];
}

/** Processes and the environment (spec/language.md 12.14). */
export const PROCESS: BuiltinGroup = {
  name: 'process',
  title: 'Processes, environment, system',
  errors: [
    { text: 'exec: command is required', when: 'also `exec_at`, `shell`, `shell_at`' },
    { text: 'exec failed: P: DETAIL', when: 'the program could not be started; one that fails does not throw' },
  ],
  builtins: {
    exec: {
      signature: `(command: any = nil, ...args: any) ${RESULT}`,
      doc: 'Runs a program without a shell: `{stdout, stderr, status, success}`.',
      colour: 'async',
      call: (c, _d, command, ...args) => run(c, requireCommand('exec', command), args.map(text), executionRoot(c), false),
    },
    exec_at: {
      signature: `(dir: any, command: any = nil, ...args: any) ${RESULT}`,
      doc: 'Runs a program in a directory.',
      colour: 'async',
      call: (c, _d, dir, command, ...args) => run(c, requireCommand('exec_at', command), args.map(text), absolutePath(c, dir), false),
    },
    shell: {
      signature: `(line: any = nil) ${RESULT}`,
      doc: 'Runs a line through the shell.',
      colour: 'async',
      call: (c, _d, line) => run(c, requireCommand('shell', line), [], executionRoot(c), true),
    },
    shell_at: {
      signature: `(dir: any, line: any = nil) ${RESULT}`,
      doc: 'Runs a line through the shell in a directory.',
      colour: 'async',
      call: (c, _d, dir, line) => run(c, requireCommand('shell_at', line), [], absolutePath(c, dir), true),
    },
    ...Object.fromEntries([
      environment('env', 'The value of an environment variable, nil when it is not set.', '(name: any) -> string | nil', (c, name) =>
        variable(c, name),
      ),
      environment(
        'env_or',
        'The value of an environment variable, or the fallback.',
        '(name: any, fallback: any) -> any',
        (c, name, fallback) => variable(c, name) ?? fallback,
      ),
      environment('username', 'Name of the user.', '() -> string', (c) => c.run.platform.system.username),
      environment('hostname', 'Name of this machine.', '() -> string', (c) => c.run.platform.system.hostname),
      environment('platform', '`linux`, `darwin` or `windows`.', '() -> string', (c) => c.run.platform.system.platform),
      environment('arch', 'Architecture of the processor.', '() -> string', (c) => c.run.platform.system.arch),
      environment('home_dir', 'The home directory of the user.', '() -> string', (c) => c.run.platform.system.homeDirectory),
      environment('pid', 'Id of this process.', '() -> int', (c) => c.run.platform.processes.pid),
    ]),
  },
};
