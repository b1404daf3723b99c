import { type Loop, recordStep } from './loop-context.ts';
import { pendingReminders, type Reminder } from './reminder.ts';
import { noteReminder, reminderDifference } from './reminder-notes.ts';
import { evaluateProviders } from './reminder-providers.ts';

/** Step 7 of a turn (spec/agents.md 3.5): the providers are asked, and what is pending is for the model of this call. */
export function remindersOfTurn(loop: Loop): readonly Reminder[] {
  askProviders(loop);
  const { activation, progress } = loop;
  const pending = pendingReminders(progress.transcript);
  for (const reminder of pending) noteReminder(activation, progress.counters.iterations_completed, 'fired', reminder);
  return pending;
}

function askProviders(loop: Loop): void {
  const { progress, options, frame, activation, turnEndedMs } = loop;
  const { counters, transcript } = progress;
  const specs = evaluateProviders(
    {
      messages: transcript.messages,
      model: frame.target.model,
      task: typeof activation.config.task === 'string' ? activation.config.task : '',
      toolsUsed: counters.tools_used,
      tokensUsed: counters.input_tokens + counters.output_tokens,
      tokenBudget: options.tokenBudget,
      idleMs: turnEndedMs === undefined ? undefined : loop.world.clock.monotonicMs() - turnEndedMs,
      hasCompacted: loop.hasCompacted,
    },
    options.reminders,
  );
  loop.hasCompacted = false;
  if (specs.length === 0) return;
  const turn = counters.iterations_completed;
  recordStep(loop, {
    t: 'in',
    reminders: specs.map((spec) => ({ ...spec, fired_at_turn: turn, originating_agent_id: activation.workerId })),
  });
  for (const reminder of reminderDifference(loop.progress.transcript, transcript)) {
    noteReminder(activation, turn, 'provider_evaluated', reminder);
  }
}
