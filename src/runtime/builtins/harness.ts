import { field } from '../agents/agent-values.ts';
import { executionRoot } from '../agents/execution-place.ts';
import { textArgument } from '../arguments.ts';
import type { BuiltinGroup } from '../builtin.ts';
import type { Context } from '../context.ts';
import { dictEntries } from '../dict.ts';
import { display } from '../display.ts';
import { durationMs } from '../duration.ts';
import { typeError } from '../errors.ts';
import { terminalOf } from '../terminal.ts';
import { Dict, type Value } from '../value.ts';
import { absolutePath } from './files.ts';
import { runProcess } from './process.ts';

/** Methods of the harness that no other builtin stands behind (spec/language.md 15.3). */
export const HARNESS: BuiltinGroup = {
  name: 'harness',
  title: 'The harness',
  errors: [
    { text: 'Type error: HarnessRandom.range expects an integer min argument', when: 'also `max`' },
    { text: 'Type error: HarnessRandom.bytes expects a length from 1 through 1024', when: '`harness.random.bytes`' },
    { text: 'Type error: HarnessProcess.run: command.program must be a non-empty string', when: '`harness.process.run`' },
  ],
  builtins: {
    'harness.random.u64': {
      signature: '() -> int',
      doc: 'A random int that is not negative.',
      call: (c) => {
        const [high = 0, ...rest] = c.run.platform.random.bytes(7);
        // 53 bits: every int of the language below 2^53 is exact.
        return rest.reduce((number, byte) => number * 256 + byte, high % 32);
      },
    },
    'harness.random.range': {
      signature: '(min: int | any, max: int | any) -> int | nil',
      doc: 'A random int between two bounds, both included; nil when they are the wrong way round.',
      call: (c, _d, min, max) => {
        const [low, high] = [requireInt(min, 'min'), requireInt(max, 'max')];
        return low > high ? undefined : low + Math.floor(c.run.platform.random.float() * (high - low + 1));
      },
    },
    'harness.random.bytes': {
      signature: '(length: int | any) -> bytes',
      doc: 'Random bytes, at most 1024.',
      call: (c, _d, length) => {
        if (typeof length !== 'number' || length < 1 || length > 1024) {
          throw typeError('HarnessRandom.bytes expects a length from 1 through 1024');
        }
        return c.run.platform.random.bytes(length);
      },
    },
    'harness.process.run': {
      signature: '(command: dict) -> dict',
      doc: 'Runs `{program, args, cwd, env, stdin, timeout_ms}` without a shell: `{stdout, stderr, status, success}`.',
      colour: 'async',
      call: (c, _d, command) => runCommand(c, command),
    },
    'harness.term.read_password': {
      signature: '(prompt: any = "") -> string | nil',
      doc: 'Writes the prompt to standard error and reads a line that the terminal does not show; nil at the end of the input.',
      colour: 'async',
      call: (c, _d, prompt) => {
        terminalOf(c).writeError(textArgument(prompt));
        return terminalOf(c).readSecret(c.signal);
      },
    },
    'harness.term.width': {
      signature: '() -> int',
      doc: 'Columns of the terminal; 80 when there is none.',
      call: (c) => c.run.platform.stdio.columns(),
    },
    'harness.term.height': {
      signature: '() -> int',
      doc: 'Lines of the terminal; 24 when there is none.',
      call: (c) => lines(c),
    },
  },
};

function requireInt(value: Value, name: string): number {
  if (typeof value !== 'number') throw typeError(`HarnessRandom.range expects an integer ${name} argument`);
  return value;
}

function runCommand(context: Context, command: Value): Promise<Value> {
  const program = field(command, 'program');
  if (typeof program !== 'string' || program === '') throw typeError('HarnessProcess.run: command.program must be a non-empty string');
  const args = field(command, 'args');
  const env = field(command, 'env');
  const cwd = field(command, 'cwd');
  const stdin = field(command, 'stdin');
  return runProcess(context, {
    command: program,
    args: Array.isArray(args) ? args.map(display) : [],
    cwd: cwd === undefined ? executionRoot(context) : absolutePath(context, cwd),
    ...(env instanceof Dict ? { env: Object.fromEntries(dictEntries(env).map(([name, value]) => [name, display(value)])) } : {}),
    ...(stdin === undefined ? {} : { stdin: textArgument(stdin) }),
    timeoutMs: durationMs(field(command, 'timeout_ms')),
  });
}

function lines(context: Context): number {
  const size = Number(context.run.platform.env.get('LINES'));
  return Number.isInteger(size) && size > 0 ? size : 24;
}
