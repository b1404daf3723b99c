/**
 * The codes that a running agent may report, each defined once. `harn explain CODE` and the reference pages are made
 * from this table. Codes are never used again for another fault. The codes of the compiler live with it.
 */
export interface ErrorCode {
  readonly code: string;
  readonly title: string;
  /** The message as printed after the code; `{…}` marks what varies. */
  readonly text: string;
  /** Why it happens. */
  readonly cause: string;
  /** What the error value holds beside its code and message; `detail.x` is a member of `detail`. */
  readonly fields?: readonly string[];
  /** A few lines of Harn, or a command, that lead to it. */
  readonly example: string;
  /** What to do next. */
  readonly fix: string;
  /** Whether trying the same thing again can help. */
  readonly retry: 'never' | 'later';
}

const SUSPEND_CODES: readonly ErrorCode[] = [
  {
    code: 'HARN-SUS-001',
    title: 'Only a running worker can be suspended',
    text: 'suspend_agent: worker {id} is not running (status={status})',
    cause:
      'The worker has finished, failed, been closed, waits for its next trigger, was interrupted by a crash, or runs in another process.',
    fields: ['worker_id', 'status', 'detail.owner: "other-process" when it runs elsewhere'],
    example: 'let h = spawn_agent({task: "count"})\nwait_agent(h)\nsuspend_agent(h, "too late")',
    fix: 'Look at `status` in `list_agents()` first. Send the request to the process that runs the worker when `detail.owner` says "other-process".',
    retry: 'never',
  },
  {
    code: 'HARN-SUS-002',
    title: 'The resume conditions are not valid',
    text: 'invalid ResumeConditions.{field}: {problem}',
    cause: 'A field of the conditions is unknown, missing or of the wrong type. `field` is the path of the first one found.',
    fields: ['field: path of the first faulty field, nil for the root', 'operation', 'detail.expected, detail.got'],
    example: 'parse_resume_conditions({timeout: {duration_minutes: 1.5}})',
    fix: 'Correct the field that the message names. `timeout.duration_minutes` is a positive int, `on_event` a topic name, `trigger` a dict with `kind` and `provider`.',
    retry: 'never',
  },
  {
    code: 'HARN-SUS-003',
    title: 'The worker is not suspended',
    text: 'resume_agent: worker {id} is not suspended (status={status})',
    cause: 'It is still running, already runs again because somebody else resumed it, or has ended.',
    fields: ['worker_id', 'status', 'detail.handle: the current summary'],
    example: 'let h = spawn_agent({task: "count"})\nresume_agent(h)',
    fix: 'Use `wait_agent` on `detail.handle` to get the outcome of the run in progress. A finished worker takes a new task with `send_input`.',
    retry: 'never',
  },
  {
    code: 'HARN-SUS-004',
    title: 'The snapshot cannot be loaded',
    text: 'resume_agent: failed to load snapshot `{target}`: {cause}',
    cause:
      'The file is missing, damaged, too large, written by a newer harn, does not fit the script any more, or names a suspension that is over. `detail.reason` says which.',
    fields: [
      'path',
      'worker_id when it is known',
      'detail.reason: missing, malformed, version, integrity, program, tools, closures, stale or size',
      'detail.tried: where a missing file was looked for',
      'detail.found, detail.supported: formats, for version',
      'detail.suspension_id, detail.current_suspension_id: for stale',
    ],
    example: 'harn run --resume .harn/workers/worker_gone.json',
    fix: 'Check the path (`detail.tried` lists where it was looked for). For reason `version` upgrade harn, for `program` or `tools` restore the script as it was when the agent parked, for `stale` resume the current suspension. `harn workers why` shows what changed in the script.',
    retry: 'never',
  },
  {
    code: 'HARN-SUS-005',
    title: 'agent_await_resumption was used the wrong way',
    text: 'agent_await_resumption reason is required',
    cause: 'The reason was blank, or the function was called as the handler of a tool instead of being recognised by the loop.',
    fields: ['operation: "agent_await_resumption"', 'detail.reason: blank_reason or not_structural'],
    example: 'agent_await_resumption("  ")',
    fix: 'Give a reason that says what the agent waits for. Do not register the function as a handler: every agent loop offers it to the model by itself.',
    retry: 'never',
  },
  {
    code: 'HARN-SUS-006',
    title: 'Somebody else changed the worker first',
    text: 'resume_agent: worker {id} changed before resume could complete (status={status})',
    cause:
      'Two resumes, or a resume and a close, met. Exactly one of them wins; this one did nothing. The text begins with the operation that was asked for: `close_agent` and `suspend_agent` say so likewise.',
    fields: [
      'worker_id',
      'status',
      'detail.retryable',
      'detail.generation',
      'detail.owner_pid and detail.suspension_id where they are known',
    ],
    example: 'harn run --resume SNAPSHOT.json &\nharn run --resume SNAPSHOT.json',
    fix: 'Wait for the winner with `wait_agent`, or try again: the answer is then HARN-SUS-003 while it runs, or a resume of its next suspension.',
    retry: 'later',
  },
  {
    code: 'HARN-SUS-007',
    title: 'The trigger could not be registered',
    text: 'auto_resume: failed to register trigger: {reason}',
    cause: 'The spec is well formed, but its provider refuses it, or its schedule never comes due.',
    fields: ['worker_id', 'field: "trigger"', 'detail.provider', 'detail.suspended: whether the worker is parked all the same'],
    example: 'suspend_agent(h, "wait", {conditions: {trigger: {kind: "tick", provider: "cron", schedule: "0 0 30 2 *"}}})',
    fix: 'Check the provider and its settings. When `detail.suspended` is true the worker is parked and can be resumed by hand.',
    retry: 'never',
  },
  {
    code: 'HARN-SUS-008',
    title: 'The timeout action is not known',
    text: 'auto_resume: unsupported conditions.timeout.on_timeout `{value}`; expected resume_with_summary, resume_with_input, or fail',
    cause: '`on_timeout` is not one of the three actions.',
    fields: ['field: "timeout.on_timeout"', 'detail.got'],
    example: 'parse_resume_conditions({timeout: {duration_minutes: 5, on_timeout: "retry"}})',
    fix: 'Use "resume_with_summary", "resume_with_input" or "fail", or leave it out for the first.',
    retry: 'never',
  },
  {
    code: 'HARN-SUS-009',
    title: 'The resume input is blank',
    text: 'resume_agent: resume input must be nil or non-empty text',
    cause: 'An empty text would look like an answer to the model without being one.',
    fields: ['worker_id when it is known; never the input'],
    example: 'resume_agent(h, "   ")',
    fix: 'Pass nil to resume without input.',
    retry: 'never',
  },
  {
    code: 'HARN-SUS-010',
    title: 'The worker was closed',
    text: 'resume_agent: worker {id} was closed and cannot be resumed',
    cause: '`close_agent` ended it for good; its snapshot stays for inspection only.',
    fields: ['worker_id', 'status: "cancelled"', 'path when a file was named'],
    example: 'close_agent(h)\nresume_agent(h)',
    fix: 'Start a new worker.',
    retry: 'never',
  },
];

