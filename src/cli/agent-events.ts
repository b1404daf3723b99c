import { renderInstant } from '../base/instant.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { Platform } from '../platform/platform.ts';
import type { JsonStream } from './json-stream.ts';
import type { RunOutput } from './output.ts';
import { type ParkFacts, parkHint } from './park-hint.ts';

/** Turns events of agent loops into lines of the JSON stream and hints for the person at the terminal. */
export function agentEventListener(platform: Platform, output: RunOutput, mode: { readonly quiet: boolean }): (event: JsonObject) => void {
  return (event) => {
    if (output.json !== undefined) return writeEvent(platform, output.json, event);
    const hint = mode.quiet ? undefined : hintOf(event);
    if (hint !== undefined) output.err(hint);
  };
}

/** What a person should know of an event; of most, nothing. */
function hintOf(event: JsonObject): string | undefined {
  if (isRootPark(event)) return parkHint(parkOf(event));
  if (event.type !== 'mcp_server_error') return undefined;
  return `harn: ${String(event.message)}\nharn: the loop goes on without the tools of ${String(event.server)}\n`;
}

function isRootPark(event: JsonObject): boolean {
  return event.type === 'worker_update' && event.event === 'WorkerSuspended' && event.worker_mode === 'top_level_agent';
}

function parkOf(event: JsonObject): ParkFacts {
  const metadata = isJsonObject(event.metadata) ? event.metadata : {};
  const suspension = isJsonObject(metadata.suspension) ? metadata.suspension : {};
  return {
    workerId: String(event.worker_id),
    reason: String(suspension.reason ?? ''),
    snapshotPath: String(metadata.snapshot_path ?? event.worker_id),
  };
}

/** The table of spec/agents.md 12.4. */
function writeEvent(platform: Platform, json: JsonStream, event: JsonObject): void {
  switch (event.type) {
    case 'tool_call':
      json.event('tool_call', {
        call_id: event.tool_call_id ?? null,
        name: event.tool_name ?? null,
        args: event.raw_input ?? null,
        started_at: renderInstant(platform.clock.now()),
      });
      return;
    case 'tool_call_update':
      if (event.status !== 'completed' && event.status !== 'failed') return;
      json.event('tool_result', {
        call_id: event.tool_call_id ?? null,
        ok: event.status === 'completed',
        result: event.raw_output ?? event.error ?? null,
      });
      return;
    case 'hook_call':
    case 'hook_returned':
    case 'hook_vetoed':
      json.event('hook', {
        name: event.event ?? null,
        phase: String(event.type).replace('hook_', ''),
        ...(isJsonObject(event.payload) ? { payload: event.payload } : {}),
      });
      return;
    default: {
      const { type, session_id, ...payload } = event;
      json.event('transcript', { agent_id: payload.worker_id ?? session_id ?? null, kind: type ?? null, payload });
    }
  }
}
