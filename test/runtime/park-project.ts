import { readFileSync } from 'node:fs';
import { parseMockFile } from '../../src/agent/providers/mock-entry.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { resumeWorker } from '../../src/lifecycle/resume.ts';
import type { Platform } from '../../src/platform/platform.ts';
import { lifecycleOf } from '../../src/runtime/agents/agent-lifecycle.ts';
import { agentServices } from '../../src/runtime/agents/agent-services.ts';
import { toJson } from '../../src/runtime/json.ts';
import { RunHost, runScript } from '../../src/runtime/run.ts';

/** Where a run and those that resume what it parked keep their state. */
export interface ParkPlace {
  readonly platform: Platform;
  readonly stateRoot: string;
}

/** Runs a script to its end. @returns its value as JSON and what it printed */
export async function runIn(place: ParkPlace, path: string, mockFile?: string): Promise<{ value: JsonObject; printed: string }> {
  let printed = '';
  const outcome = await runScript({
    platform: place.platform,
    script: { path, text: readFileSync(path, 'utf8') },
    argv: [],
    stateRoot: place.stateRoot,
    output: {
      out: (text) => {
        printed += text;
      },
      err: (text) => {
        printed += text;
      },
    },
    prepare: (context) => {
      if (mockFile !== undefined) agentServices(context.run).mock.useFile(parseMockFile(readFileSync(mockFile, 'utf8'), mockFile));
    },
  });
  if (outcome.kind !== 'value') throw new Error(JSON.stringify(outcome));
  return { value: toJson(outcome.value) as JsonObject, printed };
}

export interface Resumed {
  readonly summary: JsonObject;
  readonly warnings: string;
  readonly messages: readonly JsonObject[];
  readonly transcript: JsonObject;
  /** Kinds and payloads of the audit log. */
  readonly audits: readonly JsonObject[];
}

/** Resumes a snapshot in a run that knows nothing of the first one. */
export async function resumeIn(place: ParkPlace, path: string, input?: string, mockFile?: string): Promise<Resumed> {
  let warnings = '';
  const host = new RunHost({
    platform: place.platform,
    argv: [],
    stateRoot: place.stateRoot,
    scriptPath: '<inline>',
    output: {
      out: () => {},
      err: (text) => {
        warnings += text;
      },
    },
  });
  if (mockFile !== undefined) agentServices(host).mock.useFile(parseMockFile(readFileSync(mockFile, 'utf8'), mockFile));
  const lifecycle = lifecycleOf(host);
  await resumeWorker(lifecycle, {
    target: { kind: 'path', path },
    input,
    continueTranscript: true,
    cause: 'operator',
    startedAt: lifecycle.realClock.now(),
    entry: lifecycle.registry.nextEntry(),
    mayReadResult: false,
  });
  const [worker] = lifecycle.registry.list();
  if (worker === undefined) throw new Error('expected a worker');
  await worker.settled();
  const transcript = worker.state.transcript as JsonObject;
  return {
    summary: { ...worker.result, status: worker.status },
    warnings,
    messages: transcript.messages as readonly JsonObject[],
    transcript,
    audits: lifecycle.audit.snapshot().map(({ kind, payload }) => ({ kind, payload })),
  };
}
