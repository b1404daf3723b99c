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

const SCHEMA: Rule = ['a JSON Schema, a dict', isJsonObject];
const FORMATS = ['text', 'json', 'json_object', 'json_schema'];
const BUDGETS = ['max_cost_usd', 'max_input_tokens', 'max_output_tokens', 'total_budget_usd'];

/** A limit that cannot be read would be none. */
function isBudget(value: Json): boolean {
  if (!isJsonObject(value)) return false;
  return Object.entries(value).every(
    ([name, limit]) => BUDGETS.includes(name) && (limit === null || (typeof limit === 'number' && limit >= 0)),
  );
}

function isThinking(value: Json): boolean {
  if (typeof value === 'boolean') return true;
  if (!isJsonObject(value) || !THINKING_MODES.includes(String(value.mode))) return false;
  const { budget_tokens: budget = null, level = null } = value;
  const isBudgetFit = budget === null || (Number.isInteger(budget) && (budget as number) > 0);
  return isBudgetFit && (level === null || typeof level === 'string');
}

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
  output_format: [
    `one of ${FORMATS.join(', ')}, or a dict with such a \`kind\``,
    (value) => FORMATS.includes(String(isJsonObject(value) ? value.kind : value)),
  ],
  schema: SCHEMA,
  json_schema: SCHEMA,
  output_schema: SCHEMA,
  schema_retry_nudge: ['a string, true or false', (value) => typeof value === 'string' || typeof value === 'boolean'],
  schema_retries: COUNT,
  llm_retries: COUNT,
  llm_backoff_ms: COUNT,
  timeout: SECONDS,
  idle_timeout: SECONDS,
  stream: FLAG,
  cache: FLAG,
  thinking: [
    `true, false or a dict whose \`mode\` is one of ${THINKING_MODES.join(', ')}, with \`budget_tokens\` (a whole number) or \`level\` (a string)`,
    isThinking,
  ],
  budget: [`a dict of limits, numbers of 0 or more (${BUDGETS.join(', ')})`, isBudget],
};

/** @throws HarnError `plain` for an option that would do nothing, or something else than it says */
export function checkModelOptions(options: JsonObject, operation: string): void {
  for (const [name, [wanted, isFit]] of Object.entries(RULES)) {
    const value = options[name];
    if (value === undefined || value === null || isFit(value)) continue;
    throw new HarnError('plain', `${operation}: option \`${name}\` must be ${wanted}, got ${renderJson(value)}`);
  }
}
