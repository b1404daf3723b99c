/**
 * `parked-host.ts FOLDER COUNT`: writes an index of COUNT waiters, a third each for a trigger, a timeout and a topic, arms
 * them as a host does at its start, and prints what that took as JSON. Run with `--expose-gc`.
 */
import { performance } from 'node:perf_hooks';
import { renderInstant } from '../../src/base/instant.ts';
import { createLifecycle } from '../../src/lifecycle/create-lifecycle.ts';
import { rearmParked } from '../../src/lifecycle/rearm.ts';
import { createNodePlatform } from '../../src/platform/node-platform.ts';
import { createEventLog } from '../../src/store/event-log.ts';
import { locateState } from '../../src/store/state-root.ts';
import { rewriteWaiters, type Waiter } from '../../src/store/waiter-file.ts';

const TOPICS = 100;
const LOOKS = 10_000;

function waiter(index: number, folder: string, now: number): Waiter {
  const id = `worker_${String(index).padStart(8, '0')}`;
  const deadline = renderInstant(now + 86_400_000 + index);
  const topic = `jobs.${index % TOPICS}`;
  const kinds: readonly Pick<Waiter, 'conditions' | 'armed'>[] = [
    {
      conditions: { trigger: { kind: 'webhook', provider: 'github', match: { events: [`check_run.${index}`] } } },
      armed: { trigger: true, deadline_at: null, on_event: null },
    },
    { conditions: { timeout: { duration_minutes: 1440 } }, armed: { trigger: false, deadline_at: deadline, on_event: null } },
    { conditions: { on_event: topic }, armed: { trigger: false, deadline_at: null, on_event: { topic, from_cursor: 0 } } },
  ];
  return {
    worker_id: id,
    suspension_id: `susp_${index}`,
    snapshot_path: `${folder}/workers/${id}.json`,
    suspended_at: renderInstant(now),
    resume_by_mechanism: 'local_runtime',
    ...(kinds[index % kinds.length] as Pick<Waiter, 'conditions' | 'armed'>), // the remainder is below the length
  };
}

function heapBytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

async function main(folder: string, count: number): Promise<void> {
  const platform = createNodePlatform();
  const locations = locateState(platform.env, folder);
  const never = (): never => {
    throw new Error('nothing is resumed here');
  };
  const lifecycle = createLifecycle({
    platform,
    realClock: platform.clock,
    runner: { start: never, run: never } as never,
    rebinder: { rebind: never },
    locations,
    eventLog: createEventLog(platform.files, platform.env, { defaultBackend: 'file', directory: locations.events }),
  });
  const now = platform.clock.now();
  rewriteWaiters(
    platform,
    locations.waiters,
    () => Array.from({ length: count }, (_, index) => waiter(index, folder, now)),
    (one) => one,
  );
  const before = heapBytes();
  const start = performance.now();
  const armed = await rearmParked(lifecycle);
  const rearmMs = performance.now() - start;
  if (armed !== count) throw new Error(`${armed} of ${count} were armed`);
  const bytesEach = (heapBytes() - before) / count;
  const looking = performance.now();
  for (let look = 0; look < LOOKS; look++) {
    const found = lifecycle.triggers.matching('github', `check_run.${(look * 3) % count}`);
    if (found.length > 1) throw new Error('an event woke more than one');
  }
  const matchUs = ((performance.now() - looking) * 1000) / LOOKS;
  console.log(JSON.stringify({ rearmMs, bytesEach, matchUs }));
  process.exit(0);
}

void main(process.argv[2] as string, Number(process.argv[3]));
