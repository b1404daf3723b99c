import { errorText, HarnError } from '../base/harn-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';

/**
 * Session and worker hooks (spec/agents.md chapter 10): code that observes a lifecycle step or refuses it. The
 * handlers are made by whoever owns closures; here they take and give JSON.
 */
export const SESSION_EVENTS = [
  'pre_suspend', 'post_suspend', 'pre_resume', 'post_resume', 'pre_drain', 'post_drain', 'on_drain_decision', 'pre_finish',
  'post_finish', 'on_unsettled_detected', 'session_start', 'session_end', 'session_idle', 'session_error', 'user_prompt_submit',
  'pre_compact', 'post_compact', 'pre_agent_turn', 'post_agent_turn', 'post_turn', 'permission_asked', 'permission_replied',
  'file_edited',
] as const; // biome-ignore format: a list to be scanned

export const WORKER_EVENTS = [
  'WorkerSpawned',
  'WorkerProgressed',
  'WorkerWaitingForInput',
  'WorkerSuspended',
  'WorkerResumed',
  'WorkerCompleted',
  'WorkerFailed',
  'WorkerCancelled',
] as const;

export type SessionEvent = (typeof SESSION_EVENTS)[number];
export type WorkerEventName = (typeof WORKER_EVENTS)[number];

/** Gives what the closure returned; anything that is not JSON arrives as `undefined` with its type in `typeName`. */
export type HookHandler = (payload: JsonObject) => Promise<HookReturn> | HookReturn;
export type HookReturn = { readonly value: Json } | { readonly typeName: string };

/** What a chain of hooks decided. `payload` is as the hooks left it. */
export type HookOutcome =
  | { readonly control: 'allow'; readonly payload: JsonObject; readonly reminders: readonly JsonObject[] }
  | { readonly control: 'deny'; readonly reason: string; readonly payload: JsonObject; readonly reminders: readonly JsonObject[] };

/** One line of the transcript tape: every call of a hook and how it came back. */
export type HookTape = (entry: {
  readonly kind: 'hook_call' | 'hook_returned' | 'hook_vetoed';
  readonly event: SessionEvent;
  /** Of a call: what the first hook of the chain was given. */
  readonly payload?: JsonObject;
  readonly reason?: string;
}) => void;

interface Registration {
  readonly event: string;
  readonly pattern: string;
  readonly handler: HookHandler;
  readonly source: 'manifest' | 'script';
}

const NO_TAPE: HookTape = () => undefined;

export class HookRegistry {
  #session: Registration[] = [];
  readonly #worker: Registration[] = [];
  /** Somebody has approved beforehand what a hook asks approval for. */
  isApproved = false;
  /** Hooks that have to be read from somewhere first; nothing happens before they are there. */
  #loading: Promise<unknown> | undefined;

