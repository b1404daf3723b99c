import { decodeTranscript } from '../agent/transcript.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { LoopEnd } from '../lifecycle/activation.ts';
import { readDaemonSeed } from '../lifecycle/daemon-snapshot.ts';
import { runRootLoop, type StartOptions } from '../lifecycle/start.ts';
import { currentLoop, type LoopPlace } from './agent-context.ts';
import { lifecycleOf } from './agent-lifecycle.ts';
import { createLive, savedOptions, withServerTools } from './agent-live.ts';
import { describeProgram } from './agent-program.ts';
import { type AgentServices, agentServices } from './agent-services.ts';
import { agentValue, field, optionalText } from './agent-values.ts';
import { cancelHandlesOf } from './async-registry.ts';
import type { Context } from './context.ts';
import { dictGet, dictSet } from './dict.ts';
import { plainError } from './errors.ts';
import { toJson } from './json.ts';
import { Dict, type Value, withText } from './value.ts';

/** `agent_loop` of a script (spec/agents.md chapter 3): a root loop of lifecycle with the tools and callbacks of the options. */
export async function agentLoop(context: Context, [prompt, system, given]: readonly Value[]): Promise<Value> {
  const task = optionalText(prompt);
  if (task === undefined) throw plainError('agent_loop: a prompt is required');
  const services = agentServices(context.run);
  const lifecycle = lifecycleOf(context.run);
  const named = optionalText(field(given, 'session_id'));
  const place: LoopPlace = {
    kind: 'loop',
    workerId: services.random.id('worker'),
    sessionId: named ?? services.random.uuidV7(),
  };
  const options = await withServerTools(context, given, place);
  const live = createLive(context, options, place);
  const release = holdSession(services, place.sessionId);
  let isParked = false;
  try {
    const end = await runRootLoop(lifecycle, {
      workerId: place.workerId,
      task,
      spec: loopSpec(context, place, system, options),
      live,
      program: describeProgram(context.run, options),
      ...loopSeed(context, named, options),
    });
    if (lifecycle.isStopping) await neverAgain();
    if (named !== undefined) storeSession(services, named, end);
    isParked = end.kind === 'parked';
    return loopValue(end.result);
  } finally {
    if (!isParked) cancelHandlesOf(context.run, place.workerId);
    release();
  }
}

/** A signal stops the run: nothing behind the call runs, not even clean-up (spec/agents.md 12.7). */
function neverAgain(): Promise<never> {
  return new Promise(() => undefined);
}

/** `spec` of 4.7: all that is needed to run the loop again, but for what is bound from the program. */
export function loopSpec(context: Context, place: LoopPlace, system: Value, options: Value): JsonObject {
  return {
    system: optionalText(system) ?? null,
    options: savedOptions(options),
    returns_schema: null,
    session_id: place.sessionId,
    parent_session_id: currentLoop(context)?.sessionId ?? null,
    reminder_propagation: null,
  };
}

/** What a loop goes on from: the daemon of `resume_path`, else the history of a named session, else the transcript of the options. */
export function loopSeed(
  context: Context,
  named: string | undefined,
  options: Value,
): Pick<StartOptions, 'seedTranscript' | 'seedLoop' | 'daemon'> {
  const path = optionalText(field(options, 'resume_path'));
  if (path !== undefined) return readDaemonSeed(lifecycleOf(context.run), path);
  const history = named === undefined ? undefined : agentServices(context.run).sessions.transcript(named);
  if (history !== undefined) return { seedTranscript: history };
  const given = field(options, 'transcript');
  return given === undefined ? {} : { seedTranscript: toJson(given) };
}

/** A session in use is not evicted. @returns what ends the use */
export function holdSession({ sessionsInUse }: AgentServices, sessionId: string): () => void {
  sessionsInUse.set(sessionId, (sessionsInUse.get(sessionId) ?? 0) + 1);
  return () => {
    const left = (sessionsInUse.get(sessionId) ?? 1) - 1;
    if (left === 0) sessionsInUse.delete(sessionId);
    else sessionsInUse.set(sessionId, left);
  };
}

function storeSession(services: AgentServices, sessionId: string, end: LoopEnd): void {
  const transcript = end.kind === 'ended' ? end.state.transcript : undefined;
  if (isJsonObject(transcript)) services.sessions.save(sessionId, decodeTranscript(transcript, 'agent_loop'));
}

/** The result as a script sees it; a handle in it reads as the path of its snapshot (5.10). */
export function loopValue(result: JsonObject): Value {
  const value = agentValue(result);
  if (!(value instanceof Dict)) return value;
  return ['handle', 'worker'].reduce<Dict>((dict, key) => {
    const handle = dictGet(dict, key);
    const path = field(handle, 'snapshot_path');
    return handle instanceof Dict && typeof path === 'string' ? dictSet(dict, key, withText(handle, path)) : dict;
  }, value);
}
