import { HarnError } from '../base/harn-error.ts';
import { batchError, parseChannelSelector } from './channel-name.ts';
import { type Schedule, scheduleProblem } from './cron.ts';
import type { PredicateBudget } from './predicate.ts';
import { isCallableSpec, isSpecObject, Opaque, type SpecObject, type SpecValue, specTypeName } from './spec-value.ts';

/**
 * The one parser of trigger specs (spec/agents.md 9.1, 9.2), used by `trigger_register` and for
 * `conditions.trigger`. Its errors have no prefix of their own; the callers add theirs.
 */
export interface TriggerSpec {
  readonly id: string | undefined;
  readonly kind: string;
  readonly provider: string;
  readonly handler: TriggerHandler | undefined;
  /** Kinds of events, or channel selectors; never empty. */
  readonly events: readonly string[];
  readonly when: Opaque | undefined;
  readonly whenBudget: PredicateBudget | undefined;
  readonly filter: string | undefined;
  readonly dedupeKey: string | undefined;
  /** `max` counts attempts, the first one included: a binding with 1 is never tried again. */
  readonly retry: { readonly max: number; readonly backoff: 'svix' | 'immediate' };
  readonly autonomyTier: (typeof TIERS)[number];
  readonly schedule: Schedule | undefined;
  /** An `a2a://` handler may be reached without TLS. */
  readonly allowCleartext: boolean;
}

export type TriggerHandler =
  | { readonly kind: 'local'; readonly callable: Opaque }
  | { readonly kind: 'a2a' | 'worker'; readonly uri: string }
  | { readonly kind: 'effect'; readonly effect: SpecObject };

const TIERS = ['shadow', 'suggest', 'act_with_approval', 'act_auto'] as const;
const DEFAULT_ATTEMPTS = 7;

/**
 * @param use `resume`: the wake is the handler, so none is needed
 * @throws plain HarnError with the texts of 9.2
 */
export function parseTriggerSpec(spec: SpecObject, use: 'register' | 'resume'): TriggerSpec {
  const kind = requiredText(spec, 'kind');
  const provider = requiredText(spec, 'provider');
  const handler = parseHandler(spec.handler, use);
  const when = parseWhen(spec);
  const events = parseEvents(spec, kind, provider);
  checkBatch(spec.batch);
  if (!isAbsent(spec.allow_cleartext) && typeof spec.allow_cleartext !== 'boolean') throw fault('field `allow_cleartext` must be a bool');
  return {
    id: optionalText(spec, 'id'),
    kind,
    provider,
    handler,
    events,
    when,
    whenBudget: parseWhenBudget(spec.when_budget),
    filter: optionalText(spec, 'filter'),
    dedupeKey: optionalText(spec, 'dedupe_key'),
    retry: parseRetry(spec.retry, use),
    autonomyTier: parseTier(spec),
    schedule: parseSchedule(spec, provider),
    allowCleartext: spec.allow_cleartext === true,
  };
}

function requiredText(spec: SpecObject, key: string): string {
  const value = spec[key];
  if (typeof value !== 'string' || value.trim() === '') throw fault(`missing string field \`${key}\``);
  return value;
}

function optionalText(spec: SpecObject, key: string): string | undefined {
  const value = spec[key];
  if (isAbsent(value)) return undefined;
  if (typeof value !== 'string') throw fault(`field \`${key}\` must be a string, got ${specTypeName(value)}`);
  return value;
}

function parseHandler(handler: SpecValue | undefined, use: 'register' | 'resume'): TriggerHandler | undefined {
  if (isAbsent(handler)) {
    if (use === 'resume') return undefined;
    throw fault('missing `handler`');
  }
  if (isCallableSpec(handler)) return { kind: 'local', callable: handler };
  if (isSpecObject(handler)) return { kind: 'effect', effect: handler };
  if (typeof handler !== 'string') throw fault(`\`handler\` must be a closure or handler URI string, got ${specTypeName(handler)}`);
  const scheme = /^(a2a|worker):\/\/./.exec(handler)?.[1];
  if (scheme === 'a2a' || scheme === 'worker') return { kind: scheme, uri: handler };
  throw fault('`handler` string must use `a2a://` or `worker://` URI syntax');
}

function parseWhen(spec: SpecObject): Opaque | undefined {
  if (isAbsent(spec.when)) {
    if (!isAbsent(spec.when_budget)) throw fault('when_budget requires a when predicate');
    return undefined;
  }
  if (!isCallableSpec(spec.when)) throw fault('`when` must be a closure');
  return spec.when;
}

