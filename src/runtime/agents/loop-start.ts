import { inheritReminders, type ReminderInheritance } from '../../agent/reminder.ts';
import { createTranscript, isTranscript } from '../../agent/transcript/transcript.ts';
import type { JsonObject } from '../../base/json.ts';
import { readDaemonSeed } from '../../lifecycle/daemon-snapshot.ts';
import type { StartOptions } from '../../lifecycle/start.ts';
import type { Context } from '../context.ts';
import { plainError } from '../errors.ts';
import { toJson } from '../json.ts';
import { refuseWhileStopping } from '../stopping.ts';
import { Dict, typeOf, type Value } from '../value.ts';
import { currentLoop, type LoopPlace } from './agent-context.ts';
import { lifecycleOf } from './agent-lifecycle.ts';
import { createLive, savedOptions, withServerTools } from './agent-live.ts';
import { describeProgram } from './agent-program.ts';
import { agentServices } from './agent-services.ts';
import { field, optionalText } from './agent-values.ts';
import { limitsOfTier } from './autonomy-tier.ts';
import type { Execution } from './execution-place.ts';
import { limitsOf, narrowedOptions } from './loop-limits.ts';

/** A loop of a script, however it is started. */
export interface LoopRequest {
  readonly task: string;
  readonly system: Value;
  readonly options: Value;
  /** Drawn before, when something had to know it. */
  readonly workerId?: string | undefined;
  /** Of a session that only this loop uses; a named one stands in the options. */
  readonly sessionId?: string | undefined;
  /** Where its code works, when not where the caller's does. */
  readonly execution?: Execution | undefined;
  /** Of a child worker: which reminders of its parent it gets; left out for loops that are none. */
  readonly reminders?: ReminderInheritance | undefined;
  /** JSON Schema of the `data` that the caller wants. */
  readonly returnsSchema?: JsonObject | undefined;
}

/** From the options of a loop to what lifecycle starts: what can be saved of it, what cannot, and how to find that again. */
export async function loopStart(context: Context, request: LoopRequest): Promise<Omit<StartOptions, 'name' | 'mode'>> {
  await refuseWhileStopping(context, 'agent_loop');
  const { random } = agentServices(context.run);
  const parent = currentLoop(context);
  const narrowed = narrowedOptions(parent?.limits ?? limitsOfTier(context.run), request.options);
  const named = optionalText(field(narrowed, 'session_id'));
  if (named?.trim() === '') throw plainError('agent_loop: session_id must not be blank');
  const place: LoopPlace = {
    kind: 'loop',
    workerId: request.workerId ?? random.id('worker'),
    sessionId: named ?? request.sessionId ?? random.uuidV7(),
    limits: limitsOf(narrowed),
    execution: request.execution ?? parent?.execution,
  };
  const options = await withServerTools(context, narrowed, place);
  return {
    workerId: place.workerId,
    task: request.task,
    spec: {
      system: optionalText(request.system) ?? null,
      options: savedOptions(options),
      returns_schema: request.returnsSchema ?? null,
      session_id: place.sessionId,
      parent_session_id: parent?.sessionId ?? null,
      reminder_propagation: request.reminders ?? null,
    },
    carry: { policy: place.limits.policy ?? null },
    live: createLive(context, options, place),
    program: describeProgram(context.run, options, lifecycleOf(context.run).hooks.scriptEvents()),
    ...withInherited(context, place.sessionId, request.reminders, loopSeed(context, named, options)),
  };
}

type LoopSeed = Pick<StartOptions, 'seedTranscript' | 'seedLoop' | 'daemon'>;

/** A child hears what its parent was told for all. */
function withInherited(context: Context, sessionId: string, what: ReminderInheritance | undefined, seed: LoopSeed): LoopSeed {
  const parent = currentLoop(context);
  const above = parent === undefined ? undefined : agentServices(context.run).sessions.transcript(parent.sessionId);
  if (what === undefined || parent === undefined || above === undefined) return seed;
  const start = isTranscript(seed.seedTranscript) ? seed.seedTranscript : createTranscript(sessionId);
  const told = inheritReminders(start, above, parent.workerId, what);
  return told === start ? seed : { ...seed, seedTranscript: told };
}

/** `reminder_propagation` of a child. @throws plain error for another word */
export function reminderInheritance(value: Value, operation: string): ReminderInheritance {
  switch (value) {
    case undefined:
    case 'session':
      return 'marked';
    case 'all':
      return 'everything';
    case 'none':
      return 'nothing';
    default:
      throw plainError(`${operation}: reminder_propagation must be all, session or none`);
  }
}

/** What a loop goes on from: the daemon of `resume_path`, else the history of a named session, else the transcript of the options. */
function loopSeed(context: Context, named: string | undefined, options: Value): LoopSeed {
  const path = optionalText(field(options, 'resume_path'));
  if (path !== undefined) return readDaemonSeed(lifecycleOf(context.run), path);
  const history = named === undefined ? undefined : agentServices(context.run).sessions.transcript(named);
  if (history !== undefined) return { seedTranscript: history };
  const given = field(options, 'transcript');
  if (given !== undefined && !(given instanceof Dict))
    throw plainError(`agent_loop: transcript must be a transcript, got ${typeOf(given)}`);
  return given === undefined ? {} : { seedTranscript: toJson(given) };
}
