import type { Platform } from '../platform/platform.ts';
import { type OptionSpec, parseOptions, UsageError } from './parse-options.ts';
import { RUN_OPTIONS, resumeArguments } from './run-options.ts';

/**
 * `harn workers …`: one table for the parser and for the help. Each command is loaded when it is called; a listing must
 * start as fast as a script.
 */
export interface WorkerCommand {
  /** What stands behind the name in the usage line. */
  readonly argument: string;
  readonly argumentDescription?: string;
  readonly description: string;
  readonly options: Readonly<Record<string, OptionSpec>>;
  /** Text behind the options of the help page. */
  readonly help: string;
}

const WORKER_ARGUMENT = 'its id, the beginning of it (12 characters or more), or the path of its file';

const JSON_OPTION: OptionSpec = { flag: '--json', description: 'print one JSON object on stdout' };

const { evaluate: _evaluate, resume: _resume, ...RESUME_OPTIONS } = RUN_OPTIONS;

export const WORKER_COMMANDS = {
  list: {
    argument: '',
    description: 'what is parked, since when and why, and what will wake it',
    options: {
      json: JSON_OPTION,
      all: { flag: '--all', description: 'also workers that are done or closed' },
      state: { flag: '--state', value: 'states', description: 'only these (comma-separated; see below)' },
      stuck: { flag: '--stuck', description: 'only those that wait for a process that is gone' },
      sort: { flag: '--sort', value: 'key', description: 'created (default), age, state or wake' },
    },
    help: `
States: running awaiting suspended interrupted completed failed cancelled, or in
groups: done (completed, failed) and closed (cancelled); damaged and foreign for
files that are no readable snapshot.

WAKE says what comes next: a time, a topic or an event; "by hand" when somebody
has to resume it; "nobody" when the process that should wake it is gone.
Exit codes: 0 listed, 1 the folder cannot be read, 2 usage.`,
  },
  show: {
    argument: '<worker>',
    argumentDescription: WORKER_ARGUMENT,
    description: 'what a worker is and what it said so far',
    options: {
      json: JSON_OPTION,
      full: { flag: '--full', description: 'the whole transcript, nothing cut' },
      last: { flag: '--last', value: 'count', description: 'this many of the last messages (default 20)' },
    },
    help: `
Texts longer than 8 lines or 600 characters are cut; --json never cuts.
Exit codes: 0 shown, 1 no such worker or a damaged file, 2 usage.`,
  },
  why: {
    argument: '<worker>',
    argumentDescription: WORKER_ARGUMENT,
    description: 'what will wake a worker, and would a resume be accepted',
    options: {
      json: JSON_OPTION,
      suspension: { flag: '--suspension', value: 'id', description: 'judge the resume of this suspension, not the current one' },
    },
    help: `
Reads files only: nothing is claimed, run or changed. Changes of the script
since the park are shown line by line.
Exit codes: 0 a resume would be accepted, 1 it would be refused, 2 usage.`,
  },
  resume: {
    argument: '<worker>',
    argumentDescription: `${WORKER_ARGUMENT}; text after -- is its input`,
    description: 'go on with a parked worker, as harn run --resume does',
    options: RESUME_OPTIONS,
    help: `
Exit codes: 0 done or parked again, 1 refused, denied or failed, 2 usage, 130
SIGINT, 143 SIGTERM.`,
  },
  close: {
    argument: '<worker>',
    argumentDescription: WORKER_ARGUMENT,
    description: 'end a worker for good; nothing can resume it after that',
    options: { json: JSON_OPTION, reason: { flag: '--reason', value: 'text', description: 'why, for the record in its file' } },
    help: `
A worker that another process runs or resumes right now is left alone
(HARN-SUS-006). The file stays; harn workers show still reads it.
Exit codes: 0 closed, or over already, 1 refused, 2 usage.`,
  },
  wait: {
    argument: '<worker>',
    argumentDescription: WORKER_ARGUMENT,
    description: 'come back when a worker is over, or in a given state',
    options: {
      json: JSON_OPTION,
      until: { flag: '--until', value: 'states', description: 'come back in one of these (default done,closed)' },
      timeout: { flag: '--timeout', value: 'seconds', description: 'give up after this long (default never)' },
    },
    help: `
Prints the state that it ended with. States: running awaiting suspended
interrupted completed failed cancelled, or in groups: done (completed, failed)
and closed (cancelled).
Exit codes: 0 reached, 1 the time is up, the state cannot be reached any more,
or the worker failed, 2 usage.`,
  },
  verify: {
    argument: '[workers...]',
    argumentDescription: 'ids, beginnings of ids, or paths; all workers without any',
    description: 'check files of workers: checksums, journals, transcripts, scripts',
    options: { json: JSON_OPTION, quiet: { flag: '--quiet', description: 'only those with an error or a warning' } },
    help: `
error    a resume is refused, or the file cannot be trusted
warning  a resume goes on, but something is repaired or has changed
note     nothing to do
Exit codes: 0 no error, 1 errors, 2 usage.`,
  },
  prune: {
    argument: '',
    description: 'remove the files of workers that are over for long',
    options: {
      json: JSON_OPTION,
      olderThan: { flag: '--older-than', value: 'age', description: 'over for at least this long: 12h, 30d, 8w (default 30d)' },
      yes: { flag: '--yes', description: 'remove them; without it they are only named' },
    },
    help: `
Only workers that are done or closed. Whatever may still be resumed stays, and
so do damaged files and files that are not of harn.
Exit codes: 0 done, 2 usage.`,
  },
} as const satisfies Record<string, WorkerCommand>;

