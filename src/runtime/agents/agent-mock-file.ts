import { parseMockFile, renderMockLine } from '../../agent/providers/mock-entry.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Run } from '../context.ts';
import { agentServices, type Spending } from './agent-services.ts';

/** `--llm-mock FILE`: model calls are answered from a JSONL file. @param name the file as messages show it */
export function replayModel(run: Run, text: string, name: string): void {
  agentServices(run).mock.useFile(parseMockFile(text, name));
}

/** What the models of this run were asked for so far, and what it cost. */
export function modelUsage(run: Run): Readonly<Omit<Spending, 'budgetUsd'>> {
  return agentServices(run).spending;
}

/** `--llm-mock-record FILE`: answers of real models are collected; the lines are written when the run is over. */
export function recordModel(run: Run): { readonly lines: () => string } {
  const lines: string[] = [];
  agentServices(run).recorder = (answer) => lines.push(renderMockLine(answer));
  return { lines: () => lines.map((line) => `${line}\n`).join('') };
}

/** Tells of each retry of a model call, of the transport (`llm_retry`) or of the answer's shape (`schema_retry`). */
export function onModelRetry(run: Run, listener: (event: JsonObject) => void): void {
  agentServices(run).listeners.add(listener);
}