const REMINDER_CODES: readonly ErrorCode[] = [
  {
    code: 'HARN-RMD-001',
    title: 'Unknown key in the options of a reminder',
    text: 'unrecognised option `{key}`',
    cause: 'The options name something that reminders do not have.',
    example: 'agent_loop("go", nil, {reminders: {enable: false}})',
    fix: 'Use `enabled`, `providers` and `config`.',
    retry: 'never',
  },
  {
    code: 'HARN-RMD-002',
    title: 'A reminder has the wrong shape',
    text: 'invalid reminder: {problem}',
    cause: 'A reminder is a dict with a `body` that is not blank; the other keys have fixed types.',
    example: 'transcript.inject_reminder(t, {body: ""})',
    fix: 'Correct the key that the message names.',
    retry: 'never',
  },
  {
    code: 'HARN-RMD-003',
    title: 'The route cannot render a user block',
    text: 'role_hint "user_block" cannot be rendered on this route',
    cause:
      'The model that is asked has no place for it. Every route that harn has shows it as a message of the user, so that nothing reports this at present.',
    example: 'transcript.inject_reminder(t, {body: "x", role_hint: "user_block"})',
    fix: 'Leave `role_hint` out, or use "system".',
    retry: 'never',
  },
  {
    code: 'HARN-RMD-004',
    title: 'A reminder would be repeated for ever',
    text: 'a reminder that compaction may drop has no ttl_turns',
    cause: 'Without `ttl_turns` it is shown in every turn until a compaction removes it. Only `harn check` says this.',
    example: 'transcript.inject_reminder(t, {body: "be brief"})',
    fix: 'Set `ttl_turns`, or `preserve_on_compact: true` when it must stay.',
    retry: 'never',
  },
  {
    code: 'HARN-RMD-005',
    title: 'Unknown value of `propagate`',
    text: 'unsupported propagate `{value}`; expected all, session, or none',
    cause: 'The three words say how far a reminder reaches.',
    example: 'transcript.inject_reminder(t, {body: "x", propagate: "children"})',
    fix: 'Use "all", "session" or "none".',
    retry: 'never',
  },
  {
    code: 'HARN-RMD-006',
    title: 'A reminder provider returned something else than a reminder',
    text: 'provider `{id}` returned an invalid reminder: {problem}',
    cause: 'A provider gives a reminder, a list of them, or nil. The standard providers do; others cannot be registered at present.',
    example: 'a provider that returns 5',
    fix: 'Correct the provider, or switch it off with "-{id}".',
    retry: 'never',
  },
  {
    code: 'HARN-RMD-007',
    title: 'Many reminder providers are enabled',
    text: '{count} reminder providers are enabled',
    cause: 'Each of them may add text to every turn. The standard providers are not too many, so that nothing reports this at present.',
    example: 'a loop that names ten providers',
    fix: 'Enable the ones that the task needs.',
    retry: 'never',
  },
  {
    code: 'HARN-RMD-008',
    title: 'A worker event hook tried to add a reminder',
    text: 'reminders cannot be returned from worker event hook {event}',
    cause: 'Hooks on worker events only observe.',
    example: 'register_worker_hook("WorkerCompleted", { e -> {reminder: {body: "x"}} })',
    fix: 'Use a session hook such as `post_turn`.',
    retry: 'never',
  },
];

