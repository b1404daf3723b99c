import { renderJson } from '../../agent/json-text.ts';
import { redactJson, redactSecrets } from '../../agent/tools/secret-scan.ts';
import type { Tool } from '../../agent/tools/tool.ts';
import { renderInstant } from '../../base/instant.ts';
import type { Json, JsonObject } from '../../base/json.ts';
import { addParkedFeedback } from '../../lifecycle/parked-feedback.ts';
import { waitForPromise } from '../../tasks/wait.ts';
import { caughtValue } from '../caught.ts';
import type { Context, Run } from '../context.ts';
import { display } from '../display.ts';
import { thrownText } from '../errors.ts';
import { toJson } from '../json.ts';
import { deriveContext } from '../task-context.ts';
import { currentLoop, type LoopPlace } from './agent-context.ts';
import { lifecycleOf, wakeSession } from './agent-lifecycle.ts';
import { agentServices, inboxOf } from './agent-services.ts';
import { type AsyncHandle, type AsyncWork, addHandle, endHandle, startedFacts } from './async-registry.ts';

/**
 * Work that goes on beside the turns of a loop (spec/agents.md 2.8). Its start answers at once; its end is one piece of
 * feedback for the session that started it, which the loop takes up before its next model call. A park does not wait
 * for it, the end of the session cancels it.
 *
 * @returns the envelope of the start: `{handle_id, started_at, status, command_or_op_descriptor}` */
export function startAsyncWork(context: Context, work: AsyncWork): JsonObject {
  const { run } = context;
  const { clock, random } = run.platform;
  const handle: AsyncHandle = {
    id: random.id('handle'),
    owner: currentLoop(context),
    // What describes it stands in snapshots and feedback, arguments and all.
    work: { ...work, descriptor: redactSecrets(work.descriptor) },
    startedAt: renderInstant(clock.now()),
    startedMs: clock.monotonicMs(),
    abort: new AbortController(),
  };
  addHandle(run, handle);
  void follow(context, handle);
  return startedFacts(handle);
}

/** Runs the work to its end and tells its session. */
async function follow(context: Context, handle: AsyncHandle): Promise<void> {
  const { run } = context;
  const outcome = await runBounded(context, handle);
  // The end of the run is nobody's result: what it cut off is lost with the process.
  if (!endHandle(run, handle.id) || run.signal.aborted) return;
  const { clock } = run.platform;
  const facts: JsonObject = {
    handle_id: handle.id,
    operation: handle.work.operation,
    command_or_op_descriptor: handle.work.descriptor,
    started_at: handle.startedAt,
    ended_at: renderInstant(clock.now()),
    duration_ms: Math.round(clock.monotonicMs() - handle.startedMs),
    ...outcome,
  };
  if (handle.owner !== undefined) tellSession(run, handle.owner, handle.id, facts);
}

type Outcome = { readonly status: 'completed'; readonly result: Json } | { readonly status: 'failed'; readonly error: string };

async function runBounded(context: Context, { work, abort }: AsyncHandle): Promise<Outcome> {
  const { run } = context;
  const { timeoutMs, operation } = work;
  const signal = AbortSignal.any([abort.signal, run.signal]);
  const timeout = thrownText(`async_tool_run: ${operation} timed out after ${timeoutMs} ms`);
  const cancelTimer = timeoutMs === undefined ? undefined : run.platform.clock.timer(timeoutMs, () => abort.abort(timeout), 'unref');
  try {
    // The call that started the work is over long before it: only the run and the handle can end it.
    const inside = deriveContext(context, { signal });
    const answer = await waitForPromise(
      signal,
      Promise.resolve().then(() => work.run(inside)),
    );
    return { status: 'completed', result: redactJson(toJson(answer)) };
  } catch (error) {
    return { status: 'failed', error: redactSecrets(display(caughtValue(error))) };
  } finally {
    cancelTimer?.();
  }
}

function tellSession(run: Run, owner: LoopPlace, handleId: string, facts: JsonObject): void {
  const lifecycle = lifecycleOf(run);
  const feedback = { kind: 'tool_result', content: renderJson(facts) };
  const worker = lifecycle.registry.get(owner.workerId);
  if (worker !== undefined && addParkedFeedback(lifecycle, worker, feedback, handleId)) return;
  inboxOf(agentServices(run), owner.sessionId).feedback.push(feedback);
  wakeSession(run, owner.sessionId);
}

/** The tools of the innermost loop, by name. */
export function loopTool(context: Context, name: string): Tool | undefined {
  const place = currentLoop(context);
  return place === undefined
    ? undefined
    : agentServices(context.run)
        .loopTools.get(place.workerId)
        ?.find((tool) => tool.name === name);
}
