import { errorText } from '../../base/harn-error.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { renderRuntimeError } from '../../diagnostics/render.ts';
import type { Platform } from '../../platform/platform.ts';
import { approvalsOf } from '../../runtime/approvals.ts';
import { setBuiltinPolicy } from '../../runtime/builtin-policy.ts';
import { endTasks } from '../../runtime/concurrency/tasks.ts';
import { runtimeError } from '../../runtime/errors.ts';
import { setProgramSource } from '../../runtime/program/program-source.ts';
import { INLINE } from '../../runtime/program/project-root.ts';
import { describeFailure } from '../../runtime/report.ts';
import { RunHost } from '../../runtime/run.ts';
import { agentEventListener } from '../agent-events.ts';
import { builtinPolicy } from '../builtin-flags.ts';
import { cachedPrograms } from '../cached-programs.ts';
import { EXIT } from '../exit-codes.ts';
import { renderFailure } from '../failure-text.ts';
import { modelFlags } from '../model-flags.ts';
import { type RunOutput, withRunOutput } from '../output.ts';
import { paletteFor } from '../palette.ts';
import { cutOffHints, parkHint } from '../park-hint.ts';
import { UsageError } from '../parse-options.ts';
import type { RunArguments } from '../run-options.ts';
import { SignalWatch } from '../signals.ts';
import { stateRootFor } from '../state-root.ts';

/** `harn run --resume PATH [-- INPUT]`: goes on with a parked loop in this process. @returns the exit code */
export function resumeCommand(platform: Platform, args: RunArguments): Promise<number> {
  return withRunOutput(platform, args, (output) => resume(platform, args, output));
}

async function resume(platform: Platform, args: RunArguments, output: RunOutput): Promise<number> {
  const { options, rest } = args;
  const target = String(options.resume);
  const host = new RunHost({
    platform,
    scriptPath: INLINE,
    argv: [],
    output,
    stateRoot: stateRootFor(platform, INLINE),
    onAgentEvent: agentEventListener(platform, output, { quiet: options.quiet === true }),
  });
  const programs = cachedPrograms(platform);
  if (programs !== undefined) setProgramSource(host, programs);
  const models = modelFlags(platform, args, output);
  setBuiltinPolicy(host, builtinPolicy(args));
  approvalsOf(host).areGranted = options.yes === true;
  const signals = new SignalWatch(platform, host, output, { quiet: options.quiet === true });
  // Without this a loop that waits for nobody would end the process quietly, and with success.
  const stopListening = platform.processes.onIdle?.(() => host.end(runtimeError(NOBODY_LEFT)));
  try {
    await models.apply(host);
    const { resumeAsOperator } = await import('../../runtime/agents/agent-resume.ts');
    const resumed = resumeAsOperator(host, {
      target,
      input: rest === undefined || rest.length === 0 ? undefined : rest.join(' '),
      continueTranscript: options.noContinueTranscript !== true,
      suspensionId: typeof options.suspension === 'string' ? options.suspension : undefined,
      startedAt: platform.processes.startedAt,
    });
    const summary = await Promise.race([resumed, signals.ended]);
    if (typeof summary === 'number') return summary;
    if (options.quiet !== true) {
      hintAtPark(output, summary);
      for (const hint of cutOffHints(host)) output.err(hint);
    }
    return await showSummary(host, output, summary);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { message, code, data } = describeFailure(error, undefined);
    output.err(renderRuntimeError({ message }, await paletteFor(platform, 'stderr')));
    output.err(`  snapshot: ${String(data.path ?? target)}\n`);
    output.json?.failure({ code: code ?? 'runtime', message: errorText(error), details: data }, EXIT.failure);
    return EXIT.failure;
  } finally {
    stopListening?.();
    signals.close();
    models.finish();
    await endTasks(host);
    programs?.keep();
  }
}

const NOBODY_LEFT = 'the agent loop waits, and nothing is left that could wake it';

/** A root loop has told of its park by an event; any other loop is the one that the operator asked for here. */
function hintAtPark(output: RunOutput, summary: JsonObject): void {
  if (summary.status !== 'suspended' || summary.mode === 'top_level_agent' || summary.pre_resume_denied !== undefined) return;
  if (output.json !== undefined) return;
  const suspension = isJsonObject(summary.suspension) ? summary.suspension : {};
  output.err(
    parkHint({ workerId: String(summary.id), reason: String(suspension.reason ?? ''), snapshotPath: String(summary.snapshot_path) }),
  );
}

/** The error of the loop with its place in the script; of one that failed elsewhere, what the worker keeps of it. */
async function failureText(host: RunHost, summary: JsonObject): Promise<string> {
  const { describeLoopFailure } = await import('../../runtime/agents/loop-failures.ts');
  const failure = describeLoopFailure(host, String(summary.id));
  if (failure === undefined) return `error: ${String(summary.error ?? 'the agent loop failed')}\n`;
  return renderFailure(host.platform, failure, await paletteFor(host.platform, 'stderr'));
}

/** Ends with what the loop came to. A failed worker and a refused resume are failures. */
async function showSummary(host: RunHost, output: RunOutput, summary: JsonObject): Promise<number> {
  const { finalText } = await import('../../runtime/agents/agent-resume.ts');
  const isRefused = summary.pre_resume_denied !== undefined;
  const exitCode = summary.status === 'failed' || isRefused ? EXIT.failure : EXIT.success;
  if (output.json === undefined) {
    if (isRefused) output.err(`harn: the resume was refused: ${String(summary.pre_resume_denied)}\n`);
    else if (summary.status === 'failed') output.err(await failureText(host, summary));
    const text = finalText(summary);
    if ((summary.status === 'completed' || summary.status === 'awaiting') && text !== undefined) output.out(`${text}\n`);
  }
  output.json?.result(summary, exitCode);
  return exitCode;
}