const CHANNEL_CODES: readonly ErrorCode[] = [
  {
    code: 'HARN-CHN-001',
    title: 'A pipeline channel was used outside a pipeline',
    text: 'channel `{name}`: scope pipeline needs a running pipeline',
    cause: 'The scope `pipeline` belongs to the pipeline that runs, and none does.',
    example: 'emit_channel("pipeline:done", {})   // at the top level of a script',
    fix: 'Name another scope, or pass `pipeline_id`.',
    retry: 'never',
  },
  {
    code: 'HARN-CHN-002',
    title: 'The channel belongs to somebody else',
    text: 'channel `{name}`: {problem}',
    cause: 'Channels of another tenant and of the scope `org` cannot be used from a script.',
    example: 'emit_channel("org:news", {})',
    fix: 'Use a channel of your own tenant, session or pipeline.',
    retry: 'never',
  },
  {
    code: 'HARN-CHN-003',
    title: 'The name of the channel is malformed',
    text: 'channel `{name}`: {problem}',
    cause: 'Names consist of letters, digits, dots, underscores and hyphens, with at most one scope in front.',
    example: 'emit_channel("two words", {})',
    fix: 'Rename the channel.',
    retry: 'never',
  },
  {
    code: 'HARN-CHN-004',
    title: 'Two scopes for one channel',
    text: 'channel `{name}`: the option scope `{scope}` contradicts the name',
    cause: 'The prefix of the name and `options.scope` say different things.',
    example: 'emit_channel("session:x", {}, {scope: "tenant"})',
    fix: 'Give the scope once.',
    retry: 'never',
  },
  {
    code: 'HARN-CHN-005',
    title: 'The batch settings are not valid',
    text: 'invalid batch: {problem}',
    cause: '`batch` is a dict with a positive `count` or `window_ms`.',
    example: 'trigger_register({kind: "channel.emit", provider: "channel", batch: 3, …})',
    fix: 'Correct the setting that the message names.',
    retry: 'never',
  },
];

export const ERROR_CODES: readonly ErrorCode[] = [...SUSPEND_CODES, ...REMINDER_CODES, ...CHANNEL_CODES];
