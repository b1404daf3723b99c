import { createNodePlatform } from '../platform/node-platform.ts';
import type { Platform } from '../platform/platform.ts';
import { EXIT, exitCodeOfLostOutput } from './exit-codes.ts';
import { parseRunArguments } from './run-options.ts';
import { isWorkerCommand, runWorkerCommand } from './worker-commands.ts';

/**
 * The command line. `harn run` is parsed by hand, because it is what terminals and CI jobs start all the time and
 * commander would cost it a third of its start-up; commander serves help and every other command.
 *
 * @returns the exit code
 */
export async function main(argv: readonly string[], platform: Platform = createNodePlatform()): Promise<number> {
  let lostOutput: string | undefined;
  platform.stdio.onOutputLost((code) => {
    lostOutput = code;
    // A reader that went away knows it; of a full disk somebody has to be told.
    if (exitCodeOfLostOutput(code) !== EXIT.brokenPipe) platform.stdio.err(`harn: standard output takes nothing any more (${code})\n`);
  });
  const code = await dispatch(argv, platform);
  // The run itself went on to its end.
  return lostOutput !== undefined && code === EXIT.success ? exitCodeOfLostOutput(lostOutput) : code;
}

async function dispatch(argv: readonly string[], platform: Platform): Promise<number> {
  try {
    return await runCommandOf(argv, platform);
  } catch (error) {
    const { reportTrouble, reportingOf } = await import('./command-failure.ts');
    return await reportTrouble(platform, error, reportingOf(platform, argv));
  } finally {
    await platform.stdio.drain();
  }
}

async function runCommandOf(argv: readonly string[], platform: Platform): Promise<number> {
  const [command, ...rest] = argv;
  if (command === 'run' && !wantsHelp(rest)) {
    const args = parseRunArguments(rest);
    if (args.options.resume !== undefined) {
      const { resumeCommand } = await import('./commands/resume.ts');
      return resumeCommand(platform, args);
    }
    const { runCommand } = await import('./commands/run.ts');
    return runCommand(platform, args);
  }
  if (command === 'workers' && isWorkerCommand(rest[0]) && !wantsHelp(rest)) {
    return runWorkerCommand(platform, rest[0], rest.slice(1));
  }
  const { runCommander } = await import('./commander.ts');
  return runCommander(platform, argv);
}

function wantsHelp(words: readonly string[]): boolean {
  const end = words.indexOf('--');
  return words.slice(0, end === -1 ? words.length : end).some((word) => word === '--help' || word === '-h');
}
