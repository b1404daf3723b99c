import { resolve } from 'node:path';
import { decodeLoopOptions } from '../../agent/loop-options.ts';
import type { JsonObject } from '../../base/json.ts';
import { Daemon, queueCapacity } from '../../lifecycle/daemon.ts';
import { holdDaemon, releaseDaemon, superviseDaemon } from '../../lifecycle/daemon-control.ts';
import { daemonStatus, daemonSummary } from '../../lifecycle/daemon-summary.ts';
import { spawnWorker } from '../../lifecycle/start.ts';
import { unlinkIfPresent } from '../../store/atomic-file.ts';
import { daemonFiles } from '../../store/daemon-file.ts';
import type { Context } from '../context.ts';
import { dictGet, dictOf, mergeDicts } from '../dict.ts';
import { plainError } from '../errors.ts';
import { Dict, type Value } from '../value.ts';
import { currentLoop } from './agent-context.ts';
import { lifecycleOf } from './agent-lifecycle.ts';
import { savedOptions } from './agent-live.ts';
import { agentServices } from './agent-services.ts';
import { optionalText, withoutKeys } from './agent-values.ts';
import { daemonsOf } from './daemon-service.ts';
import { loopStart } from './loop-start.ts';

/** Keys of `daemon_spawn` that are no options of the loop. */
const OWN_KEYS = ['task', 'prompt', 'name', 'system', 'state_dir'];

/**
 * `daemon_spawn` (spec/agents.md 11.3): a worker with a daemon loop, and a directory with its queue.
 * @returns the summary, once the daemon idles or after half a second
 */
export async function spawnDaemon(context: Context, config: Value): Promise<JsonObject> {
  if (!(config instanceof Dict)) throw plainError('daemon_spawn: config must be a dict');
  const task = optionalText(dictGet(config, 'task') ?? dictGet(config, 'prompt'));
  if (task === undefined || task.trim() === '') throw plainError('daemon_spawn: config must include `task` or `prompt`');
  const given = optionalText(dictGet(config, 'persist_path') ?? dictGet(config, 'state_dir'));
  if (given === undefined || given === '') throw plainError('daemon_spawn: config must include `persist_path` or `state_dir`');
  const lifecycle = lifecycleOf(context.run);
  const directory = resolve(context.run.executionRoot, given);
  const { random } = agentServices(context.run);
  const file = daemonFiles(directory).snapshot;
  const id = random.id('daemon');
  const sessionId = optionalText(dictGet(config, 'session_id')) ?? random.uuidV7();
  const options = mergeDicts(
    withoutKeys(config, OWN_KEYS),
    dictOf([
      ['daemon', true],
      ['daemon_id', id],
      ['persist_path', file],
      ['session_id', sessionId],
    ]),
  );
  const saved = savedOptions(options);
  decodeLoopOptions(saved);
  const name = optionalText(dictGet(config, 'name')) ?? 'daemon';
  const identity = {
    id,
    name,
    prompt: task,
    system: optionalText(dictGet(config, 'system')) ?? null,
    sessionId,
    workerId: random.id('worker'),
    options: saved,
    capacity: queueCapacity(dictGet(config, 'event_queue_capacity')),
  };
  const shown = given.endsWith('/') ? `${given}daemon.json` : `${given}/daemon.json`;
  const daemon = new Daemon(
    lifecycle.platform,
    identity,
    { directory, file: { path: file, shown } },
    { pending: [], inflight: undefined, nextSeq: 1 },
  );
  const refusal = `a daemon is already running for '${given}'`;
  const known = daemonsOf(context.run).inDirectory(directory);
  // One that is parked has let go of its directory, but lives on in this process.
  if (known !== undefined && daemonStatus(lifecycle, known) !== 'stopped') throw plainError(refusal);
  holdDaemon(lifecycle, daemon, refusal);
  try {
    daemonsOf(context.run).add(daemon);
    const request = { task, system: dictGet(config, 'system'), options, workerId: identity.workerId };
    const start = { ...(await loopStart(context, request)), parentWorkerId: currentLoop(context)?.workerId };
    // What an earlier daemon left here is over: from now on these files are the new one's.
    unlinkIfPresent(lifecycle.platform.files, file);
    daemon.queue.save();
    const { worker } = await spawnWorker(lifecycle, { ...start, name, mode: 'sub_agent' });
    await superviseDaemon(lifecycle, daemon, worker);
  } catch (error) {
    daemon.isStopped = true;
    releaseDaemon(daemon);
    throw error;
  }
  return daemonSummary(lifecycle, daemon);
}
