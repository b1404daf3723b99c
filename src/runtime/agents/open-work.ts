import { OpenWork } from '../../lifecycle/unsettled.ts';
import type { Run } from '../context.ts';

const OPEN_WORK = Symbol('open work');

/** What else of this run is open besides its workers: handoffs, deferred events, model calls, pool tasks. */
export function openWork(run: Run): OpenWork {
  return run.service(OPEN_WORK, () => new OpenWork());
}
