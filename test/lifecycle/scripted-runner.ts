import { HarnError } from '../../src/base/harn-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/base/json.ts';
import type { Activation, LoopEnd, LoopRunner, LoopState, ParkRequest } from '../../src/lifecycle/activation.ts';
import { parseResumeConditions } from '../../src/lifecycle/resume-condition.ts';
import { type SpecValue, storableSpec } from '../../src/lifecycle/spec-value.ts';

/**
 * A loop without a model: a list of turns, one for each completed iteration over the life of the worker. It keeps the
 * rules of the seam: boundaries between turns, a journal record for each settled turn, natural ends before requests.
 */
export interface ScriptedTurn {
  /** What the model says in this turn. */
  readonly say?: string;
  /** Runs inside the turn, as a tool handler would. */
  readonly during?: (activation: Activation) => void | Promise<void>;
  /** The turn ends by parking itself. */
  readonly park?: { readonly reason: string; readonly conditions?: SpecValue; readonly resumeBy?: unknown };
  /** The loop ends by itself after this turn. */
  readonly end?: boolean;
}

export interface ScriptedLive {
  readonly turns: readonly ScriptedTurn[];
}

export function turns(...list: ScriptedTurn[]): ScriptedLive {
  return { turns: list };
}

export interface GatedLive {
  readonly live: ScriptedLive;
  /** Lets the turn through that waits; without effect when none does. */
  open(): void;
  /** Resolves when a turn waits. */
  arrived(): Promise<void>;
}

/** A loop whose turns are let through one at a time. */
export function gatedTurns(list: readonly ScriptedTurn[]): GatedLive {
  const waiting: (() => void)[] = [];
  let arrivals: (() => void)[] = [];
  const during = (): Promise<void> =>
    new Promise((resolve) => {
      waiting.push(resolve);
      for (const arrive of arrivals) arrive();
      arrivals = [];
    });
  return {
    live: turns(...list.map((turn) => ({ ...turn, during }))),
    open: () => waiting.shift()?.(),
    arrived: () => (waiting.length > 0 ? Promise.resolve() : new Promise((resolve) => void arrivals.push(resolve))),
  };
}

export interface ScriptedRunner extends LoopRunner {
  /** How often an activation began. */
  readonly activations: string[];
}

export function scriptedRunner(): ScriptedRunner {
  const activations: string[] = [];
  return {
    activations,
    run: (activation) => runTurns(activation, activations),
    initialState,
    nextCycle: (config, before, carry) =>
      initialState(config, carry.transcript_mode === 'reset' ? undefined : (before.transcript ?? undefined)),
    foldJournal,
    applyResume,
    checkConfig: () => undefined,
    repair: (state) => ({ state, repairs: [] }),
  };
}

export function messagesOf(state: { readonly transcript: unknown }): JsonObject[] {
  const { transcript } = state;
  return isJsonObject(transcript) && Array.isArray(transcript.messages) ? (transcript.messages as JsonObject[]) : [];
}

function initialState(config: JsonObject, seed?: Json): LoopState {
  const messages = isJsonObject(seed) && Array.isArray(seed.messages) ? seed.messages : [];
  const prompt = { role: 'user', content: config.task ?? '' };
  return { transcript: { _type: 'transcript', messages: [...messages, prompt] }, loop: { iterations_completed: 0 } };
}

function withMessages(state: LoopState, added: readonly JsonObject[], completed = completedOf(state)): LoopState {
  return {
    transcript: { ...state.transcript, messages: [...messagesOf(state), ...added] },
    loop: { ...state.loop, iterations_completed: completed },
  };
}

function completedOf(state: LoopState): number {
  return typeof state.loop.iterations_completed === 'number' ? state.loop.iterations_completed : 0;
}

const foldJournal: LoopRunner['foldJournal'] = (state, records) => {
  const turnRecords = records.filter((record) => record.t === 'turn');
  const folded = turnRecords.reduce<LoopState>(
    (current, record) => withMessages(current, [record.message as JsonObject], completedOf(current) + 1),
    state,
  );
  return { state: folded, rerun: [] };
};

const applyResume: LoopRunner['applyResume'] = (state, facts) => {
  const kept = facts.continueTranscript
    ? state
    : { ...state, transcript: { ...state.transcript, messages: [{ role: 'user', content: 'summary' }] } };
  const unreminded = {
    ...kept,
    transcript: { ...kept.transcript, messages: messagesOf(kept).filter((message) => message.role !== 'reminder') },
  };
  const reminder = { role: 'reminder', cause: facts.cause, reason: facts.suspension.reason ?? null };
  return withMessages(unreminded, facts.input === undefined ? [reminder] : [reminder, { role: 'user', content: facts.input }]);
};

async function runTurns(activation: Activation, activations: string[]): Promise<LoopEnd> {
  activations.push(activation.workerId);
  const { turns: script } = activation.live as ScriptedLive;
  let state = activation.state;
  for (let isFirst = true; ; isFirst = false) {
    const completed = completedOf(state);
    const asked = activation.atBoundary(isFirst ? 'B0' : 'B1');
    const facts = { iterationsCompleted: completed, turn: completed === 0 ? undefined : completed - 1 };
    if (asked !== undefined) {
      const parked = await tryPark(activation, asked, state, facts);
      if (parked !== undefined) return parked;
    }
    const turn = script[completed] ?? { say: 'nothing left to do', end: true };
    const message = { role: 'assistant', content: turn.say ?? `turn ${completed}` };
    await turn.during?.(activation);
    activation.signal.throwIfAborted();
    state = withMessages(state, [message], completed + 1);
    if (turn.park !== undefined) {
      const parked = await selfPark(activation, turn.park, state, { iterationsCompleted: completed + 1, turn: completed });
      if (parked !== undefined) return parked;
      continue;
    }
    activation.record({ t: 'turn', message });
    activation.progressed(completed + 1);
    if (turn.end === true)
      return { kind: 'ended', result: { status: 'done', visible_text: message.content, transcript: state.transcript }, state };
  }
}

async function selfPark(
  activation: Activation,
  park: NonNullable<ScriptedTurn['park']>,
  state: LoopState,
  facts: { iterationsCompleted: number; turn: number },
) {
  const conditions = parseResumeConditions(park.conditions, 'agent_await_resumption');
  const request: ParkRequest = {
    reason: park.reason,
    initiator: 'self',
    conditions: conditions === undefined ? undefined : storableSpec(conditions.spec),
    resumeBy: park.resumeBy,
  };
  try {
    await activation.prepareConditions(request);
  } catch (error) {
    activation.emit({ type: 'feedback_injected', content: error instanceof HarnError ? error.message : String(error) });
    activation.record({ t: 'turn', message: messagesOf(state).at(-1) ?? {} });
    return undefined;
  }
  const verdict = await activation.approveSelfPark(request);
  if (verdict.decision === 'deny') {
    activation.record({ t: 'turn', message: messagesOf(state).at(-1) ?? {} });
    return undefined;
  }
  return tryPark(activation, { ...request, reason: verdict.reason }, state, facts);
}

async function tryPark(
  activation: Activation,
  request: ParkRequest,
  state: LoopState,
  facts: { iterationsCompleted: number; turn: number | undefined },
): Promise<LoopEnd | undefined> {
  try {
    const suspension = await activation.park(request, state, facts);
    return { kind: 'parked', suspension, result: { ...suspension, final_status: 'suspended' } };
  } catch (error) {
    if (activation.signal.aborted || (error instanceof HarnError && error.code === 'HARN-SUS-006')) throw error;
    return undefined;
  }
}
