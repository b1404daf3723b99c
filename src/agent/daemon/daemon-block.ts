import { renderInstant } from '../../base/instant.ts';
import type { JsonObject } from '../../base/json.ts';
import type { DaemonFile } from '../../lifecycle/activation.ts';
import type { Loop } from '../loop-context.ts';
import type { LoopParts } from '../loop-state.ts';
import { messageText } from '../transcript/message.ts';
import { lastOfRole } from '../transcript/transcript.ts';

/**
 * What a snapshot says of a daemon (spec/agents.md 11.4): the block, and the names that `daemon.json` has beside those
 * of every snapshot. Absent for loops that are no daemons.
 */
export function daemonFacts(
  loop: Loop,
  parts: LoopParts,
  state: string,
): { readonly daemon?: JsonObject; readonly daemonFile?: DaemonFile } {
  const { sources } = loop;
  if (sources === undefined) return {};
  const { transcript, counters } = parts;
  const last = lastOfRole(transcript.messages, 'assistant');
  const daemon: JsonObject = {
    ...sources.facts(),
    daemon_state: state,
    saved_at: renderInstant(loop.world.clock.now()),
    total_iterations: counters.iterations_completed,
    last_iteration_text: last === undefined ? '' : messageText(last),
  };
  const { file } = sources.port;
  return { daemon, ...(file === undefined ? {} : { daemonFile: { path: file.path, names: fileNames(parts, daemon) } }) };
}

function fileNames({ transcript, counters }: LoopParts, daemon: JsonObject): JsonObject {
  const said = transcript.messages.filter((message) => message.role === 'assistant').map(messageText);
  return {
    ...daemon,
    visible_messages: transcript.messages,
    recorded_messages: transcript.messages,
    transcript_summary: transcript.summary,
    transcript_events: transcript.events,
    total_text: said.filter((text) => text !== '').join('\n'),
    all_tools_used: counters.tools_used,
    rejected_tools: counters.rejected_tools,
    deferred_user_messages: counters.deferred_user_messages,
    last_run_exit_code: null,
  };
}
