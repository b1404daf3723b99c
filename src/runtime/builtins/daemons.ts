import type { Daemon } from '../../lifecycle/daemon.ts';
import { resumeDaemon, stopDaemon, triggerDaemon, waitForDaemon } from '../../lifecycle/daemon-control.ts';
import { daemonSnapshot } from '../../lifecycle/daemon-summary.ts';
import { currentLoop } from '../agents/agent-context.ts';
import { lifecycleOf } from '../agents/agent-lifecycle.ts';
import { agentValue, field, withoutHarness } from '../agents/agent-values.ts';
import { daemonsOf } from '../agents/daemon-service.ts';
import { spawnDaemon } from '../agents/daemon-spawn.ts';
import type { Builtin, BuiltinGroup } from '../builtin.ts';
import type { Context } from '../context.ts';
import { display } from '../display.ts';
import { durationMs } from '../duration.ts';
import { plainError } from '../errors.ts';
import { toJson } from '../json.ts';
import type { Value } from '../value.ts';

/** Daemons of scripts (spec/agents.md 11.3). */
function waiting(signature: string, doc: string, run: (context: Context, args: readonly Value[]) => Promise<Value>): Builtin {
  return { signature, doc, colour: 'async', call: (context, _depth, ...args) => run(context, withoutHarness(args)) };
}

function knownDaemon(context: Context, handle: Value, operation: string): Daemon {
  const id = field(handle, 'id') ?? handle;
  if (typeof id !== 'string') throw plainError(`${operation}: missing daemon handle`);
  const daemon = daemonsOf(context.run).get(id);
  if (daemon === undefined) throw plainError(`${operation}: unknown daemon: ${id}`);
  return daemon;
}

const byWhom = (context: Context): 'operator' | 'parent' => (currentLoop(context) === undefined ? 'operator' : 'parent');

const DEFAULT_WAIT_MS = 5000;

export const DAEMONS: BuiltinGroup = {
  name: 'daemons',
  title: 'Daemons',
  builtins: {
    daemon_spawn: waiting(
      '(config: DaemonConfig | dict) -> dict',
      'Starts an agent that idles instead of ending, with a durable queue in a directory of its own, and gives its handle. Throws when one runs there already.',
      async (context, [config]) => agentValue(await spawnDaemon(context, config)),
    ),
    daemon_trigger: waiting(
      '(daemon: any, payload: any = nil) -> dict',
      'Puts an event at the end of the queue of a daemon; an idle one wakes. The event is on disk when this returns. Throws when the daemon is stopped or its queue is full.',
      async (context, [handle, payload]) => {
        const daemon = knownDaemon(context, handle, 'daemon_trigger');
        return agentValue(await triggerDaemon(lifecycleOf(context.run), daemon, toJson(payload) ?? null));
      },
    ),
    daemon_snapshot: {
      signature: '(daemon: any) -> dict',
      doc: 'The summary of a daemon with what it last saved: messages, counters, queue.',
      call: (context, _depth, ...args) => {
        const [handle] = withoutHarness(args);
        return agentValue(daemonSnapshot(lifecycleOf(context.run), knownDaemon(context, handle, 'daemon_snapshot')));
      },
    },
    daemon_stop: waiting(
      '(daemon: any) -> dict',
      'Stops a daemon at its next boundary, or after half a second without one. What it was at work on is the head of its queue again.',
      async (context, [handle]) =>
        agentValue(await stopDaemon(lifecycleOf(context.run), knownDaemon(context, handle, 'daemon_stop'), byWhom(context))),
    ),
    daemon_resume: waiting(
      '(path: any) -> dict',
      'Restores a daemon from its directory, its daemon.json, or the snapshot of its worker, with queue, conversation and counters. Throws when it is running.',
      async (context, [path]) => {
        const target = field(path, 'persist_path') ?? field(path, 'snapshot_path') ?? path;
        if (target === undefined) throw plainError('daemon_resume: missing path');
        return agentValue(await resumeDaemon(lifecycleOf(context.run), daemonsOf(context.run), display(target), byWhom(context)));
      },
    ),
    daemon_wait: waiting(
      '(daemon: any, min_iterations: int = 0, timeout_ms: int | duration | any = 5000) -> dict',
      'Waits until a daemon has saved at least so many turns, or no longer runs, and gives its summary. Throws when that takes too long.',
      async (context, [handle, minimum, timeout]) => {
        const daemon = knownDaemon(context, handle, 'daemon_wait');
        const iterations = minimum ?? 0;
        if (typeof iterations !== 'number' || iterations < 0) throw plainError('daemon_wait: min_iterations must be an int of 0 or more');
        const timeoutMs = timeout === undefined ? DEFAULT_WAIT_MS : durationMs(timeout);
        if (timeoutMs === undefined || timeoutMs < 0) throw plainError('daemon_wait: timeout_ms must be milliseconds or a duration');
        return agentValue(await waitForDaemon(lifecycleOf(context.run), daemon, iterations, timeoutMs));
      },
    ),
  },
};
