import { HarnError } from '../base/harn-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import type { Activation, LoopEnd, LoopState } from '../lifecycle/activation.ts';
import type { LoopLive } from './loop-live.ts';
import { buildParkedResult } from './loop-result.ts';
import { createTranscript, isTranscript } from './transcript/transcript.ts';

/**
 * A worker whose work is a graph of stages (spec/agents.md 4.2, mode `workflow`). Between two stages is its boundary:
 * there it parks, with the record of the run so far in its snapshot, and from there it goes on. Each stage that asks
 * an agent runs a loop of its own.
 */
export interface WorkflowPort {
  /** Runs one more stage of a run; undefined begins one. */
  step(request: WorkflowStep): Promise<WorkflowOutcome>;
  /** The run as the last stage left it on disk, for a worker whose process died; undefined without one. */
  saved(): JsonObject | undefined;
}

export interface WorkflowStep {
  readonly task: string;
  readonly run: JsonObject | undefined;
  readonly artifacts: readonly Json[];
  readonly signal: AbortSignal;
}

export interface WorkflowOutcome {
  /** `paused` while stages are left. */
  readonly status: string;
  readonly run: JsonObject;
  readonly path: string;
  readonly artifacts: readonly Json[];
}

const DEFAULT_MAX_STEPS = 100;

export async function runWorkflow(activation: Activation): Promise<LoopEnd> {
  const { workflow } = activation.live as LoopLive; // made by the adapter that made this runner
  if (workflow === undefined) throw new HarnError('plain', `worker ${activation.workerId}: its graph could not be bound again`);
  const { task, options, artifacts: given } = activation.config;
  const limit = isJsonObject(options) && typeof options.max_steps === 'number' ? options.max_steps : DEFAULT_MAX_STEPS;
  const initial = Array.isArray(given) ? given : [];
  let run = runOf(activation) ?? (activation.resume?.isRecovery === true ? workflow.saved() : undefined);
  let artifacts = [...(run === undefined ? initial : []), ...inputArtifacts(activation)];
  for (let steps = stageCount(run); ; steps++) {
    const asked = activation.atBoundary(steps === 0 ? 'B0' : 'B1');
    if (asked !== undefined) {
      const facts = { iterationsCompleted: steps, turn: steps === 0 ? undefined : steps - 1 };
      const suspension = await activation.park(asked, workflowState(activation, run, 'unfinished'), facts);
      return { kind: 'parked', suspension, result: buildParkedResult(suspension, activation.sessionId) };
    }
    const outcome = await workflow.step({ task: String(task), run, artifacts, signal: activation.signal });
    run = outcome.run;
    artifacts = [];
    activation.progressed(steps + 1);
    if (outcome.status !== 'paused' || steps + 1 >= limit) return ended(activation, outcome, initial);
  }
}

function ended(activation: Activation, outcome: WorkflowOutcome, initial: readonly Json[]): LoopEnd {
  const { status, run, path, artifacts } = outcome;
  const known = new Set(initial.map(artifactId));
  return {
    kind: 'ended',
    result: { status, summary: lastText(run), run, path, artifacts },
    state: workflowState(activation, run, status === 'paused' ? 'unfinished' : 'finished'),
    artifacts: artifacts.filter((artifact) => !known.has(artifactId(artifact))),
    childRun: { id: String(run.id), path },
  };
}

/** A run that is not finished is among the counters, so that the snapshot alone is enough to go on. */
function workflowState({ state, sessionId }: Activation, run: JsonObject | undefined, end: 'finished' | 'unfinished'): LoopState {
  const { workflow_run: _, ...loop } = state.loop;
  const last = stagesOf(run).findLast(({ transcript }) => isTranscript(transcript))?.transcript;
  const transcript = isJsonObject(last) ? last : (state.transcript ?? createTranscript(sessionId));
  return {
    transcript,
    loop: { ...loop, iterations_completed: stageCount(run), ...(run === undefined || end === 'finished' ? {} : { workflow_run: run }) },
  };
}

function runOf({ state }: Activation): JsonObject | undefined {
  return isJsonObject(state.loop.workflow_run) ? state.loop.workflow_run : undefined;
}

/** What a resume brings is context for the stages to come. */
function inputArtifacts({ resume }: Activation): JsonObject[] {
  return resume?.input === undefined ? [] : [{ kind: 'resume_input', title: 'input of the resume', text: resume.input }];
}

function stagesOf(run: JsonObject | undefined): JsonObject[] {
  return Array.isArray(run?.stages) ? run.stages.filter(isJsonObject) : [];
}

function stageCount(run: JsonObject | undefined): number {
  return stagesOf(run).length;
}

function lastText(run: JsonObject): string {
  const text = stagesOf(run).findLast(({ visible_text: said }) => typeof said === 'string')?.visible_text;
  return typeof text === 'string' ? text : '';
}

function artifactId(artifact: Json): Json | undefined {
  return isJsonObject(artifact) ? artifact.id : undefined;
}