  /** @param load registers further hooks; what it throws is thrown by every step that hooks are asked about */
  loadFirst(load: () => Promise<void>): void {
    const before = this.#loading;
    const loading = Promise.resolve(before)
      .then(load)
      .then(() => {
        if (this.#loading === loading) this.#loading = undefined;
      });
    // Whoever asks hooks next hears of a failure.
    loading.catch(() => undefined);
    this.#loading = loading;
  }

  /** @param event in snake_case or CamelCase @throws plain HarnError that lists the valid names */
  registerSession(event: string, pattern: string, handler: HookHandler, source: 'manifest' | 'script' = 'script'): void {
    this.#session.push({ event: sessionEventNamed(event), pattern, handler, source });
  }

  /** @throws plain HarnError that lists the valid names */
  registerWorker(event: string, pattern: string, handler: HookHandler): void {
    const known = WORKER_EVENTS.find((name) => name === event);
    if (known === undefined) throw unknownEvent(event, WORKER_EVENTS);
    this.#worker.push({ event: known, pattern, handler, source: 'script' });
  }

  /** Removes the hooks of scripts; those of the manifest stay. */
  clearSession(event?: string): void {
    const name = event === undefined ? undefined : sessionEventNamed(event);
    this.#session = this.#session.filter((hook) => hook.source === 'manifest' || (name !== undefined && hook.event !== name));
  }

  /** Events for which scripts have hooks, each once. */
  scriptEvents(): readonly string[] {
    return [...new Set(this.#session.filter(({ source }) => source === 'script').map(({ event }) => event))];
  }

  /** Also while hooks are still being read: they may be about it. */
  has(event: SessionEvent): boolean {
    return this.#loading !== undefined || this.#session.some((hook) => hook.event === event);
  }

  /**
   * Runs the hooks of a step in order; each sees the payload as changed so far, the first refusal ends the chain.
   *
   * @returns the payload as they left it, with what they put in without seeing it
   * @throws what a hook throws, and a plain HarnError for a return value of no known shape
   */
  async runChain(event: SessionEvent, payload: JsonObject, tape: HookTape = NO_TAPE): Promise<HookOutcome> {
    if (this.#loading !== undefined) await this.#loading;
    const reminders: JsonObject[] = [];
    let current = payload;
    for (const hook of this.#chain(event, payload)) {
      tape({ kind: 'hook_call', event, payload });
      const verdict = readReturn(event, await hook.handler(shownPayload(current)), this.isApproved);
      reminders.push(...verdict.reminders);
      if (verdict.control === 'deny') {
        tape({ kind: 'hook_vetoed', event, reason: verdict.reason });
        return { control: 'deny', reason: verdict.reason, payload: current, reminders };
      }
      tape({ kind: 'hook_returned', event });
      current = withInputNoted({ ...current, ...pick(verdict.modify, MODIFIABLE[event] ?? []) });
    }
    return { control: 'allow', payload: current, reminders };
  }

  /** Runs hooks that only observe: what they return is ignored, what they throw is reported and goes no further. */
  async notify(event: SessionEvent, payload: JsonObject, report: (text: string) => void, tape: HookTape = NO_TAPE): Promise<void> {
    if (this.#loading !== undefined) await this.#loading;
    for (const hook of this.#chain(event, payload)) {
      tape({ kind: 'hook_call', event, payload });
      try {
        await hook.handler(payload);
      } catch (error) {
        report(`harn: hook ${event} failed: ${errorText(error)}`);
      }
      tape({ kind: 'hook_returned', event });
    }
  }

  async notifyWorker(event: WorkerEventName, payload: JsonObject, report: (text: string) => void): Promise<void> {
    if (this.#loading !== undefined) await this.#loading;
    for (const hook of this.#worker.filter((known) => known.event === event && matches(known.pattern, payload))) {
      try {
        refuseReminder(event, await hook.handler(payload));
      } catch (error) {
        report(`harn: worker hook ${event} failed: ${errorText(error)}`);
      }
    }
  }

  #chain(event: SessionEvent, payload: JsonObject): readonly Registration[] {
    const own = this.#session.filter((hook) => hook.event === event && matches(hook.pattern, payload));
    return [...own.filter((hook) => hook.source === 'manifest'), ...own.filter((hook) => hook.source === 'script')];
  }
}

type ReadReturn =
  | { readonly control: 'allow'; readonly modify: JsonObject; readonly reminders: readonly JsonObject[] }
  | { readonly control: 'deny'; readonly reason: string; readonly reminders: readonly JsonObject[] };

const DEFAULT_REASON = 'blocked by hook';

/** The return values of 10.2. */
function readReturn(event: string, returned: HookReturn, isApproved: boolean): ReadReturn {
  if (!('value' in returned)) throw badReturn(event, returned.typeName);
  return readValue(event, returned.value, isApproved);
}

function readValue(event: string, value: Json, isApproved: boolean): ReadReturn {
  if (value === null || value === true) return allow();
  if (value === false) return deny(undefined);
  if (typeof value === 'string') return readWord(event, value, { isApproved });
  if (Array.isArray(value)) return { ...allow(), reminders: value.map((entry: Json) => readReminder(event, entry)) };
  if (!isJsonObject(value)) throw badReturn(event, typeof value === 'number' && Number.isInteger(value) ? 'int' : 'float');
  if (typeof value.decision === 'string') return readWord(event, value.decision, { reason: value.reason, isApproved });
  if (value.block === true) return deny(value.reason);
  if (value.block === false) return allow();
  if (isJsonObject(value.modify)) return { control: 'allow', modify: value.modify, reminders: [] };
  if (isJsonObject(value.reminder)) return { ...readValue(event, value.then ?? null, isApproved), reminders: [value.reminder] };
  if (typeof value.body === 'string') return { ...allow(), reminders: [value] };
  throw badReturn(event, 'dict');
}

function readWord(
  event: string,
  word: string,
  { reason, isApproved }: { readonly reason?: Json | undefined; readonly isApproved: boolean },
): ReadReturn {
  switch (word.toLowerCase()) {
    case 'allow':
      return allow();
    case 'deny':
      return deny(reason);
    case 'ask':
      return isApproved ? allow() : deny('approval required');
    default:
      throw badReturn(event, `'${word}'`);
  }
}

function readReminder(event: string, entry: Json): JsonObject {
  if (!isJsonObject(entry)) throw badReturn(event, 'list');
  return isJsonObject(entry.reminder) ? entry.reminder : entry;
}

function allow(): ReadReturn & { control: 'allow' } {
  return { control: 'allow', modify: {}, reminders: [] };
}

function deny(reason: Json | undefined): ReadReturn {
  return { control: 'deny', reason: typeof reason === 'string' && reason !== '' ? reason : DEFAULT_REASON, reminders: [] };
}

function badReturn(event: string, typeName: string): HarnError {
  return new HarnError('plain', `hook ${event} returned ${typeName}; expected nil, a bool, a decision, {block}, {modify} or a reminder`);
}

function refuseReminder(event: string, returned: HookReturn): void {
  if (!('value' in returned) || !isJsonObject(returned.value)) return;
  if (returned.value.reminder === undefined && returned.value.body === undefined) return;
  const code = 'HARN-RMD-008';
  throw new HarnError(code, `${code}: reminders cannot be returned from worker event hook ${event}`);
}

/** What a hook may replace (10.2, 10.4). */
const MODIFIABLE: Partial<Record<SessionEvent, readonly string[]>> = {
  pre_suspend: ['reason'],
  pre_resume: ['resume_input', 'continue_transcript'],
  on_drain_decision: ['disposition', 'resume_input'],
};

/** A hook may write the input of a resume; no hook reads it, not even what another one wrote (10.4). */
function shownPayload({ resume_input: _unread, ...shown }: JsonObject): JsonObject {
  return shown;
}

function withInputNoted(payload: JsonObject): JsonObject {
  return typeof payload.resume_input === 'string' && payload.has_input === false ? { ...payload, has_input: true } : payload;
}

/** @throws plain HarnError that lists the valid names */
export function sessionEventNamed(event: string): SessionEvent {
  const snake = /^[A-Z]/.test(event) ? event.replaceAll(/(?!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase() : event;
  const known = SESSION_EVENTS.find((name) => name === snake);
  if (known === undefined) throw unknownEvent(event, SESSION_EVENTS);
  return known;
}

/** `pre_suspend` as the payload names it: `PreSuspend`. */
export function camelEventName(event: SessionEvent): string {
  return event.replaceAll(/(^|_)([a-z])/g, (_match, _bar, letter: string) => letter.toUpperCase());
}

function unknownEvent(event: string, known: readonly string[]): HarnError {
  return new HarnError('plain', `unknown hook event '${event}'; expected one of ${known.join(', ')}`);
}

/** A pattern with `*` is compared with the name of the worker, of the tool, or with the handle. */
function matches(pattern: string, payload: JsonObject): boolean {
  if (pattern === '*' || pattern === '') return true;
  const expression = new RegExp(`^${pattern.split('*').map(escapePattern).join('.*')}$`);
  const worker = isJsonObject(payload.worker) ? payload.worker.name : payload.worker_name;
  return [worker, payload.tool_name, payload.handle].some((subject) => typeof subject === 'string' && expression.test(subject));
}

function escapePattern(text: string): string {
  return text.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&');
}

function pick(values: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.filter((key) => values[key] !== undefined).map((key) => [key, values[key]]));
}
