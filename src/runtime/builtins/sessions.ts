import { decodeMessage } from '../../agent/transcript/decode-message.ts';
import { messageText } from '../../agent/transcript/message.ts';
import { unansweredCount } from '../../agent/transcript/session-edit.ts';
import { currentLoop } from '../agents/agent-context.ts';
import { wakeSession } from '../agents/agent-lifecycle.ts';
import { type AgentServices, agentServices, inboxOf } from '../agents/agent-services.ts';
import { agentValue, withoutHarness } from '../agents/agent-values.ts';
import { planCompaction } from '../agents/transcript-compaction.ts';
import type { Builtin, BuiltinGroup } from '../builtin.ts';
import { callValue } from '../call.ts';
import { ExitRequest } from '../caught.ts';
import type { Context } from '../context.ts';
import { dictOf } from '../dict.ts';
import { display } from '../display.ts';
import { plainError } from '../errors.ts';
import { failureText } from '../failure.ts';
import { toJson } from '../json.ts';
import { isCallable, type Value } from '../value.ts';

/** Named histories (spec/agents.md 3.11). */

interface Call {
  readonly services: AgentServices;
  readonly context: Context;
  readonly args: readonly Value[];
}

function session(signature: string, doc: string, run: (call: Call) => Value): Builtin {
  return {
    signature,
    doc,
    call: (context, _depth, ...args) => run({ services: agentServices(context.run), context, args: withoutHarness(args) }),
  };
}

function id(value: Value, operation: string): string {
  const text = value === undefined ? '' : display(value);
  if (text.trim() === '') throw plainError(`${operation}: missing session id`);
  return text;
}

function newId(value: Value, operation: string): string | undefined {
  return value === undefined ? undefined : id(value, operation);
}

function whole(value: Value, operation: string): number {
  if (typeof value !== 'number' || value < 0) throw plainError(`${operation}: expected a count`);
  return value;
}

const DEFAULT_KEPT = 12;

async function compact(context: Context, [sessionId, options]: readonly Value[]): Promise<Value> {
  const operation = 'agent_session_compact';
  const { sessions, events } = agentServices(context.run);
  const name = id(sessionId, operation);
  const { messages } = sessions.required(name, operation);
  const answered = sessions.isInUse(name) ? messages.slice(0, messages.length - unansweredCount(messages)) : messages;
  const plan = await planCompaction(context, answered, options, { operation, keepLast: DEFAULT_KEPT });
  // Whoever wrote the summary took their time: what was said meanwhile stays, what was cut meanwhile is not cut again.
  if (plan !== undefined && sessions.compact(name, plan, answered, operation))
    events.emit({ type: 'transcript_compacted', session_id: name, ...plan.event.metadata });
  return sessions.required(name, operation).messages.length;
}

/** The transcript of a running loop is its own: a message waits for its next turn, and wakes it from an idle. */
function tellLoop(context: Context, services: AgentServices, sessionId: string, text: string): void {
  inboxOf(services, sessionId).hostMessages.push(text);
  wakeSession(context.run, sessionId);
}

/** The subscriber runs when the event happens; what it throws is told, and is not the loop's matter. */
function subscribe({ services, context, args: [sessionId, listener] }: Call): Value {
  if (!isCallable(listener)) throw plainError('agent_subscribe: expected a function');
  const session = id(sessionId, 'agent_subscribe');
  const { run } = context;
  const tellFailure = (error: unknown): void => {
    if (error instanceof ExitRequest) run.end(error);
    else if (!context.signal.aborted) run.output.err(`warning: a subscriber of session ${session} failed: ${failureText(error)}\n`);
  };
  services.events.subscribe(session, (event) => {
    try {
      const answer = callValue(context, 0, listener, agentValue(event));
      if (answer instanceof Promise) void answer.catch(tellFailure);
    } catch (error) {
      tellFailure(error);
    }
  });
  return undefined;
}

/** Listens for as long as the function runs. */
async function captureEvents(context: Context, [sessionId, body]: readonly Value[]): Promise<Value> {
  if (!isCallable(body)) throw plainError('agent_capture_events: expected a function');
  const events: Value[] = [];
  const stop = agentServices(context.run).events.subscribe(id(sessionId, 'agent_capture_events'), (event) => {
    events.push(agentValue(event));
  });
  try {
    const result = await callValue(context, 0, body);
    return dictOf([
      ['result', result],
      ['events', events],
    ]);
  } finally {
    stop();
  }
}

