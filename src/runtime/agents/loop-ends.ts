import { withoutOwnReminders } from '../../agent/reminder.ts';
import { decodeTranscript } from '../../agent/transcript/transcript.ts';
import { isJsonObject } from '../../base/json.ts';
import type { Activation, LoopEnd, LoopRunner } from '../../lifecycle/activation.ts';
import type { Run } from '../context.ts';
import { agentServices } from './agent-services.ts';
import { cancelHandlesOf } from './async-registry.ts';
import { noteLoopError } from './loop-failures.ts';

/**
 * What has to happen when a loop ends, whoever started or resumed it: the history of a named session is stored
 * (spec/agents.md 3.11), and work that the loop left running is cancelled (2.8).
 */
export function withLoopEnds(runner: LoopRunner, run: Run): LoopRunner {
  return {
    ...runner,
    run: async (activation) => {
      let isParked = false;
      try {
        const end = await runner.run(activation);
        isParked = end.kind === 'parked';
        storeSession(run, activation, end);
        return end;
      } catch (error) {
        noteLoopError(run, activation.workerId, error);
        throw error;
      } finally {
        if (!isParked) cancelHandlesOf(run, activation.workerId);
      }
    },
  };
}

function storeSession(run: Run, { config }: Activation, end: LoopEnd): void {
  const named = isJsonObject(config.options) ? config.options.session_id : undefined;
  if (end.kind === 'parked' || typeof named !== 'string' || !isJsonObject(end.state.transcript)) return;
  agentServices(run).sessions.save(named, withoutOwnReminders(decodeTranscript(end.state.transcript, 'agent_loop')));
}
