import { join } from 'node:path';
import { NOTHING_LIVE } from '../../src/agent/loop-live.ts';
import type { ModelEvent, ModelRequest, Provider } from '../../src/agent/providers/provider.ts';
import { createLoopRunner } from '../../src/agent/runner.ts';
import { parametersSchema, type Tool } from '../../src/agent/tools/tool.ts';
import type { Message, ToolCall } from '../../src/agent/transcript/message.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { LoopEnd } from '../../src/lifecycle/activation.ts';
import { runRootLoop } from '../../src/lifecycle/start.ts';
import { FaultyFiles } from '../../src/platform/fault-points.ts';
import type { Files, Platform } from '../../src/platform/platform.ts';
import { createWorldAt, start, type TestWorld } from './world.ts';

/**
 * A process with the product's own agent loop over given files. The model answers by the turn that the request is at,
 * so that a recovered loop goes on where it stopped, and every effect of a tool is a folder of its own: it is there or
 * not, whenever the process dies.
 */
export interface LoopWorld extends TestWorld {
  /** The messages of each model request, as text. */
  readonly requests: string[][];
  /** Runs the root loop of the script to its end or its park. */
  runRoot(): Promise<LoopEnd>;
}

/** What the model does in each turn: effects by name, or a park. A turn without either ends the loop. */
export type Plan = readonly (readonly string[] | { readonly park: string })[];

const EFFECTS = 'effects';

export interface LoopWorldParts extends Pick<Platform, 'files' | 'processes'> {
  /** The model to ask instead of the plan, and its name. */
  readonly model?: { readonly name: string; readonly provider: Provider } | undefined;
}

export function createLoopWorld(directory: string, plan: Plan, { files, processes, model }: LoopWorldParts): LoopWorld {
  const requests: string[][] = [];
  const world = createWorldAt(directory, {
    platform: { files, processes },
    runner: createLoopRunner({
      clock: { now: () => 0, monotonicMs: () => 0, sleep: async () => undefined, timer: () => () => undefined },
      random: { id: (prefix) => prefix, uuidV4: () => 'v4', uuidV7: () => 'v7', float: () => 0, bytes: (count) => new Uint8Array(count) },
      models: { provider: () => model?.provider ?? modelOf(plan, requests, files), hasNativeTools: () => true },
      env: () => undefined,
      files,
    }),
    live: { ...NOTHING_LIVE, tools: [effectTool(files, directory, processes.pid)] } as never, // the rebinder gives it to the loop as it is
  });
  return {
    ...world,
    requests,
    runRoot: () => runRootLoop(world.lifecycle, { ...start('work', world.live), spec: specOf(plan, model?.name ?? 'mock') }),
  };
}

function specOf(plan: Plan, provider: string): JsonObject {
  return {
    session_id: 'session-1',
    system: 'be brief',
    options: { provider, model: 'm', tool_format: 'native', max_iterations: plan.length + 2 },
  };
}

/** The names of the effects that happened, one for each time, in order. */
export function effectsOf(files: Files, directory: string): string[] {
  const path = join(directory, EFFECTS);
  const entries = files.exists(path) ? files.list(path) : [];
  return entries.map((entry) => entry.slice(0, entry.indexOf('#'))).sort();
}

/** The one worker that has files in a directory. */
export function workerIdIn(files: Files, directory: string): string | undefined {
  const path = join(directory, '.harn', 'workers');
  if (!files.exists(path)) return undefined;
  return files.list(path).flatMap((name) => /^(worker_[^.]+)\.(?:json|journal\.jsonl)$/.exec(name)?.[1] ?? [])[0];
}

function effectTool(files: Files, directory: string, pid: number): Tool {
  let count = 0;
  return {
    name: 'effect',
    description: 'Has an effect',
    parameters: parametersSchema({ name: { type: 'string' } }),
    annotations: {},
    policy: {},
    idempotent: false,
    timeoutMs: undefined,
    executor: 'harn',
    handler: async ({ name }) => {
      files.mkdir(join(directory, EFFECTS, `${String(name)}#${pid}.${++count}`));
      return { kind: 'value', value: `did ${String(name)}` };
    },
  };
}

function modelOf(plan: Plan, requests: string[][], files: Files): Provider {
  return {
    async *stream(request: ModelRequest): AsyncGenerator<ModelEvent> {
      // A process that is dead asks nobody anything.
      if (files instanceof FaultyFiles && files.isDead) await new Promise(() => undefined);
      requests.push(request.messages.map((message) => JSON.stringify(message)));
      const turn = request.messages.filter((message: Message) => message.role === 'assistant').length;
      const toolCalls = callsOf(plan[turn]);
      yield {
        type: 'finish',
        answer: {
          text: `turn ${turn}`,
          toolCalls,
          thinking: undefined,
          thinkingSummary: undefined,
          stopReason: toolCalls.length === 0 ? 'end_turn' : 'tool_use',
          provider: request.provider,
          model: request.model,
          usage: { input_tokens: 1, output_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0 },
          blocks: undefined,
        },
      };
    },
  };
}

/** Call ids are used again in every turn, as some providers do. */
export function callsOf(step: Plan[number] | undefined): ToolCall[] {
  if (step === undefined) return [];
  if ('park' in step) return [{ id: 'call-0', name: 'agent_await_resumption', arguments: { reason: step.park } }];
  return step.map((name, index) => ({ id: `call-${index}`, name: 'effect', arguments: { name } }));
}
