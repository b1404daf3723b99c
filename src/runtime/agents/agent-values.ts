import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { dictEntries, dictGet, dictOf } from '../dict.ts';
import { display } from '../display.ts';
import { isHarness } from '../harness.ts';
import { fromJson, toJson } from '../json.ts';
import { Dict, Duration, Float, type Value } from '../value.ts';

/** Between values of the language and the JSON of the agent half. */

/**
 * A dict as JSON, empty for anything else. A duration counts in the unit of its option; callables become null: whoever needs them
 * takes them from the value.
 */
export function optionsJson(value: Value): JsonObject {
  const json = toJson(value);
  if (!isJsonObject(json)) return {};
  const times = (value instanceof Dict ? dictEntries(value) : []).flatMap(([key, item]): [string, number][] =>
    item instanceof Duration ? [[key, IN_SECONDS.has(key) ? item.ms / 1000 : item.ms]] : [],
  );
  return times.length === 0 ? json : { ...json, ...Object.fromEntries(times) };
}

/** Options that are seconds (spec/agents.md 1.2); all other times are milliseconds. */
const IN_SECONDS: ReadonlySet<string> = new Set(['timeout', 'idle_timeout']);

/** Keys whose value is a float even where it happens to be whole. */
const FLOAT_KEYS: ReadonlySet<string> = new Set(['cache_hit_ratio', 'cache_savings_usd', 'cost_usd', 'total_cost', 'max_cost_usd']);

/** JSON of the agent half as a value; figures that are floats by nature stay floats. */
export function agentValue(json: Json | undefined): Value {
  if (Array.isArray(json)) return json.map(agentValue);
  if (!isJsonObject(json)) return fromJson(json);
  return dictOf(
    Object.entries(json).map(([key, item]): [string, Value] => [
      key,
      typeof item === 'number' && FLOAT_KEYS.has(key) ? new Float(item) : agentValue(item),
    ]),
  );
}

export function asDict(value: Value): Dict | undefined {
  return value instanceof Dict ? value : undefined;
}

export function field(value: Value, key: string): Value {
  return value instanceof Dict ? dictGet(value, key) : undefined;
}

/** Text of an argument: a string as it is, nil as undefined, anything else as it displays. */
export function optionalText(value: Value): string | undefined {
  return value === undefined ? undefined : display(value);
}

/** A shallow copy without these keys. */
export function withoutKeys(dict: Dict, keys: readonly string[]): Dict {
  return dictOf(dictEntries(dict).filter(([key]) => !keys.includes(key)));
}

/** Agent functions may be given a harness first (spec/agents.md 0.3); it says nothing that the context does not. */
export function withoutHarness(args: readonly Value[]): readonly Value[] {
  const [first] = args;
  return isHarness(first) ? args.slice(1) : args;
}
