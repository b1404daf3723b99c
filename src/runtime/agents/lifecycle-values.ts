import type { Json, JsonObject } from '../../base/json.ts';
import { isJsonObject } from '../../base/json.ts';
import type { Lifecycle } from '../../lifecycle/lifecycle.ts';
import { shownPathOf } from '../../lifecycle/persist.ts';
import type { ResumeByCallback } from '../../lifecycle/resume-by.ts';
import type { ResumeTarget } from '../../lifecycle/resume-subject.ts';
import { isCallableSpec, isSpecObject, Opaque, type SpecValue } from '../../lifecycle/spec-value.ts';
import { summaryOf } from '../../lifecycle/summary.ts';
import type { Worker } from '../../lifecycle/worker.ts';
import { isSnapshotPath } from '../../store/state-root.ts';
import { callValue } from '../call.ts';
import type { Context } from '../context.ts';
import { dictEntries, dictGet, dictOf, dictSet } from '../dict.ts';
import { display } from '../display.ts';
import { plainError } from '../errors.ts';
import { globalValue } from '../globals.ts';
import { toJson } from '../json.ts';
import { Dict, Float, type HarnFunction, isCallable, StructValue, typeOf, type Value, withText } from '../value.ts';
import { currentLoop } from './agent-context.ts';
import { agentValue, field } from './agent-values.ts';

/** Between values of the language and what lifecycle works with. */

/** A value as the parsers of conditions and trigger specs look at it; what is not JSON stays what it is. */
export function specValue(value: Value): SpecValue {
  if (value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number') return value;
  if (Array.isArray(value)) return value.map(specValue);
  if (value instanceof Dict) return Object.fromEntries(dictEntries(value).map(([key, item]) => [key, specValue(item)]));
  if (value instanceof StructValue) return specValue(value.fields);
  if (value instanceof Float) return new Opaque('float', value.value);
  return new Opaque(typeOf(value), value);
}

/** The value again, closures included. */
export function valueOfSpec(spec: SpecValue | undefined): Value {
  if (spec === null || spec === undefined) return undefined;
  if (spec instanceof Opaque) return spec.typeName === 'float' ? new Float(spec.value as number) : (spec.value as Value); // put there by specValue
  if (Array.isArray(spec)) return spec.map(valueOfSpec);
  if (isSpecObject(spec)) return dictOf(Object.entries(spec).map(([key, item]): [string, Value] => [key, valueOfSpec(item)]));
  return spec as Value;
}

/** A callable inside a spec. */
export function functionOfSpec(spec: SpecValue | undefined): HarnFunction | undefined {
  return isCallableSpec(spec) ? (spec.value as HarnFunction) : undefined; // put there by specValue
}

/** A summary as scripts see it. The handle of a top-level loop reads as the path of its snapshot (spec/agents.md 5.10). */
export function summaryValue(summary: JsonObject): Value {
  const value = agentValue(summary);
  if (!(value instanceof Dict) || summary.mode !== 'top_level_agent') return value;
  const result = dictGet(value, 'result');
  const handle = field(result, 'handle');
  if (!(result instanceof Dict) || !(handle instanceof Dict)) return value;
  return dictSet(value, 'result', dictSet(result, 'handle', withText(handle, display(field(handle, 'snapshot_path')))));
}

export function workerSummary(lifecycle: Lifecycle, worker: Worker, extra?: JsonObject): Value {
  return summaryValue(summaryOf(worker, shownPathOf(lifecycle, worker), extra));
}

/** A worker argument: a handle or summary, a Suspension, an id, and for some functions a path. */
export function workerTarget(value: Value, operation: string): ResumeTarget {
  if (typeof value === 'string') {
    if (value.trim() === '') throw plainError(`${operation}: missing worker handle`);
    return isSnapshotPath(value) ? { kind: 'path', path: value } : { kind: 'worker', id: value };
  }
  if (!(value instanceof Dict)) throw plainError(`${operation}: missing worker handle`);
  const handle = dictGet(value, 'handle');
  // A Suspension names exactly the suspension that it describes; a handle names the current one.
  if (dictGet(value, 'status') === 'suspended' && handle !== undefined && dictGet(value, 'id') === undefined)
    return suspensionTarget(handle, operation);
  const id = dictGet(value, 'id');
  if (typeof id !== 'string') throw plainError('agent handle dict is missing an id field');
  return { kind: 'worker', id };
}

function suspensionTarget(handle: Value, operation: string): ResumeTarget {
  const target = workerTarget(handle, operation);
  const suspensionId = field(field(handle, 'suspension'), 'suspension_id');
  return typeof suspensionId === 'string' ? { ...target, suspensionId } : target;
}

/** @throws plain error for a worker that this run does not know */
export function knownWorker(lifecycle: Lifecycle, value: Value, operation: string): Worker {
  const target = workerTarget(value, operation);
  const id = target.kind === 'worker' ? target.id : target.path;
  const worker = lifecycle.registry.get(id);
  if (worker === undefined) throw plainError(`unknown worker: ${id}`);
  return worker;
}

/** True for code that runs inside the loop of this worker: it must not wait for the worker's own boundary. */
export function isInsideWorker(context: Context, workerId: string): boolean {
  return currentLoop(context)?.workerId === workerId;
}

/** The harness value for callbacks that take one; nil where the run has none. */
export function harnessValue(context: Context): Value {
  try {
    return globalValue(context, 'harness');
  } catch {
    return undefined;
  }
}

/** A `resume_by` closure as lifecycle calls it. */
export function ownerCallback(context: Context, callback: HarnFunction): ResumeByCallback {
  return async (suspension) => {
    const answer = await callValue(context, 0, callback, harnessValue(context), suspensionValue(suspension));
    return answer instanceof Dict ? toJson(answer) : null;
  };
}

/** A Suspension as scripts see it. */
export function suspensionValue(suspension: JsonObject): Value {
  const value = agentValue(suspension);
  const handle = field(value, 'handle');
  const isTopLevel = field(handle, 'mode') === 'top_level_agent';
  if (!(value instanceof Dict) || !(handle instanceof Dict) || !isTopLevel) return value;
  return dictSet(value, 'handle', withText(handle, display(field(handle, 'snapshot_path'))));
}

/** An optional callable of an options dict. @throws plain error for anything else */
export function optionalCallable(value: Value, what: string): HarnFunction | undefined {
  if (value === undefined) return undefined;
  if (!isCallable(value)) throw plainError(`${what} must be a function or nil, got ${typeOf(value)}`);
  return value;
}

/** JSON of a value that has to be a dict; nil gives an empty one. */
export function objectJson(value: Value): JsonObject {
  const json: Json = toJson(value);
  return isJsonObject(json) ? json : {};
}
