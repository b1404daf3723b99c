import type { Context } from './context.ts';
import { dictEntries, dictOf } from './dict.ts';
import { stringify } from './json.ts';
import { terminalOf } from './terminal.ts';
import { Dict, type Value } from './value.ts';

/** Structured log lines and spans of a run (spec/language.md 12.15). */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly startedAt: number;
}

interface FinishedSpan extends Span {
  readonly durationMs: number;
}

interface LogState {
  level: LogLevel;
  collectsSpans: boolean;
  readonly finished: FinishedSpan[];
  /** Open spans by task, the innermost last. */
  readonly open: Map<string, Span[]>;
}

const LOG = Symbol('log');

export function logState(context: Context): LogState {
  return context.run.service(LOG, (): LogState => ({ level: 'debug', collectsSpans: false, finished: [], open: new Map() }));
}

export function isLogLevel(name: string): name is LogLevel {
  return (LOG_LEVELS as readonly string[]).includes(name);
}

/** One JSON object on a line of standard error, unless the level is below the one that was set. */
export function writeLog(context: Context, level: LogLevel, message: string, fields: Value): void {
  if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(logState(context).level)) return;
  const span = currentSpan(context);
  const trace: [string, Value][] =
    span === undefined
      ? []
      : [
          ['trace_id', span.traceId],
          ['span_id', span.spanId],
        ];
  writeRecord(context, [...trace, ...(fields instanceof Dict ? dictEntries(fields) : []), ['level', level], ['msg', message]]);
}

export function writeRecord(context: Context, entries: readonly (readonly [string, Value])[]): void {
  const now = new Date(context.run.platform.clock.now()).toISOString();
  terminalOf(context).writeError(`${stringify(dictOf([...entries, ['ts', now]]))}\n`);
}

export function currentSpan(context: Context): Span | undefined {
  return logState(context).open.get(context.taskId)?.at(-1);
}

/** A span inside the one that is open in this task, if any. */
export function startSpan(context: Context, name: string): Span {
  const { platform } = context.run;
  const hex = (bytes: number): string => Buffer.from(platform.random.bytes(bytes)).toString('hex');
  const span = { name, traceId: currentSpan(context)?.traceId ?? hex(16), spanId: hex(8), startedAt: platform.clock.now() };
  const { open } = logState(context);
  open.set(context.taskId, [...(open.get(context.taskId) ?? []), span]);
  return span;
}

/** Ends a span wherever it was opened. @returns undefined when it is not open */
export function endSpan(context: Context, spanId: string): FinishedSpan | undefined {
  const state = logState(context);
  for (const [task, spans] of state.open) {
    const span = spans.find((candidate) => candidate.spanId === spanId);
    if (span === undefined) continue;
    const rest = spans.filter((candidate) => candidate !== span);
    if (rest.length === 0) state.open.delete(task);
    else state.open.set(task, rest);
    const finished = { ...span, durationMs: context.run.platform.clock.now() - span.startedAt };
    if (state.collectsSpans) state.finished.push(finished);
    return finished;
  }
  return undefined;
}
