import type { Platform } from '../platform/platform.ts';
import { type OptionSpec, parseOptions, UsageError } from './parse-options.ts';

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

const JSON_OPTION: OptionSpec = { flag: '--json', description: 'print one JSON object on stdout' };

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
Exit codes: 0 listed, 2 usage.`,
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
  }
}
