import { HarnError } from '../../base/harn-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { renderJson } from '../json-text.ts';

type Rule = readonly [wanted: string, isFit: (value: Json) => boolean];

const TEXT: Rule = ['a string', (value) => typeof value === 'string'];
const FLAG: Rule = ['true or false', (value) => typeof value === 'boolean'];
const NUMBER: Rule = ['a number', (value) => typeof value === 'number'];
const WHOLE: Rule = ['a whole number', (value) => Number.isInteger(value)];
const COUNT: Rule = ['a whole number of 0 or more', (value) => Number.isInteger(value) && (value as number) >= 0];
const SECONDS: Rule = ['a number of seconds above 0', (value) => typeof value === 'number' && value > 0];
const oneOf = (...names: readonly string[]): Rule => [
  names
    .map((name) => `"${name}"`)
    .join(', ')
    .replace(/, (?=[^,]*$)/, ' or '),
  (value) => typeof value === 'string' && names.includes(value),
];

const THINKING_MODES = ['enabled', 'adaptive', 'effort', 'disabled'];

/** What each option of a model call must be when it is given (spec/agents.md 1.2); nil counts as not given. */
const RULES: Readonly<Record<string, Rule>> = {
  provider: TEXT,
  model: TEXT,
  model_tier: TEXT,
  session_id: TEXT,
  max_tokens: ['a whole number above 0', (value) => Number.isInteger(value) && (value as number) > 0],
  temperature: NUMBER,
  top_p: NUMBER,
  frequency_penalty: NUMBER,
  presence_penalty: NUMBER,
  top_k: WHOLE,
  seed: WHOLE,
  stop: ['a list of strings', (value) => Array.isArray(value) && value.every((one) => typeof one === 'string')],
  tool_format: oneOf('native', 'text'),
  output_validation: oneOf('off', 'warn', 'error'),
  response_format: oneOf('text', 'json'),
  output_format: ['a string or a dict with `kind`', (value) => typeof value === 'string' || isJsonObject(value)],
  schema_retries: COUNT,
  llm_retries: COUNT,
  llm_backoff_ms: COUNT,
  timeout: SECONDS,
  idle_timeout: SECONDS,
  stream: FLAG,
  cache: FLAG,
  thinking: [
    `true, false or a dict whose \`mode\` is one of ${THINKING_MODES.join(', ')}`,
    (value) => typeof value === 'boolean' || (isJsonObject(value) && typeof value.mode === 'string' && THINKING_MODES.includes(value.mode)),
  ],
  budget: ['a dict of limits', isJsonObject],
};

/** @throws HarnError `plain` for an option that would do nothing, or something else than it says */
export function checkModelOptions(options: JsonObject, operation: string): void {
  for (const [name, [wanted, isFit]] of Object.entries(RULES)) {
    const value = options[name];
    if (value === undefined || value === null || isFit(value)) continue;
    throw new HarnError('plain', `${operation}: option \`${name}\` must be ${wanted}, got ${renderJson(value)}`);
  }
}
