import { agentValue, field, withoutHarness } from '../agents/agent-values.ts';
import { openMailbox, type WorkflowMailbox } from '../agents/workflow-mailbox.ts';
import type { Builtin, BuiltinGroup } from '../builtin.ts';
import type { Context } from '../context.ts';
import { display } from '../display.ts';
import { durationMs } from '../duration.ts';
import { plainError } from '../errors.ts';
import { toJson } from '../json.ts';
import type { Value } from '../value.ts';

/**
 * Messages to a workflow and answers from it: signals, queries of what it last published, updates that wait for an
 * answer. They pass between the parts of one run.
 */

type Args = readonly Value[];

function mailboxOf(context: Context, target: Value, operation: string): WorkflowMailbox {
  const id = typeof target === 'string' ? target : (field(target, 'workflow_id') ?? field(target, 'workflow'));
  if (typeof id !== 'string' || id.trim() === '') throw plainError(`${operation}: expected a workflow id or a dict with workflow_id`);
  return openMailbox(context.run, id);
}

function on(
  name: string,
  signature: string,
  doc: string,
  run: (mailbox: WorkflowMailbox, args: Args, context: Context) => Value,
): [string, Builtin] {
  return [
    name,
    {
      signature,
      doc,
      call: (context, _depth, ...given) => {
        const [target, ...args] = withoutHarness(given);
        return run(mailboxOf(context, target, name), args, context);
      },
    },
  ];
}

function nameOf(value: Value, operation: string): string {
  if (typeof value !== 'string' || value.trim() === '') throw plainError(`${operation}: name must be a non-empty string`);
  return value;
}

const continueAsNew = (name: string): [string, Builtin] =>
  on(
    name,
    '(target: any = nil) -> dict',
    'Starts the next generation of a workflow: what was asked of the last one is dropped.',
    (mailbox) => agentValue(mailbox.nextGeneration()),
  );

async function update(context: Context, given: Args): Promise<Value> {
  const [target, name, payload, options] = withoutHarness(given);
  const mailbox = mailboxOf(context, target, 'workflow.update');
  const timeout = field(options, 'timeout_ms') ?? field(options, 'timeout');
  const limit = durationMs(timeout);
  const named = nameOf(name, 'workflow.update');
  const answer = await mailbox.update(named, toJson(payload), {
    clock: context.run.platform.clock,
    signal: context.signal,
    timeoutMs: limit,
  });
  if (answer === undefined) throw plainError(`workflow.update: no answer to ${named} within ${limit ?? 0} ms`);
  return agentValue(answer.value);
}

export const WORKFLOW_MESSAGES: BuiltinGroup = {
  name: 'workflow-messages',
  title: 'Messages to workflows',
  builtins: {
    ...Object.fromEntries([
      on(
        'workflow.signal',
        '(target: any = nil, name: any = nil, payload: any = nil) -> dict',
        'Leaves a message for a workflow and does not wait.',
        (mailbox, [name, payload]) =>
          agentValue({ ...mailbox.send('signal', nameOf(name, 'workflow.signal'), toJson(payload)), status: mailbox.status() }),
      ),
      on(
        'workflow.receive',
        '(target: any = nil) -> any',
        'The oldest message that the workflow has not taken yet; nil without one.',
        (mailbox) => agentValue(mailbox.receive() ?? null),
      ),
      on(
        'workflow.publish_query',
        '(target: any = nil, name: any = nil, value: any = nil) -> dict',
        'Publishes a value for others to ask for by name.',
        (mailbox, [name, value]) => agentValue(mailbox.publish(nameOf(name, 'workflow.publish_query'), toJson(value))),
      ),
      on(
        'workflow.query',
        '(target: any = nil, name: any = nil) -> any',
        'What was last published under a name; nil without it.',
        (mailbox, [name]) => agentValue(mailbox.query(nameOf(name, 'workflow.query')) ?? null),
      ),
      on(
        'workflow.respond_update',
        '(target: any = nil, request_id: any = nil, value: any = nil, name: any = nil) -> dict',
        'Answers an update; whoever asked goes on with the value.',
        (mailbox, [id, value]) => agentValue({ delivered: mailbox.respond(display(id), toJson(value)) }),
      ),
      on('workflow.pause', '(target: any = nil) -> dict', 'Marks a workflow as paused and tells it.', (mailbox) =>
        agentValue(mailbox.setPaused('pause')),
      ),
      on('workflow.resume', '(target: any = nil) -> dict', 'Takes the mark away and tells it.', (mailbox) =>
        agentValue(mailbox.setPaused('resume')),
      ),
      on('workflow.status', '(target: any = nil) -> dict', 'Generation, pause, and how much is waiting.', (mailbox) =>
        agentValue(mailbox.status()),
      ),
      continueAsNew('workflow.continue_as_new'),
      continueAsNew('continue_as_new'),
      // For std/agents, where both other names are its own.
      continueAsNew('__continue_as_new'),
    ]),
    'workflow.update': {
      signature: '(target: any = nil, name: any = nil, payload: any = nil, options: any = nil) -> any',
      doc: 'Asks a workflow for something and waits for its answer, `timeout_ms` (30000) at most.',
      colour: 'async',
      call: (context, _depth, ...given) => update(context, given),
    },
  },
};
