import type { BuiltinGroup } from '../builtin.ts';
import { supervisors } from '../concurrency/supervisor.ts';
import { supervisorState } from '../concurrency/supervisor-view.ts';
import { syncLocks } from '../concurrency/sync.ts';
import type { Context } from '../context.ts';
import { dictOf } from '../dict.ts';
import { display } from '../display.ts';
import { isCancelled, ROOT_TASK_ID, taskTree } from '../task-context.ts';
import type { Dict, Value } from '../value.ts';

/** What the agent half knows about the loop, trigger or worker a task runs in: fields that are nil outside. */
export interface AgentIdentity {
  runtimeContextFields(): Readonly<Record<string, Value>>;
}

/** Always present, nil where nothing is known (spec/language.md 10.6). */
const IDENTITY_FIELDS = [
  'scope_id',
  'workflow_id',
  'run_id',
  'stage_id',
  'worker_id',
  'agent_session_id',
  'parent_agent_session_id',
  'root_agent_session_id',
  'agent_name',
  'trigger_id',
  'trigger_event_id',
  'binding_key',
  'tenant_id',
  'provider',
  'trace_id',
  'span_id',
  'scheduler_key',
  'runner',
  'capacity_class',
] as const;

const CURRENT_DOC =
  'The identity of the running task: task_id, parent_task_id, root_task_id, task_name, task_group_id, cancelled, context_values, and what is known of the surrounding agent, workflow and trigger.';

export const runtimeContextBuiltins: BuiltinGroup = {
  name: 'runtime-context',
  title: 'The running task',
  builtins: {
    runtime_context: { signature: '() -> dict', doc: CURRENT_DOC, call: (context) => currentTask(context) },
    task_current: { signature: '() -> dict', doc: CURRENT_DOC, call: (context) => currentTask(context) },
    runtime_context_values: {
      signature: '() -> dict',
      doc: 'All values kept with this task.',
      call: (context) => dictOf(context.values),
    },
    runtime_context_get: {
      signature: '(key: any, default: any = nil) -> any',
      doc: 'A value kept with this task, or the default.',
      call: (context, _depth, key, otherwise) => {
        const name = display(key);
        return context.values.has(name) ? context.values.get(name) : otherwise;
      },
    },
    runtime_context_set: {
      signature: '(key: any, value: any) -> any',
      doc: 'Keeps a value with this task and gives the previous one. Tasks started later begin with a copy; changes do not flow back.',
      call: (context, _depth, key, value) => {
        const name = display(key);
        const previous = context.values.get(name);
        context.values.set(name, value);
        return previous;
      },
    },
    runtime_context_clear: {
      signature: '(key: any) -> any',
      doc: 'Forgets a value kept with this task and gives it.',
      call: (context, _depth, key) => {
        const name = display(key);
        const previous = context.values.get(name);
        context.values.delete(name);
        return previous;
      },
    },
  },
};

function currentTask(context: Context): Dict {
  const known = isAgentIdentity(context.agent) ? context.agent.runtimeContextFields() : {};
  return dictOf([
    ...IDENTITY_FIELDS.map((name): [string, Value] => [name, known[name]]),
    ['task_id', context.taskId],
    ['parent_task_id', context.parent?.taskId],
    ['root_task_id', ROOT_TASK_ID],
    ['task_name', context.taskName],
    ['task_group_id', context.taskGroupId],
    ['context_values', dictOf(context.values)],
    ['cancelled', isCancelled(context)],
    ['debug', debugFields(context)],
  ]);
}

function debugFields(context: Context): Dict {
  const { run, taskId } = context;
  const held = syncLocks(run).heldBy(taskId);
  return dictOf([
    ['active_task_ids', taskTree(run).activeTaskIds()],
    ['cancelled', isCancelled(context)],
    [
      'held_synchronization',
      held.map((permit) =>
        dictOf([
          ['kind', permit.kind],
          ['key', permit.key],
        ]),
      ),
    ],
    ['supervisors', supervisors(run).map(supervisorState)],
  ]);
}

function isAgentIdentity(agent: unknown): agent is AgentIdentity {
  return typeof agent === 'object' && agent !== null && 'runtimeContextFields' in agent;
}
