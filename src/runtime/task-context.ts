import { CancelScope } from '../tasks/cancel-scope.ts';
import { ExitRequest } from './caught.ts';
import type { Context, Run } from './context.ts';
import { thrownText } from './errors.ts';
import { type Interrupts, interruptsOf } from './interrupt.ts';
import { writeOutput } from './output.ts';
import type { Value } from './value.ts';

/**
 * Contexts and the tree of tasks of a run. A task may have several contexts at a time: a deadline or an agent loop
 * makes one of its own with another signal. What belongs to the task as such is kept in its `TaskFacts`, found by
 * task id; what can be cancelled is a `CancelScope`, found by signal.
 */
export interface TaskFacts {
  /** Set by cancel_graceful and supervisor_stop. */
  cancelRequested: boolean;
  /** Counters behind the ids of children (spec/language.md 10.6). */
  spawnCount: number;
  parallelCount: number;
}

export class TaskTree {
  readonly interrupts: Interrupts;
  readonly #facts = new Map<string, TaskFacts>();
  readonly #scopes = new WeakMap<AbortSignal, CancelScope>();
  readonly #background = new Set<Promise<void>>();

  constructor(run: Run) {
    this.interrupts = interruptsOf(run);
  }

  facts(taskId: string): TaskFacts {
    let facts = this.#facts.get(taskId);
    if (facts === undefined) {
      facts = { cancelRequested: false, spawnCount: 0, parallelCount: 0 };
      this.#facts.set(taskId, facts);
    }
    return facts;
  }

  forget(taskId: string): void {
    this.#facts.delete(taskId);
  }

  /** Ids of the tasks that have begun and not ended, in order of their start. */
  activeTaskIds(): string[] {
    return [...this.#facts.keys()];
  }

  /** The scope behind a signal; a signal from elsewhere gets one that follows it. */
  scopeOf(signal: AbortSignal): CancelScope {
    let scope = this.#scopes.get(signal);
    if (scope === undefined) {
      scope = CancelScope.following(signal, this.interrupts);
      this.#scopes.set(signal, scope);
      this.#scopes.set(scope.signal, scope);
    }
    return scope;
  }

  /** Opens a scope below the one that this context runs in. Whoever opens it closes it. */
  openScope(context: Context): CancelScope {
    return this.register(this.scopeOf(context.signal).open());
  }

  /** Makes a scope known, so that `scopeOf` finds it by its signal. */
  register(scope: CancelScope): CancelScope {
    this.#scopes.set(scope.signal, scope);
    return scope;
  }

  /** Remembers work that goes on beside the entry until it has ended. `work` never rejects. */
  track(work: Promise<void>): void {
    this.#background.add(work);
    void work.then(() => this.#background.delete(work));
  }

  get hasBackground(): boolean {
    return this.#background.size > 0;
  }

  /** Resolves when all work beside the entry has ended. */
  async background(): Promise<void> {
    while (this.#background.size > 0) await Promise.all(this.#background);
  }
}

const TASK_TREE = Symbol('task tree');

export function taskTree(run: Run): TaskTree {
  return run.service(TASK_TREE, (owner) => new TaskTree(owner));
}

class TaskContext implements Context {
  readonly run: Run;
  readonly taskId: string;
  readonly parent: Context | undefined;
  readonly taskName: string;
  readonly taskGroupId: string | undefined;
  readonly signal: AbortSignal;
  readonly values: Map<string, Value>;
  readonly agent: unknown;
  outputBuffer: string[] | undefined;

  constructor(fields: Omit<Context, 'cancelRequested'>) {
    this.run = fields.run;
    this.taskId = fields.taskId;
    this.parent = fields.parent;
    this.taskName = fields.taskName;
    this.taskGroupId = fields.taskGroupId;
    this.signal = fields.signal;
    this.values = fields.values;
    this.agent = fields.agent;
    this.outputBuffer = fields.outputBuffer;
  }

  /** Kept with the task, so that it reads the same through every context of the task. */
  get cancelRequested(): boolean {
    return taskTree(this.run).facts(this.taskId).cancelRequested;
  }

  set cancelRequested(value: boolean) {
    taskTree(this.run).facts(this.taskId).cancelRequested = value;
  }
}

/** The context of the entry of a run: task `task_root`, writing straight to the output of the run. */
export function rootContext(run: Run): Context {
  return new TaskContext({
    run,
    taskId: ROOT_TASK_ID,
    parent: undefined,
    taskName: 'root',
    taskGroupId: undefined,
    signal: run.signal,
    values: new Map(),
    outputBuffer: undefined,
    agent: undefined,
  });
}

export const ROOT_TASK_ID = 'task_root';

/** Another context of the same task, with another signal, inside another agent loop, or with less that it may do. */
export function deriveContext(
  context: Context,
  changes: { readonly signal?: AbortSignal; readonly agent?: unknown; readonly run?: Run },
): Context {
  return new TaskContext({ ...sharedFields(context), ...changes });
}

export interface ChildTask {
  readonly taskId: string;
  readonly taskName: string;
  readonly taskGroupId: string | undefined;
  readonly signal: AbortSignal;
  /** Where the output of the task is kept until it is joined; undefined writes where the parent writes. */
  readonly outputBuffer: string[] | undefined;
  /** The copy of its parent's values it starts with; left out: as they are now. */
  readonly values?: Map<string, Value>;
}

/** The context of a new task. */
export function childContext(parent: Context, child: ChildTask): Context {
  return new TaskContext({ ...sharedFields(parent), parent, values: new Map(parent.values), ...child });
}

function sharedFields(context: Context): Omit<Context, 'cancelRequested'> {
  const { run, taskId, parent, taskName, taskGroupId, signal, values, outputBuffer, agent } = context;
  return { run, taskId, parent, taskName, taskGroupId, signal, values, outputBuffer, agent };
}

/**
 * The context for `finally` and `defer` blocks. A task that is being cancelled must still be able to clean up, so
 * its cleanup runs under the signal of the whole run instead of the one that has already fired.
 *
 * @throws ExitRequest after `exit(n)`, which lets no such block run
 */
export function cleanupContext(context: Context): Context {
  const { reason } = context.run.signal;
  if (reason instanceof ExitRequest) throw reason;
  return context.signal.aborted ? deriveContext(context, { signal: context.run.signal }) : context;
}

/** What a cancelled task sees (spec/language.md 10.2). */
export function cancelledError(): Error {
  return thrownText('kind:cancelled:VM cancelled by host');
}

/** True when this task or a task above it was cancelled or asked to stop. */
export function isCancelled(context: Context): boolean {
  if (context.signal.aborted) return true;
  const tree = taskTree(context.run);
  for (let task: Context | undefined = context; task !== undefined; task = task.parent) {
    if (tree.facts(task.taskId).cancelRequested) return true;
  }
  return false;
}

/** Puts what a joined task wrote where its parent writes. */
export function releaseOutput(context: Context, text: readonly string[]): void {
  if (text.length > 0) writeOutput(context, text.join(''));
}