export const SESSIONS: BuiltinGroup = {
  name: 'sessions',
  title: 'Agent sessions',
  errors: [
    { text: 'NAME: missing session id', when: 'no id, where one is needed' },
    { text: 'NAME: unknown session: ID', when: 'a session that is not there' },
    { text: 'NAME: there is a session ID already', when: '`agent_session_fork`, `agent_session_fork_at`' },
    { text: 'NAME: expected a count', when: '`agent_session_trim`, `agent_session_fork_at`' },
    { text: 'agent_subscribe: expected a function', when: '`agent_subscribe`' },
  ],
  builtins: {
    agent_session_open: session(
      '(id: any = nil) -> string',
      'Creates a session or reuses it; answers its id.',
      ({ services, args: [given] }) => services.sessions.open(newId(given, 'agent_session_open')),
    ),
    agent_session_exists: session('(id: any = nil) -> bool', 'Whether there is such a session.', ({ services, args: [given] }) =>
      services.sessions.exists(id(given, 'agent_session_exists')),
    ),
    agent_session_current_id: session(
      '() -> any',
      'The session of the innermost running loop, or nil.',
      ({ context }) => currentLoop(context)?.sessionId,
    ),
    agent_session_length: session(
      '(id: any = nil) -> int',
      'How many messages it has.',
      ({ services, args: [given] }) =>
        services.sessions.required(id(given, 'agent_session_length'), 'agent_session_length').messages.length,
    ),
    agent_session_messages: session('(id: any = nil) -> list', 'Its messages.', ({ services, args: [given] }) =>
      agentValue(services.sessions.required(id(given, 'agent_session_messages'), 'agent_session_messages').messages),
    ),
    agent_session_snapshot: session(
      '(id: any = nil) -> any',
      'Its transcript, and where it was forked from and to; nil for an unknown session.',
      ({ services, args: [given] }) => agentValue(services.sessions.snapshot(id(given, 'agent_session_snapshot'))),
    ),
    agent_session_ancestry: session(
      '(id: any = nil) -> dict',
      'Where it was forked from, and what was forked from it.',
      ({ services, args: [given] }) => agentValue(services.sessions.ancestry(id(given, 'agent_session_ancestry'))),
    ),
    agent_session_reset: session('(id: any = nil) -> nil', 'Empties it.', ({ services, args: [given] }) => {
      services.sessions.reset(id(given, 'agent_session_reset'), 'agent_session_reset');
      return undefined;
    }),
    agent_session_close: session('(id: any = nil) -> nil', 'Forgets it.', ({ services, args: [given] }) => {
      services.sessions.close(id(given, 'agent_session_close'), 'agent_session_close');
      return undefined;
    }),
    agent_session_fork: session('(id: any, new_id: any = nil) -> string', 'A copy; answers its id.', ({ services, args: [given, copy] }) =>
      services.sessions.fork(id(given, 'agent_session_fork'), 'agent_session_fork', newId(copy, 'agent_session_fork')),
    ),
    agent_session_fork_at: session(
      '(id: any, count: any = nil, new_id: any = nil) -> string',
      'A copy of the first messages; answers its id.',
      ({ services, args: [given, count, copy] }) =>
        services.sessions.fork(
          id(given, 'agent_session_fork_at'),
          'agent_session_fork_at',
          newId(copy, 'agent_session_fork_at'),
          whole(count, 'agent_session_fork_at'),
        ),
    ),
    agent_session_trim: session(
      '(id: any, keep_last: any = nil) -> int',
      'Keeps the last messages; answers how many.',
      ({ services, args: [given, keep] }) => {
        const name = id(given, 'agent_session_trim');
        services.sessions.trim(name, whole(keep, 'agent_session_trim'), 'agent_session_trim');
        return services.sessions.required(name, 'agent_session_trim').messages.length;
      },
    ),
    agent_session_compact: {
      signature: '(id: any, options: any = nil) -> int',
      doc: 'Earlier messages but `keep_last` (12) give way to a summary; options as for `transcript_compact`. Answers how many are left.',
      colour: 'async',
      call: (context, _depth, ...args) => compact(context, withoutHarness(args)),
    },
    agent_session_inject: session(
      '(id: any, message: any = nil) -> nil',
      'Appends a message; a running loop of the session takes it up before its next model call.',
      ({ services, context, args: [given, message] }) => {
        const decoded = decodeMessage(toJson(message), 'agent_session_inject');
        const sessionId = id(given, 'agent_session_inject');
        if (services.sessions.isInUse(sessionId)) tellLoop(context, services, sessionId, messageText(decoded));
        else services.sessions.inject(sessionId, decoded, 'agent_session_inject');
        return undefined;
      },
    ),
    __agent_capture_events: {
      signature: '(id: any, body: any) -> dict',
      doc: 'Behind `agent_capture_events` of std/agent/events.',
      colour: 'async',
      call: (context, _depth, ...args) => captureEvents(context, withoutHarness(args)),
    },
    agent_subscribe: session('(id: any, listener: any = nil) -> nil', 'Calls the function with every event of the session.', subscribe),
  },
};
