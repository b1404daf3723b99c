import { callValue } from './call.ts';
import type { Context, Run } from './context.ts';
import type { HarnFunction, Value } from './value.ts';

interface FinishHook {
  callback: HarnFunction | undefined;
  harness: Value;
}

const FINISH = Symbol('finish hook');

function slot(run: Run): FinishHook {
  return run.service(FINISH, (): FinishHook => ({ callback: undefined, harness: undefined }));
}

/** `pipeline_on_finish(fn)`: a later registration replaces the earlier one (spec/language.md 15.4). */
export function setFinishHook(run: Run, callback: HarnFunction | undefined, harness: Value): void {
  Object.assign(slot(run), { callback, harness });
}

/** Runs the hook after the entry; its result replaces the entry value. */
export async function finishHook(context: Context, value: Value): Promise<Value> {
  const { callback, harness } = slot(context.run);
  return callback === undefined ? value : await callValue(context, 0, callback, harness, value);
}
