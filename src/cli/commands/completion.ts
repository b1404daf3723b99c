import type { Command } from 'commander';
import type { Platform } from '../../platform/platform.ts';
import { type CommandShape, completionScript, isShell, SHELLS } from '../completion.ts';
import { EXIT } from '../exit-codes.ts';
import { UsageError } from '../parse-options.ts';

/** `harn completion SHELL`: a script that a shell sources. @returns the exit code */
export function completionCommand({ stdio }: Platform, shell: string, program: Command): number {
  if (!isShell(shell)) throw new UsageError(`there is no completion for ${shell}; there is ${SHELLS.join(', ')}`);
  stdio.out(completionScript(shell, program.commands.map(shapeOf)));
  return EXIT.success;
}

function shapeOf(command: Command): CommandShape {
  return {
    name: command.name(),
    description: command.description(),
    options: command.options.map(({ long, short, description }) => ({ flag: long ?? short ?? '', description })),
    subcommands: command.commands.map(shapeOf),
    words: wordsOf(command),
  };
}

/** By the name of the first argument: one table names it for the help, too. */
function wordsOf(command: Command): CommandShape['words'] {
  switch (command.registeredArguments[0]?.name()) {
    case undefined:
      return 'none';
    case 'worker':
    case 'workers':
      return 'workers';
    case 'code':
      return 'codes';
    case 'shell':
      return 'shells';
    default:
      return 'files';
  }
}
