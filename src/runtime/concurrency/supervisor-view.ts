import { dictOf } from '../dict.ts';
import type { Dict } from '../value.ts';
import type { SupervisedChild, Supervisor } from './supervisor.ts';

/** What `supervisor_start` gives: a dict that names the supervisor. */
export function supervisorHandle(supervisor: Supervisor): Dict {
  return dictOf([
    ['_type', 'supervisor'],
    ['id', supervisor.id],
    ['name', supervisor.name],
  ]);
}

/** `supervisor_state(...)` (spec/language.md 10.7). */
export function supervisorState(supervisor: Supervisor): Dict {
  return dictOf([
    ['_type', 'supervisor'],
    ['id', supervisor.id],
    ['name', supervisor.name],
    ['strategy', supervisor.strategy],
    ['status', supervisor.status],
    ['children', supervisor.children.map(childState)],
    ['metrics', supervisorMetrics(supervisor)],
  ]);
}

export function supervisorMetrics({ metrics }: Supervisor): Dict {
  return dictOf(Object.entries(metrics) as [keyof typeof metrics, number][]);
}

export function supervisorEvents(supervisor: Supervisor): Dict[] {
  return supervisor.events.map((event) =>
    dictOf([
      ['seq', event.seq],
      ['at_ms', event.at],
      ['supervisor_id', supervisor.id],
      ['child', event.child],
      ['kind', event.kind],
      ['message', event.message],
    ]),
  );
}

function childState(child: SupervisedChild): Dict {
  return dictOf([
    ['name', child.spec.name],
    ['kind', child.spec.kind],
    ['status', child.status],
    ['restart_count', child.restartedAt.length],
    ['last_error', child.lastError],
    ['current_wait_reason', child.waitReason],
    ['active_lease', child.spec.activeLease],
    ['next_restart_time', child.nextRestartAt],
  ]);
}
