import type { LoopControlAnswer, PostTurnAnswer } from './loop-live.ts';
import { effectiveSentinel, type LoopOptions } from './loop-options.ts';
import type { CallResult, CallUsage, Feedback, LoopCounters, RecordedEnd } from './loop-state.ts';

/** Everything about a finished turn that decides how the loop goes on (spec/agents.md 3.5 step 14, 3.7). */
export interface TurnFacts {
  readonly text: string;
  readonly format: 'native' | 'text';
  readonly hasTools: boolean;
  readonly results: readonly CallResult[];
  /** Content of `<done>` under the text grammar. */
  readonly done: string | undefined;
  readonly errors: readonly string[];
  readonly violations: readonly string[];
  readonly postTurn: PostTurnAnswer;
  readonly control: LoopControlAnswer;
  /** Before this turn. */
  readonly counters: LoopCounters;
}

export interface Judgement {
  /** Conditions 2 to 4 of 3.7: they beat a suspend request. */
  readonly end: RecordedEnd | undefined;
  /** Condition 8: a suspend request and the budgets come first. */
  readonly lateEnd: RecordedEnd | undefined;
  readonly feedback: readonly Feedback[];
  readonly consecutiveTextOnly: number;
  /** Of the model call that judged the end. */
  readonly usage?: CallUsage | undefined;
  /** Nothing is left to do until something wakes the daemon. */
  readonly isIdle?: boolean | undefined;
}

const NUDGE_WITH_TOOLS = 'Continue — use a tool call to make progress.';
const NUDGE_WITHOUT_TOOLS = 'Continue — make progress in your reply.';

/** Pure: the first condition that holds, in the order of the tables. */
export function judgeTurn(facts: TurnFacts, options: LoopOptions): Judgement {
  const said = postTurnFeedback(facts.postTurn);
  const stop = stopped(facts, options);
  if (stop !== undefined)
    return { end: stop, lateEnd: undefined, feedback: said, consecutiveTextOnly: facts.counters.consecutive_text_only };
  const turn = facts.results.length > 0 ? afterCalls(facts) : afterText(facts, options);
  return { ...turn, feedback: [...turn.feedback, ...said] };
}

function postTurnFeedback({ message }: PostTurnAnswer): Feedback[] {
  return message === undefined || message === '' ? [] : [{ kind: 'post_turn_callback', content: message }];
}

function stopped({ postTurn, control, results }: TurnFacts, options: LoopOptions): RecordedEnd | undefined {
  if (postTurn.stop === true) return { status: 'done', stop_reason: 'post_turn_callback' };
  if (control.decision === 'stop') return { status: 'stopped', stop_reason: 'loop_control' };
  const hit = results.some((result) => result.status === 'ok' && options.stopAfterSuccessfulTools.includes(result.name));
  return hit ? { status: 'done', stop_reason: 'stop_after_successful_tools' } : undefined;
}

function afterCalls(facts: TurnFacts): Judgement {
  return { end: undefined, lateEnd: undefined, feedback: grammarFeedback(facts), consecutiveTextOnly: 0 };
}

function grammarFeedback({ errors, violations }: TurnFacts): Feedback[] {
  return [
    ...(errors.length === 0 ? [] : [{ kind: 'parse_error', content: errors.join('\n') }]),
    ...(violations.length === 0 ? [] : [{ kind: 'protocol_violation', content: violations.join('\n') }]),
  ];
}

function afterText(facts: TurnFacts, options: LoopOptions): Judgement {
  const consecutiveTextOnly = facts.counters.consecutive_text_only + 1;
  const goOn = (feedback: readonly Feedback[]): Judgement => ({ end: undefined, lateEnd: undefined, feedback, consecutiveTextOnly });
  const finish = (stopReason: string): Judgement => ({ ...goOn([]), end: natural(stopReason, facts, options) });

  if (options.turnPolicy.allowDoneSentinel && saysDone(facts, options)) return finish('sentinel');
  if (facts.errors.length > 0) return goOn(grammarFeedback(facts));
  const broken = brokenTurnPolicy(facts, options);
  if (broken !== undefined && consecutiveTextOnly <= options.maxNudges) return goOn([{ kind: 'turn_policy', content: broken }]);
  if (!options.loopUntilDone && options.daemon === undefined) return finish('natural');
  if (options.daemon === undefined && facts.format === 'native' && options.doneSentinel === undefined) return finish('natural');
  if (options.daemon !== undefined) return { ...goOn(grammarFeedback(facts)), isIdle: true };
  if (consecutiveTextOnly > options.maxNudges) return { ...goOn([]), lateEnd: { status: 'stuck', stop_reason: 'max_nudges' } };
  const nudge = options.nudge ?? (facts.hasTools ? NUDGE_WITH_TOOLS : NUDGE_WITHOUT_TOOLS);
  return goOn([...grammarFeedback(facts), { kind: 'nudge', content: nudge }]);
}

/** An explicit word counts wherever it stands; the default one where the grammar has a place for it, or in plain text. */
function saysDone({ text, format, done }: TurnFacts, options: LoopOptions): boolean {
  const sentinel = effectiveSentinel(options, format);
  if (sentinel === undefined) return false;
  return done === sentinel || text.includes(sentinel);
}

function natural(stopReason: string, { counters, results }: TurnFacts, options: LoopOptions): RecordedEnd {
  const successful = new Set([...counters.successful_tools, ...results.flatMap((result) => (result.status === 'ok' ? [result.name] : []))]);
  const { requireSuccessfulTools: required } = options;
  if (required.length > 0 && !required.some((name) => successful.has(name))) {
    return { status: 'failed', stop_reason: 'require_successful_tools' };
  }
  return { status: 'done', stop_reason: stopReason };
}

function brokenTurnPolicy({ text }: TurnFacts, { turnPolicy }: LoopOptions): string | undefined {
  if (turnPolicy.requireActionOrYield) return 'This turn neither used a tool nor ended the work. Use a tool call, or finish.';
  const { maxProseChars } = turnPolicy;
  if (maxProseChars !== undefined && text.length > maxProseChars)
    return `Keep prose below ${maxProseChars} characters and use a tool call.`;
  return undefined;
}
