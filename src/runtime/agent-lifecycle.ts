import { createLoopRunner } from '../agent/runner.ts';
import { createLifecycle } from '../lifecycle/create-lifecycle.ts';
import type { Lifecycle } from '../lifecycle/lifecycle.ts';
import { ControlledClock } from '../platform/controlled-clock.ts';
import type { Clock } from '../platform/platform.ts';
import { createEventLog } from '../store/event-log.ts';
import { locateState } from '../store/state-root.ts';
import { createRebinder } from './agent-rebind.ts';
import { agentServices } from './agent-services.ts';
import type { Run } from './context.ts';

const LIFECYCLE = Symbol('lifecycle');

/** The one lifecycle of a run: whatever suspends, resumes, closes or lists workers in it goes through here. */
export function lifecycleOf(run: Run): Lifecycle {
  return run.service(LIFECYCLE, createForRun);
}

function createForRun(run: Run): Lifecycle {
  const { platform } = run;
  const services = agentServices(run);
  const locations = locateState(platform.env, run.stateRoot);
  return createLifecycle({
    platform,
    realClock: realClock(platform.clock),
    runner: createLoopRunner(services),
    rebinder: createRebinder(run),
    locations,
    projectRoot: run.projectRoot,
    scriptDirectory: run.scriptPath === '<inline>' ? undefined : directoryOf(run.scriptPath),
    eventLog: createEventLog(platform.files, platform.env, { defaultBackend: 'file', directory: locations.events }),
    emit: (event) => services.events.emit(event),
    warn: (text) => run.output.err(`${text}\n`),
  });
}

function realClock(clock: Clock): Clock {
  return clock instanceof ControlledClock ? clock.real : clock;
}

function directoryOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf('/')));
}
