import { isJsonObject, type Json, type JsonObject, parseJson } from '../../base/json.ts';
import { schemaFaults, standardSchema } from '../json-schema.ts';

/** Structured answers (spec/agents.md 1.5): finding the JSON in a text, checking it, and asking again. Pure. */

/** What the options say of the answer's format (1.2). */
export interface WishedFormat {
  readonly schema: JsonObject | undefined;
  /** Some JSON is wanted, with a schema or without. */
  readonly isJson: boolean;
  readonly strict: boolean;
}

export function wishedFormat(options: JsonObject): WishedFormat {
  const format = options.output_format;
  const kind = isJsonObject(format) ? format.kind : format;
  const schema = [options.schema, options.json_schema, options.output_schema, isJsonObject(format) ? format.schema : undefined].find(
    isJsonObject,
  );
  const isJson = kind === 'json_schema' || kind === 'json_object' || kind === 'json' || options.response_format === 'json';
  return { schema, isJson: isJson || schema !== undefined, strict: isJsonObject(format) && format.strict === true };
}

/** The same for services: scripts may write schemas with the type names of the language. */
export function standardFormat(options: JsonObject): WishedFormat {
  const { schema, ...format } = wishedFormat(options);
  return { ...format, schema: schema && standardSchema(schema) };
}

/** The wish in words, for services that take no schema; empty without one. */
export function formatInstruction(options: JsonObject): string {
  const { schema, isJson } = standardFormat(options);
  if (schema !== undefined) return `Answer with one JSON value that matches this JSON Schema, and nothing else:\n${JSON.stringify(schema)}`;
  return isJson ? 'Answer with one JSON value, and nothing else.' : '';
}

export interface ExtractedJson {
  readonly value: Json;
  /** False when the whole text was JSON. */
  readonly isExtracted: boolean;
}

/** Whole text; else the first fenced block; else the first balanced object or list. */
export function extractJson(text: string): ExtractedJson | undefined {
  const whole = parseJson(text.trim());
  if (whole !== undefined) return { value: whole, isExtracted: false };
  const fenced = /```(?:json)?[^\S\n]*\n([\s\S]*?)```/i.exec(text);
  const block = fenced === null ? undefined : parseJson((fenced[1] ?? '').trim());
  const value = block === undefined ? firstBalanced(text) : block;
  return value === undefined ? undefined : { value, isExtracted: true };
}

function firstBalanced(text: string): Json | undefined {
  for (let start = 0; start < text.length; start++) {
    if (text[start] !== '{' && text[start] !== '[') continue;
    const end = balancedEnd(text, start);
    const found = end === undefined ? undefined : parseJson(text.slice(start, end));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** One past the bracket that closes the one at `start`; brackets inside strings do not count. */
function balancedEnd(text: string, start: number): number | undefined {
  let depth = 0;
  let isInString = false;
  for (let index = start; index < text.length; index++) {
    const char = text[index];
    if (isInString) {
      if (char === '\\') index++;
      else if (char === '"') isInString = false;
    } else if (char === '"') isInString = true;
    else if (char === '{' || char === '[') depth++;
    else if ((char === '}' || char === ']') && --depth === 0) return index + 1;
  }
  return undefined;
}

export type StructuredOutcome =
  | { readonly kind: 'valid'; readonly data: Json; readonly isExtracted: boolean }
  | { readonly kind: 'missing'; readonly faults: readonly string[] }
  | { readonly kind: 'invalid'; readonly data: Json; readonly isExtracted: boolean; readonly faults: readonly string[] };

/** @param schema JSON Schema; undefined accepts any JSON */
export function readStructured(text: string, schema: JsonObject | undefined): StructuredOutcome {
  const found = extractJson(text);
  if (found === undefined) return { kind: 'missing', faults: ['the answer contains no parseable JSON value'] };
  const faults = schema === undefined ? [] : schemaFaults(found.value, schema);
  if (faults.length > 0) return { kind: 'invalid', data: found.value, isExtracted: found.isExtracted, faults };
  return { kind: 'valid', data: found.value, isExtracted: found.isExtracted };
}

/**
 * What a retry adds to the original messages: one correction. The wrong answer is left out, or the model would repeat
 * it and history would keep it.
 *
 * @param nudge text of the caller instead of ours; `false` asks again without a word, which answers undefined
 */
export function correctionText(faults: readonly string[], nudge: string | boolean | undefined): string | undefined {
  if (nudge === false) return undefined;
  if (typeof nudge === 'string') return nudge;
  const list = faults.map((fault) => `- ${fault}`).join('\n');
  return `Your previous answer did not match the required schema:\n${list}\nAnswer again with one JSON value that matches it, and nothing else.`;
}