export type WorkerCommandName = keyof typeof WORKER_COMMANDS;

export function isWorkerCommand(name: string | undefined): name is WorkerCommandName {
  return name !== undefined && Object.hasOwn(WORKER_COMMANDS, name);
}

/** @param argv what stands behind the name of the command @returns the exit code */
export async function runWorkerCommand(platform: Platform, name: WorkerCommandName, argv: readonly string[]): Promise<number> {
  const command: WorkerCommand = WORKER_COMMANDS[name];
  const parsed = parseOptions(command.options, argv, `harn workers ${name}`);
  switch (name) {
    case 'list': {
      if (parsed.words.length > 0) throw new UsageError(`list takes no worker; harn workers show ${parsed.words[0]} shows one`);
      const { listCommand } = await import('./commands/workers-list.ts');
      return listCommand(platform, parsed.options);
    }
    case 'show': {
      const { showCommand } = await import('./commands/workers-show.ts');
      return showCommand(platform, oneWorker(name, parsed.words), parsed.options);
    }
    case 'why': {
      const { whyCommand } = await import('./commands/workers-why.ts');
      return whyCommand(platform, oneWorker(name, parsed.words), parsed.options);
    }
    case 'resume': {
      const worker = oneWorker(name, parsed.words);
      const { resumeCommand } = await import('./commands/resume.ts');
      return resumeCommand(platform, resumeArguments(worker, parsed));
    }
    case 'close': {
      const { closeCommand } = await import('./commands/workers-close.ts');
      return closeCommand(platform, oneWorker(name, parsed.words), parsed.options);
    }
    case 'prune': {
      if (parsed.words.length > 0) throw new UsageError('prune takes no worker; harn workers close ends one');
      const { pruneCommand } = await import('./commands/workers-prune.ts');
      return pruneCommand(platform, parsed.options);
    }
    case 'verify': {
      const { verifyCommand } = await import('./commands/workers-verify.ts');
      return verifyCommand(platform, parsed.words, parsed.options);
    }
    case 'wait': {
      const { waitCommand } = await import('./commands/workers-wait.ts');
      return waitCommand(platform, oneWorker(name, parsed.words), parsed.options);
    }
  }
}

function oneWorker(command: string, words: readonly string[]): string {
  const [worker, ...others] = words;
  if (worker !== undefined && others.length === 0) return worker;
  throw new UsageError(`${command} takes ${worker === undefined ? 'a worker' : 'one worker'}: harn workers ${command} <worker>`);
}
