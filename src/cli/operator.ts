import type { Json, JsonObject } from '../base/json.ts';
import type { Lifecycle } from '../lifecycle/lifecycle.ts';
import type { Platform } from '../platform/platform.ts';
import { lifecycleOf } from '../runtime/agents/agent-lifecycle.ts';
import { endTasks } from '../runtime/concurrency/tasks.ts';
import { INLINE } from '../runtime/program/project-root.ts';
import { RunHost } from '../runtime/run.ts';
import { reportFailure } from './command-failure.ts';
import { writeEnvelope } from './envelope.ts';
import { EXIT } from './exit-codes.ts';
import { UsageError } from './parse-options.ts';
import { stateRootFor } from './state-root.ts';

/** What a command that looks after workers needs: a run that never runs a script, and its lifecycle. */
export interface Operator {
  readonly platform: Platform;
  readonly host: RunHost;
  readonly lifecycle: Lifecycle;
}

/** How such a command ends: for people and, with `--json`, for programs. */
export interface OperatorOutcome {
  readonly exitCode: number;
  /** On stdout, without `--json`. */
  readonly text: string;
  /** On stderr, without `--json`. */
  readonly notes?: string;
  readonly data: Json;
  /** With an exit code other than 0. */
  readonly error?: { readonly code: string; readonly message: string; readonly details: JsonObject } | undefined;
}

/** Does what the command is about and prints how it ended, an error included. @returns the exit code */
export async function runAsOperator(
  platform: Platform,
  { json }: { readonly json?: string | true | undefined },
  action: (operator: Operator) => OperatorOutcome | Promise<OperatorOutcome>,
): Promise<number> {
  const output = { out: (text: string) => platform.stdio.err(text), err: (text: string) => platform.stdio.err(text) };
  const host = new RunHost({
    platform,
    scriptPath: INLINE,
    argv: [],
    output,
    stateRoot: stateRootFor(platform, INLINE),
    onAgentEvent: undefined,
  });
  try {
    const { exitCode, text, notes = '', data, error } = await action({ platform, host, lifecycle: lifecycleOf(host) });
    if (json === true) writeEnvelope(platform, { ok: exitCode === EXIT.success, data, error: error ?? null });
    else {
      platform.stdio.out(text);
      platform.stdio.err(notes);
    }
    return exitCode;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    return await reportFailure(platform, error, { json: json === true });
  } finally {
    await endTasks(host);
  }
}
