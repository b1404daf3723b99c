import { field } from '../agents/agent-values.ts';
import { textArgument } from '../arguments.ts';
import type { Builtin, BuiltinGroup } from '../builtin.ts';
import { dictOf } from '../dict.ts';
import { isTruthy } from '../equality.ts';
import { thrownText } from '../errors.ts';
import {
  currentSpan,
  endSpan,
  isLogLevel,
  LOG_LEVELS,
  type LogLevel,
  logState,
  type Span,
  startSpan,
  writeLog,
  writeRecord,
} from '../log.ts';
import type { Value } from '../value.ts';

/** Structured logs and spans (spec/language.md 12.15). */
export const LOGGING: BuiltinGroup = {
  name: 'logging',
  title: 'Logging and tracing',
  errors: [{ text: "log_set_level: unknown level 'L'; use debug, info, warn, error", when: '`log_set_level`' }],
  builtins: {
    log_debug: logging('debug'),
    log_info: logging('info'),
    log_warn: logging('warn'),
    log_error: logging('error'),
    log_set_level: {
      signature: '(level: any) -> nil',
      doc: 'Leaves out what is below `debug`, `info`, `warn` or `error`.',
      call: (c, _d, level) => {
        const name = textArgument(level);
        if (!isLogLevel(name)) throw thrownText(`log_set_level: unknown level '${name}'; use ${LOG_LEVELS.join(', ')}`);
        logState(c).level = name;
      },
    },
    log_json: {
      signature: '(key: any, value: any) -> nil',
      doc: 'Writes one value under a key as a line of JSON on standard error.',
      call: (c, _d, key, value) => writeRecord(c, [[textArgument(key), value]]),
    },
    trace_start: {
      signature: '(name: any) -> dict',
      doc: 'Opens a span: `{trace_id, span_id, name, start_ms}`. Log lines carry its ids until trace_end.',
      call: (c, _d, name) => spanValue(startSpan(c, textArgument(name))),
    },
    trace_end: {
      signature: '(span: any) -> nil',
      doc: 'Closes a span and logs how long it took.',
      call: (c, _d, span) => {
        const finished = endSpan(c, textArgument(field(span, 'span_id')));
        if (finished === undefined) return;
        const fields = dictOf([...spanEntries(finished), ['duration_ms', finished.durationMs]]);
        writeLog(c, 'info', 'span_end', fields);
      },
    },
    trace_id: {
      signature: '() -> string | nil',
      doc: 'The id of the trace that this task is in.',
      call: (c) => currentSpan(c)?.traceId,
    },
    enable_tracing: {
      signature: '(enabled: any = true) -> nil',
      doc: 'Whether closed spans are kept for trace_spans.',
      call: (c, _d, ...args) => {
        logState(c).collectsSpans = args.length === 0 || isTruthy(args[0]);
      },
    },
    trace_spans: {
      signature: '() -> list<dict>',
      doc: 'The closed spans that were kept, with `duration_ms`.',
      call: (c) => logState(c).finished.map((span) => dictOf([...spanEntries(span), ['duration_ms', span.durationMs]])),
    },
    trace_summary: {
      signature: '() -> string',
      doc: 'The closed spans that were kept, a line each.',
      call: (c) =>
        logState(c)
          .finished.map(({ name, durationMs }) => `${name}: ${durationMs}ms`)
          .join('\n'),
    },
  },
};

function logging(level: LogLevel): Builtin {
  return {
    signature: '(message: any, fields: any = nil) -> nil',
    doc: `Writes a line of JSON with the level \`${level}\`, the message and the fields to standard error.`,
    call: (c, _d, message, fields) => writeLog(c, level, textArgument(message), fields),
  };
}

function spanEntries({ name, traceId, spanId, startedAt }: Span): [string, Value][] {
  return [
    ['trace_id', traceId],
    ['span_id', spanId],
    ['name', name],
    ['start_ms', startedAt],
  ];
}

function spanValue(span: Span): Value {
  return dictOf(spanEntries(span));
}
