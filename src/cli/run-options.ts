import { type OptionSpec, parseOptions, UsageError } from './parse-options.ts';

/** Options of `harn run`: one table for the fast parser, for commander and for the help text. */
export const RUN_OPTIONS = {
  evaluate: { flag: '-e', value: 'code', description: 'run this code instead of a file' },
  resume: { flag: '--resume', value: 'path-or-id', description: 'go on with a parked agent loop; text after -- is its input' },
  json: { flag: '--json', description: 'one JSON event a line on stdout; the last one is the result' },
  quiet: { flag: '--quiet', description: 'no hints; with --json no stdout and stderr events' },
  noContinueTranscript: { flag: '--no-continue-transcript', description: 'with --resume: start from a summary, not the whole history' },
  suspension: { flag: '--suspension', value: 'id', description: 'with --resume: only if the loop is still parked under this id' },
  llmMock: { flag: '--llm-mock', value: 'file', description: 'answer model calls from this JSONL file' },
  llmMockRecord: { flag: '--llm-mock-record', value: 'file', description: 'write the real answers to this JSONL file' },
  trace: { flag: '--trace', description: 'print a summary of model usage to stderr' },
  allow: { flag: '--allow', value: 'names', description: 'only these builtins may be used (comma-separated)' },
  deny: { flag: '--deny', value: 'names', description: 'these builtins may not be used (comma-separated)' },
  yes: { flag: '--yes', description: 'approve whatever an approval_policy or a hook asks approval for' },
  noSandbox: { flag: '--no-sandbox', description: 'no sandbox around commands; there is none, so this changes nothing' },
} as const satisfies Record<string, OptionSpec>;

export type RunOptionName = keyof typeof RUN_OPTIONS;

export interface RunArguments {
  readonly file: string | undefined;
  /** Values of options that take one; `true` for switches. */
  readonly options: Readonly<Partial<Record<RunOptionName, string | true>>>;
  /** What stands behind `--`; undefined without it. */
  readonly rest: readonly string[] | undefined;
}

/** Reads the arguments behind `harn run`. */
export function parseRunArguments(argv: readonly string[]): RunArguments {
  const { options, words, rest } = parseOptions(RUN_OPTIONS, argv, 'harn run');
  return checked({ file: words[0], options, rest }, words);
}

/** Arguments of a resume that came from another command line. */
export function resumeArguments(worker: string, { options, rest }: Pick<RunArguments, 'options' | 'rest'>): RunArguments {
  return checked({ file: undefined, options: { ...options, resume: worker }, rest }, []);
}

/** Pairs of options that exclude each other. */
const EXCLUSIVE: readonly (readonly [RunOptionName, RunOptionName])[] = [
  ['resume', 'evaluate'],
  ['allow', 'deny'],
  ['llmMock', 'llmMockRecord'],
];

function checked(args: RunArguments, files: readonly string[]): RunArguments {
  const { options } = args;
  const flag = (name: RunOptionName): string => RUN_OPTIONS[name].flag;
  for (const [one, other] of EXCLUSIVE) {
    if (options[one] !== undefined && options[other] !== undefined)
      throw new UsageError(`${flag(one)} and ${flag(other)} exclude each other; give one of them`);
  }
  if (files.length > 1)
    throw new UsageError(
      `one script at a time; put arguments of the script behind --: harn run ${files[0]} -- ${files.slice(1).join(' ')}`,
    );
  if (options.resume !== undefined && files.length > 0) {
    throw new UsageError(
      `--resume and a script exclude each other; the input of a resume stands behind --: harn run --resume ${options.resume} -- "${files[0]}"`,
    );
  }
  if (options.evaluate !== undefined && files.length > 0) throw new UsageError('-e and a script exclude each other; give one of them');
  for (const name of ['noContinueTranscript', 'suspension'] as const) {
    if (options[name] !== undefined && options.resume === undefined) throw new UsageError(`${flag(name)} needs --resume`);
  }
  if (files[0] === '') throw new UsageError('the name of the script is empty; was a variable of the shell not set?');
  if (options.resume === '') throw new UsageError(`--resume needs a value: --resume <${RUN_OPTIONS.resume.value}>`);
  if (options.resume === undefined && options.evaluate === undefined && files.length === 0) {
    throw new UsageError('nothing to run; give a script: harn run script.harn');
  }
  return args;
}
