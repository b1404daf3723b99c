import type { Instant } from '../../base/instant.ts';
import type { CancelScope } from '../../tasks/cancel-scope.ts';
import { outcomeOf } from '../../tasks/outcome.ts';
import { Task } from '../../tasks/task.ts';
import { waitFor, waitForPromise } from '../../tasks/wait.ts';
import { callValue } from '../call.ts';
import type { Context, Run } from '../context.ts';
import { dictOf } from '../dict.ts';
import { failureText } from '../failure.ts';
import { writeOutput } from '../output.ts';
import { cancelledError, childContext, taskTree } from '../task-context.ts';
import type { HarnFunction, Value } from '../value.ts';
import { type AfterEnd, afterEnd, type RestartPolicy } from './supervisor-policy.ts';
import { runTask, withinTime } from './tasks.ts';

/**
 * Supervisors (spec/language.md 10.7): long-lived children with restarts. Each child is one task that runs attempt after
 * attempt; what happens between two attempts is decided by `afterEnd`, and who else has to restart by the strategy.
 */
export type Strategy = 'one_for_one' | 'one_for_all' | 'rest_for_one' | 'escalate_to_parent';

export type SupervisorStatus = 'running' | 'draining' | 'completed' | 'stopped' | 'escalated';

export type ChildStatus = 'running' | 'waiting' | 'draining' | 'failed' | 'stopped' | 'suppressed' | 'circuit_open';

export interface ChildSpec {
  readonly name: string;
  readonly kind: string;
  readonly policy: RestartPolicy;
  readonly task: HarnFunction;
  readonly activeLease: Value;
}

export interface SupervisorEvent {
  readonly seq: number;
  readonly at: Instant;
  readonly child: string | undefined;
  readonly kind: string;
  readonly message: string | undefined;
}

export interface SupervisorMetrics {
  started: number;
  stopped: number;
  failed: number;
  restarted: number;
  suppressed: number;
  escalated: number;
}

export class SupervisedChild {
  readonly spec: ChildSpec;
  readonly taskId: string;
  status: ChildStatus = 'running';
  attempt = 0;
  lastError: string | undefined;
  waitReason: string | undefined;
  nextRestartAt: Instant | undefined;
  readonly restartedAt: Instant[] = [];
  /** The attempt that runs, or the wait before the next one. */
  scope: CancelScope | undefined;
  /** Set when a sibling's failure ends this attempt: it restarts after so many milliseconds. */
  recycleAfterMs: number | undefined;
  isTrial = false;

  constructor(spec: ChildSpec, taskId: string) {
    this.spec = spec;
    this.taskId = taskId;
  }

  get isAlive(): boolean {
    return this.status === 'running' || this.status === 'waiting' || this.status === 'draining' || this.status === 'circuit_open';
  }
}

/** Events kept for each supervisor; the oldest go first. */
const EVENT_LIMIT = 10_000;

export class Supervisor {
  readonly id: string;
  readonly name: string;
  readonly strategy: Strategy;
  readonly children: readonly SupervisedChild[];
  readonly events: SupervisorEvent[] = [];
  readonly metrics: SupervisorMetrics = { started: 0, stopped: 0, failed: 0, restarted: 0, suppressed: 0, escalated: 0 };
  status: SupervisorStatus = 'running';
  readonly #context: Context;
  #eventCount = 0;
  #ended: Promise<void> = Promise.resolve();

  constructor(context: Context, id: string, name: string, strategy: Strategy, children: readonly ChildSpec[]) {
    this.#context = context;
    this.id = id;
    this.name = name;
    this.strategy = strategy;
    this.children = children.map((spec) => new SupervisedChild(spec, `${context.taskId}:${id}:${spec.name}`));
  }

