import { createNodePlatform } from '../platform/node-platform.ts';
import type { Platform } from '../platform/platform.ts';
import { EXIT } from './exit-codes.ts';
import { UsageError } from './parse-options.ts';
import { parseRunArguments } from './run-options.ts';
import { isWorkerCommand, runWorkerCommand } from './worker-commands.ts';

/**
 * The command line. `harn run` is parsed by hand, because it is what terminals and CI jobs start all the time and
 * commander would cost it a third of its start-up; commander serves help and every other command.
 *
 * @returns the exit code
 */
export async function main(argv: readonly string[], platform: Platform = createNodePlatform()): Promise<number> {
  let isPipeBroken = false;
  platform.stdio.onBrokenPipe(() => {
    isPipeBroken = true;
  });
  const code = await dispatch(argv, platform);
  // The reader went away; the run itself went on to its end.
  return isPipeBroken && code === EXIT.success ? EXIT.brokenPipe : code;
}

async function dispatch(argv: readonly string[], platform: Platform): Promise<number> {
  try {
    const [command, ...rest] = argv;
    if (command === 'run' && !wantsHelp(rest)) {
      const args = parseRunArguments(rest);
      if (args.options.resume !== undefined) {
        const { resumeCommand } = await import('./commands/resume.ts');
        return await resumeCommand(platform, args);
      }
      const { runCommand } = await import('./commands/run.ts');
      return await runCommand(platform, args);
    }
    if (command === 'workers' && isWorkerCommand(rest[0]) && !wantsHelp(rest)) {
      return await runWorkerCommand(platform, rest[0], rest.slice(1));
    }
    const { runCommander } = await import('./commander.ts');
    return await runCommander(platform, argv);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    platform.stdio.err(`harn: ${error.message}\n`);
    return EXIT.usage;
  } finally {
    await platform.stdio.drain();
  }
}

function wantsHelp(words: readonly string[]): boolean {
  const end = words.indexOf('--');
  return words.slice(0, end === -1 ? words.length : end).some((word) => word === '--help' || word === '-h');
}
