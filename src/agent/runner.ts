import { HarnError } from '../base/harn-error.ts';
import { renderInstant } from '../base/instant.ts';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import type { Activation, LoopEnd, LoopRunner, LoopState } from '../lifecycle/activation.ts';
import { applyResume } from './apply-resume.ts';
import { foldJournal } from './fold-journal.ts';
import { runLoop } from './loop.ts';
import type { LoopWorld } from './loop-context.ts';
import { decodeLoopOptions } from './loop-options.ts';
import { NEW_COUNTERS, writeLoopState } from './loop-state.ts';
import { subAgentResult } from './sub-agent-result.ts';
import { carryTranscript } from './transcript/carry-transcript.ts';
import { userMessage } from './transcript/message.ts';
import { appendMessage, createTranscript, isTranscript } from './transcript/transcript.ts';
import { repairState } from './transcript/transcript-doctor.ts';
import { runWorkflow } from './workflow-run.ts';

/** What lifecycle needs to run, restore and repair loops (lifecycle/activation.ts). */
export function createLoopRunner(world: LoopWorld): LoopRunner {
  return {
    run: async (activation) =>
      activation.mode === 'workflow' ? runWorkflow(activation) : outcomeFor(activation, await runLoop(activation, world), world),
    initialState,
    nextCycle: (config, before, carry) => nextCycle(config, before, carry, world),
    foldJournal,
    applyResume,
    checkConfig: ({ options }) => {
      // A workflow keeps its options with its nodes.
      if (isJsonObject(options)) decodeLoopOptions(options);
      else if (options !== undefined && options !== null) throw new HarnError('plain', 'agent_loop: options must be a dict');
    },
    repair: repairState,
  };
}

/** What the caller of a worker wants of its loop: a sub-agent's envelope, the artifact of a stage. */
function outcomeFor(activation: Activation, end: LoopEnd, world: LoopWorld): LoopEnd {
  if (end.kind === 'parked' || !isTranscript(end.state.transcript)) return end;
  const { config, mode, sessionId } = activation;
  const { returns_schema: schema } = config;
  if (mode === 'sub_agent') {
    const asked = { transcript: end.state.transcript, sessionId, schema: isJsonObject(schema) ? schema : undefined };
    return { ...end, result: subAgentResult(end.result, asked) };
  }
  return mode === 'stage' && end.result.status === 'done' ? { ...end, artifacts: [stageArtifact(config, end.result, world)] } : end;
}

/** The result of a stage as an artifact of the kind that its node promises. */
function stageArtifact({ name, node }: JsonObject, result: JsonObject, { random, clock }: LoopWorld): JsonObject {
  const contract = isJsonObject(node) && isJsonObject(node.output_contract) ? node.output_contract : {};
  const [kind] = Array.isArray(contract.output_kinds) ? contract.output_kinds : [];
  return {
    _type: 'artifact',
    id: random.id('artifact'),
    kind: typeof kind === 'string' ? kind : 'artifact',
    title: name ?? null,
    text: result.visible_text ?? null,
    data: result.data ?? null,
    created_at: renderInstant(clock.now()),
    lineage: [],
    metadata: {},
  };
}

/** A workflow that stopped before its last stage goes on with it, unless `resume_workflow` says no. */
function nextCycle(config: JsonObject, before: LoopState, carry: JsonObject, { random }: LoopWorld): LoopState {
  const sessionId = typeof config.session_id === 'string' ? config.session_id : '';
  const next = initialState(config, carryTranscript(before.transcript, carry.transcript_mode, random.uuidV7(), sessionId));
  const { workflow_run: run } = before.loop;
  return run === undefined || carry.resume_workflow === false ? next : { ...next, loop: { ...next.loop, workflow_run: run } };
}

/**
 * The state of a loop that never ran: the history it starts from, and its prompt. The prompt is in it from the
 * start, so that it comes first also when the worker is parked before its first turn (5.8).
 *
 * @param seed transcript of the session or of `options.transcript`; its events stay, its state is active again
 */
export function initialState(config: JsonObject, seed?: Json): LoopState {
  const sessionId = typeof config.session_id === 'string' ? config.session_id : '';
  const start = isTranscript(seed) ? { ...seed, state: 'active' as const } : createTranscript(sessionId);
  const transcript = typeof config.task === 'string' ? appendMessage(start, userMessage(config.task)) : start;
  return writeLoopState({ transcript, counters: NEW_COUNTERS });
}