  start(): void {
    this.#record(undefined, 'supervisor_started', this.name);
    const tree = taskTree(this.#context.run);
    const lives = this.children.map((child) =>
      Task.start(tree.scopeOf(this.#context.signal), (scope) => this.#live(child, tree.register(scope))),
    );
    this.#ended = Promise.all(lives.map((life) => life.settled)).then(() => {
      if (this.status === 'running') this.status = 'completed';
    });
    tree.track(this.#ended);
  }

  /** Asks the children to end, waits, and aborts those that did not. */
  async stop(caller: Context, timeoutMs: number): Promise<void> {
    if (this.status === 'running') this.status = 'draining';
    for (const child of this.children) {
      if (!child.isAlive) continue;
      const isBetweenAttempts = child.status !== 'running';
      child.status = 'draining';
      taskTree(this.#context.run).facts(child.taskId).cancelRequested = true;
      if (isBetweenAttempts) child.scope?.cancel(cancelledError());
    }
    const hasEnded = await withinTime(
      caller,
      this.#ended.then(() => true),
      timeoutMs,
    );
    if (hasEnded === undefined) {
      for (const child of this.children) child.scope?.cancel(cancelledError());
      await waitForPromise(caller.signal, this.#ended);
    }
    if (this.status !== 'draining') return;
    this.status = 'stopped';
    this.#record(undefined, 'supervisor_stopped', this.name);
  }

  /** A failure from below: the attempt of this child ends with it. */
  failChild(taskId: string, error: unknown): void {
    this.children.find((child) => child.taskId === taskId)?.scope?.cancel(error);
  }

  /** A child from its first attempt to its end. */
  async #live(child: SupervisedChild, life: CancelScope): Promise<void> {
    for (;;) {
      const failure = await this.#attempt(child, life);
      const next = life.isCancelled ? STOP : this.#next(child, failure);
      if (next.kind === 'stop') return this.#settle(child, 'stopped', 'child_stopped', undefined);
      if (next.kind === 'give_up') return this.#giveUp(child, next.reason, failure?.error);
      const waitMs = next.kind === 'restart' ? next.afterMs : next.forMs;
      if (!(await this.#waitFor(child, life, waitMs))) return this.#settle(child, 'stopped', 'child_stopped', undefined);
    }
  }

  /** @returns the failure of the attempt, undefined when it ended well */
  async #attempt(child: SupervisedChild, life: CancelScope): Promise<{ readonly error: unknown } | undefined> {
    const tree = taskTree(this.#context.run);
    const scope = tree.register(life.open());
    child.scope = scope;
    child.attempt++;
    child.status = 'running';
    this.metrics.started++;
    this.#record(child, child.attempt === 1 ? 'child_started' : 'child_restart_started', `attempt ${child.attempt}`);
    const context = childContext(this.#context, {
      taskId: child.taskId,
      taskName: `supervisor ${child.spec.name}`,
      taskGroupId: this.#context.taskGroupId,
      signal: scope.signal,
      outputBuffer: new ForwardedOutput((text) => {
        this.#record(child, 'child_output', text.replace(/\n$/, ''));
        writeOutput(this.#context, text);
      }),
    });
    const outcome = await outcomeOf(() => runTask(context, () => callValue(context, 0, child.spec.task, this.#childFacts(child))));
    scope.close();
    child.scope = undefined;
    return outcome.kind === 'failed' ? { error: outcome.error } : undefined;
  }

  #next(child: SupervisedChild, failure: { readonly error: unknown } | undefined): AfterEnd {
    if (this.status !== 'running') return STOP;
    const now = this.#context.run.platform.clock.now();
    if (child.recycleAfterMs !== undefined) {
      const afterMs = child.recycleAfterMs;
      child.recycleAfterMs = undefined;
      return this.#planRestart(child, now, afterMs);
    }
    if (failure !== undefined) {
      this.metrics.failed++;
      child.lastError = failureText(failure.error);
      this.#record(child, 'child_failed', child.lastError);
    }
    const history = { restartedAt: child.restartedAt, wasTrial: child.isTrial };
    const next = afterEnd(child.spec.policy, history, now, failure !== undefined);
    child.isTrial = next.kind === 'open_circuit';
    if (next.kind === 'restart') {
      this.#recycleSiblings(child, next.afterMs);
      return this.#planRestart(child, now, next.afterMs);
    }
    if (next.kind === 'open_circuit') this.#openCircuit(child, now, next.forMs);
    return next;
  }

  #planRestart(child: SupervisedChild, now: Instant, afterMs: number): AfterEnd {
    child.restartedAt.push(now);
    child.status = 'waiting';
    child.waitReason = 'backoff';
    child.nextRestartAt = now + afterMs;
    this.metrics.restarted++;
    this.#record(child, 'child_restarted', `restart ${child.restartedAt.length} in ${afterMs}ms`);
    return { kind: 'restart', afterMs };
  }

  #openCircuit(child: SupervisedChild, now: Instant, forMs: number): void {
    child.status = 'circuit_open';
    child.waitReason = 'circuit_open';
    child.nextRestartAt = now + forMs;
    this.metrics.suppressed++;
    this.#record(child, 'child_suppressed', `circuit open for ${forMs}ms`);
  }

  #giveUp(child: SupervisedChild, reason: string, error: unknown): void {
    if (this.strategy === 'escalate_to_parent') return this.#escalate(child, error);
    if (reason === 'not_restartable') {
      child.status = 'failed';
      return;
    }
    child.waitReason = reason;
    this.metrics.suppressed++;
    this.#settle(child, 'suppressed', 'child_suppressed', reason);
  }

  #escalate(child: SupervisedChild, error: unknown): void {
    this.status = 'escalated';
    this.metrics.escalated++;
    this.#settle(child, 'failed', 'child_escalated', child.lastError);
    for (const sibling of this.children) {
      if (sibling !== child) sibling.scope?.cancel(cancelledError());
    }
    for (let task: Context | undefined = this.#context; task !== undefined; task = task.parent) {
      const { taskId } = task;
      const above = supervisors(task.run).find((other) => other.children.some((candidate) => candidate.taskId === taskId));
      if (above !== undefined) return above.failChild(taskId, error);
    }
  }

  #recycleSiblings(child: SupervisedChild, afterMs: number): void {
    if (this.strategy !== 'one_for_all' && this.strategy !== 'rest_for_one') return;
    const from = this.strategy === 'one_for_all' ? 0 : this.children.indexOf(child) + 1;
    for (const sibling of this.children.slice(from)) {
      if (sibling === child || sibling.status !== 'running') continue;
      sibling.recycleAfterMs = afterMs;
      sibling.scope?.cancel(cancelledError());
    }
  }

  /** @returns false when the child has to end instead of going on */
  async #waitFor(child: SupervisedChild, life: CancelScope, ms: number): Promise<boolean> {
    const scope = life.open();
    child.scope = scope;
    try {
      await waitFor<void>(scope.signal, (wake) => this.#context.run.platform.clock.timer(ms, wake));
    } catch {
      return false;
    } finally {
      scope.close();
      child.scope = undefined;
    }
    child.waitReason = undefined;
    child.nextRestartAt = undefined;
    return true;
  }

  #settle(child: SupervisedChild, status: ChildStatus, event: string, message: string | undefined): void {
    child.status = status;
    child.nextRestartAt = undefined;
    if (status === 'stopped') {
      child.waitReason = undefined;
      this.metrics.stopped++;
    }
    taskTree(this.#context.run).forget(child.taskId);
    this.#record(child, event, message);
  }

  #childFacts(child: SupervisedChild): Value {
    return dictOf([
      ['supervisor_id', this.id],
      ['child_name', child.spec.name],
      ['child_kind', child.spec.kind],
      ['attempt', child.attempt],
      ['restart_count', child.restartedAt.length],
    ]);
  }

  #record(child: SupervisedChild | undefined, kind: string, message: string | undefined): void {
    const at = this.#context.run.platform.clock.now();
    this.events.push({ seq: ++this.#eventCount, at, child: child?.spec.name, kind, message });
    if (this.events.length > EVENT_LIMIT) this.events.shift();
  }
}

const STOP: AfterEnd = { kind: 'stop' };

/** An output buffer that hands on what it gets: a child may run for days, so that its output cannot wait for its end. */
class ForwardedOutput extends Array<string> {
  readonly #forward: (text: string) => void;

  constructor(forward: (text: string) => void) {
    super();
    this.#forward = forward;
  }

  override push(...texts: string[]): number {
    for (const text of texts) this.#forward(text);
    return 0;
  }
}

const SUPERVISORS = Symbol('supervisors');

/** The supervisors of a run, in order of their start. */
export function supervisors(run: Run): Supervisor[] {
  return run.service(SUPERVISORS, () => []);
}
