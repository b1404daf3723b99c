import { closeWorker } from '../../lifecycle/close.ts';
import { resolveSubject } from '../../lifecycle/resume-subject.ts';
import { isTerminal } from '../../lifecycle/transition.ts';
import type { Platform } from '../../platform/platform.ts';
import { operatorTarget } from '../../runtime/agents/agent-resume.ts';
import { EXIT } from '../exit-codes.ts';
import { runAsOperator } from '../operator.ts';
import { UsageError } from '../parse-options.ts';

export interface CloseOptions {
  readonly json?: string | true | undefined;
  readonly reason?: string | true | undefined;
}

/** `harn workers close`: ends a worker for good, as `close_agent` does. @returns the exit code */
export function closeCommand(platform: Platform, worker: string, options: CloseOptions): Promise<number> {
  const reason = typeof options.reason === 'string' ? options.reason.trim() : undefined;
  if (reason === '') throw new UsageError('--reason: give a text, or leave it out');
  return runAsOperator(platform, options, async ({ host, lifecycle }) => {
    const target = operatorTarget(host, worker);
    const { id, status, isClosed } = resolveSubject(lifecycle, target);
    const wasOver = isClosed || isTerminal(status);
    const { transcript: _, ...summary } = await closeWorker(lifecycle, target, { by: 'operator', reason });
    const text = wasOver ? `${id} is ${String(summary.status)} already; nothing changed\n` : `${id} is closed; nothing can resume it\n`;
    return { exitCode: EXIT.success, text, data: { worker: summary, was_over: wasOver } };
  });
}
