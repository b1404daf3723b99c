import { callValue } from '../call.ts';
import type { Context, Run } from '../context.ts';
import type { HarnFunction, Value } from '../value.ts';

interface FinishHook {
  callback: HarnFunction | undefined;
  harness: Value;
  stages: FinishStages | undefined;
}

/** What surrounds the hook in a run that has workers (spec/agents.md 8.6). */
export interface FinishStages {
  before(): Promise<void>;
  /** Decides about what the pipeline leaves open. */
  after(): Promise<void>;
}

const FINISH = Symbol('finish hook');

function slot(run: Run): FinishHook {
  return run.service(FINISH, (): FinishHook => ({ callback: undefined, harness: undefined, stages: undefined }));
}

/** `pipeline_on_finish(fn)`: a later registration replaces the earlier one (spec/language.md 15.4). */
export function setFinishHook(run: Run, callback: HarnFunction | undefined, harness: Value): void {
  Object.assign(slot(run), { callback, harness });
}

export function setFinishStages(run: Run, stages: FinishStages): void {
  slot(run).stages = stages;
}

/** Runs the hook after the entry; its result replaces the entry value. */
export async function finishHook(context: Context, value: Value): Promise<Value> {
  const finish = slot(context.run);
  await finish.stages?.before();
  const { callback, harness } = finish;
  const replaced = callback === undefined ? value : await callValue(context, 0, callback, harness, value);
  await finish.stages?.after();
  return replaced;
}
