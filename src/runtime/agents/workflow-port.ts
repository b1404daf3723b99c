import { join } from 'node:path';
import type { WorkflowOutcome, WorkflowPort } from '../../agent/workflow-run.ts';
import { isJsonObject, type Json, parseJsonObject } from '../../base/json.ts';
import { callValue } from '../call.ts';
import type { Context, Run } from '../context.ts';
import { dictOf } from '../dict.ts';
import { plainError } from '../errors.ts';
import { toJson } from '../json.ts';
import type { HarnFunction, Value } from '../value.ts';
import type { LoopPlace } from './agent-context.ts';
import { agentValue, field, optionalText } from './agent-values.ts';

interface Engine {
  execute: HarnFunction | undefined;
}

const ENGINE = Symbol('workflow engine');

/** `workflow_execute` of std/prelude/workflow, which says so itself when a program that makes graphs is loaded. */
export function workflowEngine(run: Run): Engine {
  return run.service(ENGINE, () => ({ execute: undefined }));
}

/** Runs the graph of the options, stage by stage; undefined for options without one. */
export function workflowPort(context: Context, options: Value, place: LoopPlace): WorkflowPort | undefined {
  const graph = field(options, 'graph');
  if (graph === undefined) return undefined;
  const { run } = context;
  const path = optionalText(field(options, 'persist_path')) ?? join(run.executionRoot, '.harn-runs', `${place.workerId}.json`);
  return {
    step: async ({ task, run: before, artifacts }) => {
      const { execute } = workflowEngine(run);
      if (execute === undefined) throw plainError('spawn_agent: graph must come from workflow_graph');
      const settings = dictOf([
        ['max_steps', 1],
        ['persist_path', path],
        ['resume_run', agentValue(before ?? null)],
      ]);
      const result = await callValue(context, 0, execute, task, graph, agentValue([...artifacts]), settings);
      return outcomeOf(toJson(result), path);
    },
    saved: () => {
      const { files } = run.platform;
      if (!files.exists(path)) return undefined;
      const saved = parseJsonObject(files.readText(path));
      // To begin again would do once more what finished stages did: that is for a person to decide.
      if (saved === undefined)
        throw plainError(`the run of the graph in ${path} cannot be read; move the file away to begin with the first stage again`);
      return saved;
    },
  };
}

function outcomeOf(result: Json, path: string): WorkflowOutcome {
  const { status, run, artifacts } = isJsonObject(result) ? result : {};
  return {
    status: String(status),
    run: isJsonObject(run) ? run : {},
    path,
    artifacts: Array.isArray(artifacts) ? artifacts : [],
  };
}
