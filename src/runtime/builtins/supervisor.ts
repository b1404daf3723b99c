import type { BuiltinGroup } from '../builtin.ts';
import { type ChildSpec, type Strategy, Supervisor, supervisors } from '../concurrency/supervisor.ts';
import { DEFAULT_POLICY, type RestartMode, type RestartPolicy } from '../concurrency/supervisor-policy.ts';
import { supervisorEvents, supervisorHandle, supervisorMetrics, supervisorState } from '../concurrency/supervisor-view.ts';
import type { Context } from '../context.ts';
import { dictGet } from '../dict.ts';
import { display } from '../display.ts';
import { durationMs } from '../duration.ts';
import { runtimeError } from '../errors.ts';
import { Dict, Float, isCallable, typeOf, type Value } from '../value.ts';

const DEFAULT_STOP_MS = 5_000;
const STRATEGIES: readonly Strategy[] = ['one_for_one', 'one_for_all', 'rest_for_one', 'escalate_to_parent'];
const MODES: readonly RestartMode[] = ['never', 'on_failure', 'always'];

export const supervisorBuiltins: BuiltinGroup = {
  name: 'supervisor',
  title: 'Supervisors',
  errors: [
    { text: 'Runtime error: supervisor_start: …', when: 'a specification that is not valid' },
    { text: "Runtime error: NAME: unknown supervisor 'S'", when: 'a handle of nothing' },
  ],
  builtins: {
    supervisor_start: {
      signature: '(spec: dict) -> dict',
      doc: 'Starts children that are restarted by a policy: {name, strategy, children: [{name, kind, restart, task}]}. Gives a handle.',
      call: (context, _depth, spec) => {
        const all = supervisors(context.run);
        const supervisor = decodeSupervisor(context, spec, `supervisor_${all.length + 1}`);
        all.push(supervisor);
        supervisor.start();
        return supervisorHandle(supervisor);
      },
    },
    supervisor_state: {
      signature: '(handle: dict | string) -> dict',
      doc: 'Status of a supervisor and its children: {id, name, strategy, status, children, metrics}.',
      call: (context, _depth, handle) => supervisorState(find(context, 'supervisor_state', handle)),
    },
    supervisor_events: {
      signature: '(handle: dict | string) -> list<dict>',
      doc: 'What has happened to a supervisor and its children: {seq, at_ms, supervisor_id, child, kind, message}.',
      call: (context, _depth, handle) => supervisorEvents(find(context, 'supervisor_events', handle)),
    },
    supervisor_metrics: {
      signature: '(handle: dict | string) -> dict',
      doc: 'Counters of a supervisor: started, stopped, failed, restarted, suppressed, escalated.',
      call: (context, _depth, handle) => supervisorMetrics(find(context, 'supervisor_metrics', handle)),
    },
    supervisor_stop: {
      signature: '(handle: dict | string, timeout: duration | int = 5000) -> dict',
      doc: 'Asks the children to end, which they see by is_cancelled(), waits, and aborts those that do not. Gives the state.',
      colour: 'async',
      call: async (context, _depth, handle, timeout) => {
        const supervisor = find(context, 'supervisor_stop', handle);
        await supervisor.stop(context, durationMs(timeout) ?? DEFAULT_STOP_MS);
        return supervisorState(supervisor);
      },
    },
  },
};

/** Finds a supervisor by handle, id or name; of several with one name the latest. */
function find(context: Context, caller: string, handle: Value): Supervisor {
  const wanted = handle instanceof Dict ? dictGet(handle, 'id') : handle;
  const found = supervisors(context.run).findLast((supervisor) => supervisor.id === wanted || supervisor.name === wanted);
  if (found === undefined) throw runtimeError(`${caller}: unknown supervisor '${display(wanted)}'`);
  return found;
}

function decodeSupervisor(context: Context, spec: Value, id: string): Supervisor {
  if (!(spec instanceof Dict)) throw invalid(`expected a dict, got ${typeOf(spec)}`);
  const strategy = display(dictGet(spec, 'strategy') ?? 'one_for_one');
  if (!isOneOf(STRATEGIES, strategy)) throw invalid(`unknown strategy '${strategy}', expected one of ${STRATEGIES.join(', ')}`);
  const children = dictGet(spec, 'children') ?? [];
  if (!Array.isArray(children)) throw invalid(`children must be a list, got ${typeOf(children)}`);
  const specs = (children as readonly Value[]).map(decodeChild);
  const names = new Set(specs.map((child) => child.name));
  if (names.size < specs.length) throw invalid('children must have different names');
  return new Supervisor(context, id, display(dictGet(spec, 'name') ?? id), strategy, specs);
}

function decodeChild(child: Value, index: number): ChildSpec {
  if (!(child instanceof Dict)) throw invalid(`child ${index} must be a dict, got ${typeOf(child)}`);
  const name = display(dictGet(child, 'name') ?? `child_${index}`);
  const task = dictGet(child, 'task');
  if (!isCallable(task)) throw invalid(`child '${name}' needs a task closure`);
  return {
    name,
    kind: display(dictGet(child, 'kind') ?? 'task'),
    policy: decodePolicy(name, dictGet(child, 'restart')),
    task,
    activeLease: dictGet(child, 'active_lease'),
  };
}

function decodePolicy(child: string, restart: Value): RestartPolicy {
  const isDict = restart instanceof Dict;
  const mode = display((isDict ? dictGet(restart, 'mode') : restart) ?? 'never');
  if (!isOneOf(MODES, mode)) throw invalid(`child '${child}' has the unknown restart mode '${mode}', expected one of ${MODES.join(', ')}`);
  if (!isDict) return { ...DEFAULT_POLICY, mode };
  const ms = (field: string): number | undefined => durationMs(dictGet(restart, field));
  return {
    mode,
    maxRestarts: ms('max_restarts') ?? DEFAULT_POLICY.maxRestarts,
    windowMs: ms('window_ms') ?? DEFAULT_POLICY.windowMs,
    backoffMs: ms('backoff_ms') ?? DEFAULT_POLICY.backoffMs,
    maxBackoffMs: ms('max_backoff_ms') ?? DEFAULT_POLICY.maxBackoffMs,
    factor: decodeFactor(dictGet(restart, 'factor')),
    circuitOpenMs: ms('circuit_open_ms'),
  };
}

function decodeFactor(value: Value): number {
  const factor = value instanceof Float ? value.value : value;
  return typeof factor === 'number' && factor >= 1 ? factor : DEFAULT_POLICY.factor;
}

function isOneOf<T extends string>(known: readonly T[], value: string): value is T {
  return (known as readonly string[]).includes(value);
}

function invalid(message: string): Error {
  return runtimeError(`supervisor_start: ${message}`);
}
