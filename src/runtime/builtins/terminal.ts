import { field } from '../agents/agent-values.ts';
import { intArgument, textArgument } from '../arguments.ts';
import type { Builtin, BuiltinGroup } from '../builtin.ts';
import type { Context } from '../context.ts';
import { isTruthy } from '../equality.ts';
import { thrownText } from '../errors.ts';
import { andThen } from '../maybe-async.ts';
import { writeOutput } from '../output.ts';
import { terminalOf } from '../terminal.ts';
import { Dict, type Value } from '../value.ts';

const COLOURS: Readonly<Record<string, number>> = {
  black: 30,
  red: 31,
  green: 32,
  yellow: 33,
  blue: 34,
  magenta: 35,
  cyan: 36,
  white: 37,
  gray: 90,
  grey: 90,
  bright_red: 91,
  bright_green: 92,
  bright_yellow: 93,
  bright_blue: 94,
  bright_magenta: 95,
  bright_cyan: 96,
  bright_white: 97,
};

const BOLD = 1;
const DIM = 2;

/** The standard streams and how they look (spec/language.md 12.15). */
export const TERMINAL_GROUP: BuiltinGroup = {
  name: 'terminal',
  title: 'Terminal',
  errors: [{ text: "set_color_mode: unknown mode 'M'; use auto, always or never", when: '`set_color_mode`' }],
  builtins: {
    eprint: {
      signature: '(value: any) -> nil',
      doc: 'Writes the value to standard error without a newline.',
      call: (c, _d, value) => terminalOf(c).writeError(textArgument(value, 'nil')),
    },
    eprintln: {
      signature: '(value: any = "") -> nil',
      doc: 'Writes the value and a newline to standard error.',
      call: (c, _d, ...args) => terminalOf(c).writeError(`${args.length === 0 ? '' : textArgument(args[0], 'nil')}\n`),
    },
    read_line: {
      signature: '() -> string | nil',
      doc: 'The next line of standard input; nil at its end.',
      colour: 'async',
      call: (c) => terminalOf(c).readLine(),
    },
    read_stdin: {
      signature: '() -> string',
      doc: 'All that is left of standard input.',
      colour: 'async',
      call: (c) => terminalOf(c).readAll(),
    },
    prompt_user: {
      signature: '(text: any = "") -> string | nil',
      doc: 'Writes a question without a newline and reads the answer; nil at the end of the input.',
      colour: 'async',
      call: (c, _d, text) => {
        writeOutput(c, textArgument(text));
        return andThen(terminalOf(c).readLine(), (line) => line?.trim());
      },
    },
    is_stdin_tty: asksTty('stdin', 'input'),
    is_stdout_tty: asksTty('stdout', 'output'),
    is_stderr_tty: asksTty('stderr', 'error'),
    color: {
      signature: '(text: any, name: any) -> string',
      doc: 'The text in a colour, plain when colours are off or the name is unknown.',
      call: (c, _d, text, name) => styled(c, text, COLOURS[textArgument(name).toLowerCase()]),
    },
    bold: { signature: '(text: any) -> string', doc: 'The text in bold type.', call: (c, _d, text) => styled(c, text, BOLD) },
    dim: { signature: '(text: any) -> string', doc: 'The text in faint type.', call: (c, _d, text) => styled(c, text, DIM) },
    set_color_mode: {
      signature: '(mode: any) -> nil',
      doc: '`always`, `never`, or `auto`: colours on a terminal, unless NO_COLOR is set.',
      call: (c, _d, mode) => {
        const name = textArgument(mode);
        if (name !== 'auto' && name !== 'always' && name !== 'never') {
          throw thrownText(`set_color_mode: unknown mode '${name}'; use auto, always or never`);
        }
        terminalOf(c).colourMode = name;
      },
    },
    mock_stdin: {
      signature: '(text: any) -> nil',
      doc: 'Lets everything that reads standard input read this text.',
      call: (c, _d, text) => terminalOf(c).mockInput(textArgument(text)),
    },
    unmock_stdin: {
      signature: '() -> nil',
      doc: 'Lets standard input be read again.',
      call: (c) => terminalOf(c).mockInput(undefined),
    },
    mock_tty: {
      signature: '(stream: any, is_tty: any) -> nil',
      doc: 'Says of `stdin`, `stdout` or `stderr` that it is a terminal, or that it is none.',
      call: (c, _d, stream, isTty) => void terminalOf(c).mockedTty.set(textArgument(stream), isTruthy(isTty)),
    },
    unmock_tty: { signature: '() -> nil', doc: 'Forgets what mock_tty said.', call: (c) => terminalOf(c).mockedTty.clear() },
    capture_stderr_start: {
      signature: '() -> nil',
      doc: 'Keeps what is written to standard error from now on.',
      call: (c) => terminalOf(c).captureErrors(),
    },
    capture_stderr_take: {
      signature: '() -> string',
      doc: 'What was kept since capture_stderr_start; later output is written again.',
      call: (c) => terminalOf(c).takeErrors(),
    },
    progress: {
      signature: '(phase: any, message: any, current: any = nil, total: any = nil) -> nil',
      doc: 'A line about how far a phase has come: a percentage, a count of a total, or a dict with `mode` `bar` or `spinner`.',
      call: (c, _d, phase, message, current, total) =>
        writeOutput(c, `[${textArgument(phase)}] ${progressText(textArgument(message), current, total)}\n`),
    },
  },
};

function asksTty(stream: 'stdin' | 'stdout' | 'stderr', what: string): Builtin {
  return {
    signature: '() -> bool',
    doc: `True when standard ${what} is a terminal.`,
    call: (c) => terminalOf(c).isTty(stream),
  };
}

function styled(context: Context, text: Value, code: number | undefined): string {
  const shown = textArgument(text);
  return code === undefined || !terminalOf(context).showsColour ? shown : `\u001b[${code}m${shown}\u001b[0m`;
}

const SPINNER = '|/-\\';
const BAR_WIDTH = 20;

function progressText(message: string, current: Value, total: Value): string {
  if (current instanceof Dict) return progressFromOptions(message, current);
  if (current === undefined) return message;
  return total === undefined ? `${message} (${textArgument(current)}%)` : `${message} (${textArgument(current)}/${textArgument(total)})`;
}

function progressFromOptions(message: string, options: Dict): string {
  const mode = field(options, 'mode');
  if (mode === 'spinner') return `${SPINNER[intArgument(field(options, 'step'), 0) % SPINNER.length] ?? '|'} ${message}`;
  if (mode !== 'bar') return message;
  const [current, total] = [intArgument(field(options, 'current'), 0), intArgument(field(options, 'total'), 0)];
  const width = Math.max(1, intArgument(field(options, 'width'), BAR_WIDTH));
  const filled = total > 0 ? Math.min(width, Math.max(0, Math.round((current / total) * width))) : 0;
  return `[${'#'.repeat(filled)}${'-'.repeat(width - filled)}] ${message} (${current}/${total})`;
}
