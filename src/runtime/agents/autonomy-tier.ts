import type { Files, Platform } from '../../platform/platform.ts';
import type { Context, Run } from '../context.ts';
import { dictOf } from '../dict.ts';
import { plainError } from '../errors.ts';
import { deriveContext } from '../task-context.ts';
import type { Value } from '../value.ts';
import { field } from './agent-values.ts';
import type { LoopLimits } from './loop-limits.ts';

/**
 * `autonomy_tier` of a trigger (spec/agents.md 9.1): how far its handler may go on its own. Under every tier but
 * `act_auto` it may look and think, and neither write files nor run programs nor reach the network; models and the
 * lifecycle of agents stay open to it. It holds for whatever the handler starts, over parks and restores as well.
 *
 * The limit is a run whose platform refuses: all that a script does to the world goes through there, so no list of
 * builtins has to be kept. What harn itself writes (snapshots, the event log) has the platform of the whole run.
 */
export type LimitedTier = 'shadow' | 'suggest' | 'act_with_approval';

/** Side effects that tools of loops may declare. */
const CEILINGS: Readonly<Record<LimitedTier, string>> = { shadow: 'none', suggest: 'read_only', act_with_approval: 'read_only' };

/** Where the saved limits of a loop name the tier that it was started under. */
const KEY = 'autonomy_tier';

/** @returns undefined for `act_auto` and for words that are no tier */
export function limitedTier(word: unknown): LimitedTier | undefined {
  return word === 'shadow' || word === 'suggest' || word === 'act_with_approval' ? word : undefined;
}

/** The same task under a tier; a stricter one around it stays. @param onRefused told of each thing that was not done */
export function underTier(context: Context, tier: LimitedTier | undefined, onRefused?: (operation: string) => void): Context {
  const around = context.run.autonomy?.tier;
  if (tier === undefined || around === 'shadow' || around === tier) return context;
  return deriveContext(context, { run: limitedRun(context.run, tier, onRefused) });
}

/** Limits of the loops that are started here and have no loop around them. */
export function limitsOfTier({ autonomy }: Run): LoopLimits | undefined {
  const tier = limitedTier(autonomy?.tier);
  return tier === undefined ? undefined : { policy: { side_effect_level: CEILINGS[tier] }, inherited: [dictOf([[KEY, tier]])] };
}

/** The tier that a loop was started under. @param inherited its inherited limits */
export function tierOfLimits(inherited: Value): LimitedTier | undefined {
  const tiers = Array.isArray(inherited) ? inherited.map((entry: Value) => limitedTier(field(entry, KEY))) : [];
  return tiers.find((tier) => tier === 'shadow') ?? tiers.find((tier) => tier !== undefined);
}

/** @throws plain error when the tier of this code keeps it from acting */
export function assertMayAct({ autonomy }: Run, operation: string): void {
  autonomy?.refuse(operation);
}

function limitedRun(run: Run, tier: LimitedTier, onRefused: (operation: string) => void = () => undefined): Run {
  const refuse = (operation: string): never => {
    onRefused(operation);
    throw plainError(`Permission denied: the autonomy tier ${tier} does not let this code ${operation}`);
  };
  return {
    autonomy: { tier, refuse },
    platform: limitedPlatform(run.platform, refuse),
    argv: run.argv,
    scriptPath: run.scriptPath,
    executionRoot: run.executionRoot,
    projectRoot: run.projectRoot,
    stateRoot: run.stateRoot,
    output: run.output,
    onAgentEvent: run.onAgentEvent,
    service: (key, create) => run.service(key, create),
    get signal() {
      return run.signal;
    },
    end: (reason) => run.end(reason),
  };
}

function limitedPlatform(platform: Platform, refuse: (operation: string) => never): Platform {
  const { processes } = platform;
  return {
    ...platform,
    files: readableFiles(platform.files, () => refuse('write files')),
    processes: {
      run: async () => refuse('run programs'),
      pid: processes.pid,
      startedAt: processes.startedAt,
      bootId: () => processes.bootId(),
      isAlive: (pid) => processes.isAlive(pid),
      onSignal: (callback) => processes.onSignal(callback),
      exit: (code) => processes.exit(code),
    },
    http: { request: async () => refuse('reach the network') },
  };
}

function readableFiles(files: Files, never: () => never): Files {
  return {
    cwd: () => files.cwd(),
    readText: (path) => files.readText(path),
    readBytes: (path) => files.readBytes(path),
    readRange: (path, offset, length) => files.readRange(path, offset, length),
    stat: (path) => files.stat(path),
    exists: (path) => files.exists(path),
    list: (path) => files.list(path),
    realPath: (path) => files.realPath(path),
    tempDirectory: () => files.tempDirectory(),
    write: never,
    append: never,
    open: never,
    rename: never,
    link: never,
    unlink: never,
    remove: never,
    mkdir: never,
    syncDirectory: never,
    copy: never,
  };
}
