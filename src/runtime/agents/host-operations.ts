import { textArgument } from '../arguments.ts';
import { absolutePath } from '../builtins/files.ts';
import { processResult } from '../builtins/process.ts';
import type { Context } from '../context.ts';
import { dictGet, dictOf } from '../dict.ts';
import { display } from '../display.ts';
import { durationMs } from '../duration.ts';
import { thrownText } from '../errors.ts';
import { andThen, type MaybeAsync } from '../maybe-async.ts';
import { writeOutput } from '../output.ts';
import { terminalOf } from '../terminal.ts';
import { Dict, type Value } from '../value.ts';
import { field, withoutKeys } from './agent-values.ts';
import { inBackground, wantsBackground } from './background-operation.ts';
import { executionRoot } from './execution-place.ts';

/** What this process offers when no host stands behind it: operations by capability. */
interface HostOperation {
  readonly description: string;
  readonly run: (context: Context, params: Value) => MaybeAsync<Value>;
}

export interface HostCapability {
  readonly description: string;
  readonly operations: Readonly<Record<string, HostOperation>>;
}

export const HOST_CAPABILITIES: Readonly<Record<string, HostCapability>> = {
  process: {
    description: 'Programs of this machine',
    operations: {
      exec: { description: 'Runs a program, or a line in a shell', run: exec },
      list_shells: {
        description: 'The shells that lines can run in',
        run: (context) =>
          dictOf([
            ['shells', [defaultShell(context)]],
            ['default_shell_id', dictGet(defaultShell(context), 'id')],
          ]),
      },
      shell_invocation: { description: 'How a line is given to a shell', run: shellInvocation },
      get_default_shell: { description: 'The shell that lines run in', run: (context) => defaultShell(context) },
    },
  },
  interaction: {
    description: 'The person at the terminal',
    operations: { ask: { description: 'Asks a question and waits for the answer', run: ask } },
  },
};

function defaultShell({ run }: Context): Dict {
  const isWindows = run.platform.system.platform === 'windows';
  return dictOf([
    ['id', isWindows ? 'cmd' : 'sh'],
    ['path', isWindows ? 'cmd.exe' : '/bin/sh'],
    ['platform', run.platform.system.platform],
    ['available', true],
  ]);
}

function shellInvocation(context: Context, params: Value): Dict {
  const shell = defaultShell(context);
  const flag = dictGet(shell, 'id') === 'cmd' ? '/c' : '-c';
  return dictOf([
    ['program', dictGet(shell, 'path')],
    ['args', [flag, textArgument(field(params, 'command'))]],
    ['command_arg_index', 1],
    ['shell', shell],
  ]);
}

async function exec(context: Context, params: Value): Promise<Value> {
  const argv = field(params, 'argv');
  const words = Array.isArray(argv) ? argv.map(display) : [];
  const line = textArgument(field(params, 'command'));
  const command = words[0] ?? line;
  if (command === '') throw thrownText('host_call: process.exec needs `command` or `argv`');
  const cwd = field(params, 'cwd');
  if (params instanceof Dict && wantsBackground(params)) {
    const run = (inside: Context): Promise<Value> => exec(inside, withoutKeys(params, ['background', 'long_running', 'timeout_ms']));
    return inBackground(context, params, { operation: 'process.exec', descriptor: words.length === 0 ? line : words.join(' '), run });
  }
  const result = await processResult(context, {
    command,
    args: words.slice(1),
    shell: words.length === 0,
    cwd: cwd === undefined ? executionRoot(context) : absolutePath(context, cwd),
    timeoutMs: durationMs(field(params, 'timeout_ms')),
  });
  return dictOf([
    ['status', result.timedOut ? 'timed_out' : 'completed'],
    ['exit_code', result.status],
    ['success', result.status === 0],
    ['stdout', result.stdout],
    ['stderr', result.stderr],
    ['combined', result.stdout + result.stderr],
    ['command_id', context.run.platform.random.id('command')],
    ['pid', result.pid],
  ]);
}

function ask(context: Context, params: Value): MaybeAsync<Value> {
  writeOutput(context, `${textArgument(field(params, 'question'))} `);
  return andThen(terminalOf(context).readLine(), (line) => line?.trim());
}