/** `timeout` is a count of milliseconds or a text such as `5s`. */
function parseWhenBudget(value: SpecValue | undefined): PredicateBudget | undefined {
  if (isAbsent(value)) return undefined;
  if (!isSpecObject(value)) throw fault('`when_budget` must be a dict');
  return {
    maxCostUsd: budgetNumber(value, 'max_cost_usd'),
    maxTokens: budgetNumber(value, 'tokens_max'),
    timeoutMs: typeof value.timeout === 'string' ? durationText(value.timeout) : budgetNumber(value, 'timeout'),
  };
}

function budgetNumber(budget: SpecObject, key: string): number | undefined {
  const value = budget[key];
  if (isAbsent(value)) return undefined;
  const number = value instanceof Opaque && value.typeName !== 'closure' ? Number(value.value) : value;
  if (typeof number !== 'number' || !(number >= 0)) throw fault(`field \`when_budget.${key}\` must be a number of 0 or more`);
  return number;
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

function durationText(text: string): number {
  const [, count, unit = ''] = /^(\d+)(ms|s|m|h)$/.exec(text.trim()) ?? [];
  const factor = UNIT_MS[unit];
  if (factor === undefined) throw fault(`field \`when_budget.timeout\` must be a duration such as 5s, got '${text}'`);
  return Number(count) * factor;
}

/** `batch` is passed on as it is; but a setting that cannot be is refused here. */
function checkBatch(batch: SpecValue | undefined): void {
  if (isAbsent(batch)) return;
  if (!isSpecObject(batch)) throw batchError(`expected a dict, got ${specTypeName(batch)}`);
  const given = ['count', 'window_ms'].filter((key) => !isAbsent(batch[key]));
  if (given.length === 0) throw batchError('it needs `count` or `window_ms`');
  for (const key of given) {
    const value = batch[key];
    if (typeof value !== 'number' || !Number.isInteger(value) || value <= 0) throw batchError(`\`${key}\` must be a positive int`);
  }
}

function parseEvents(spec: SpecObject, kind: string, provider: string): readonly string[] {
  const listed = isSpecObject(spec.match) && !isAbsent(spec.match.events) ? spec.match.events : spec.events;
  const events = isAbsent(listed) ? undefined : eventList(listed);
  if (provider === 'channel') return channelEvents(events);
  return events === undefined || events.length === 0 ? [kind] : events;
}

function eventList(listed: SpecValue | undefined): string[] {
  if (!Array.isArray(listed)) throw fault('`events` must be a list of strings');
  return listed.map((entry: SpecValue) => {
    if (typeof entry !== 'string') throw fault(`\`events\` entries must be strings, got ${specTypeName(entry)}`);
    return entry;
  });
}

function channelEvents(events: readonly string[] | undefined): readonly string[] {
  if (events === undefined || events.length === 0) throw fault('provider="channel" requires match.events: ["channel:<scope>:<name>"]');
  for (const selector of events) {
    const problem = parseChannelSelector(selector).problem;
    if (problem !== undefined) throw fault(`invalid channel selector: ${problem}`);
  }
  return events;
}

function parseRetry(retry: SpecValue | undefined, use: 'register' | 'resume'): TriggerSpec['retry'] {
  const settings = isSpecObject(retry) ? retry : {};
  const { backoff = 'svix', max = DEFAULT_ATTEMPTS } = settings;
  if (backoff !== null && backoff !== 'svix' && backoff !== 'immediate') {
    throw fault(`unsupported retry.backoff '${String(backoff)}', expected 'svix' or 'immediate'`);
  }
  if (max !== null && (typeof max !== 'number' || !Number.isInteger(max) || max < 0))
    throw fault('field `retry.max` must be an int of 0 or more');
  // A wake that lost against another one must not be tried again.
  return { max: use === 'resume' ? 0 : (max ?? DEFAULT_ATTEMPTS), backoff: backoff ?? 'svix' };
}

function parseTier(spec: SpecObject): TriggerSpec['autonomyTier'] {
  const value = isAbsent(spec.autonomy_tier) ? spec.tier : spec.autonomy_tier;
  if (isAbsent(value)) return 'act_auto';
  const tier = TIERS.find((known) => known === value);
  if (tier === undefined) throw fault(`unsupported autonomy_tier '${String(value)}', expected ${TIERS.join('|')}`);
  return tier;
}

function parseSchedule(spec: SpecObject, provider: string): Schedule | undefined {
  if (provider !== 'cron') return undefined;
  const schedule = { expression: requiredText(spec, 'schedule'), timezone: optionalText(spec, 'timezone') };
  const problem = scheduleProblem(schedule);
  if (problem !== undefined) throw fault(`invalid cron \`schedule\`: ${problem}`);
  return schedule;
}

function isAbsent(value: SpecValue | undefined): value is undefined | null {
  return value === undefined || value === null;
}

function fault(text: string): HarnError {
  return new HarnError('plain', text);
}
