import { describe, expect, test } from 'vitest';
import { applyResume } from '../../src/agent/apply-resume.ts';
import { initialState } from '../../src/agent/runner.ts';
import { appendMessage, eventsByKind, type Transcript, transcriptFromMessages } from '../../src/agent/transcript/transcript.ts';
import { renderElapsed } from '../../src/base/elapsed.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { LoopState, ResumeFacts } from '../../src/lifecycle/activation.ts';
import { runActivation, SESSION_ID, script, sent, throughText, WORKER_ID } from './fake-activation.ts';

const FACTS: ResumeFacts = {
  input: 'approved',
  continueTranscript: true,
  cause: 'operator',
  resumedAt: 65_000,
  suspension: {
    reason: 'wait for  approval',
    initiator: 'self',
    suspended_at: '1970-01-01T00:00:00.000Z',
    suspended_at_turn: 3,
    iterations_completed: 4,
  },
  isRecovery: false,
};

function parked(...texts: string[]): LoopState {
  const state = initialState({ task: 'Review it', session_id: SESSION_ID });
  const transcript = texts.reduce(
    (sofar, content) => appendMessage(sofar, { role: 'assistant', content }),
    state.transcript as unknown as Transcript,
  );
  return throughText({
    transcript,
    loop: { ...state.loop, iterations_completed: 4, tools_used: ['read', 'grep'], pending_feedback: [{ kind: 'nudge', content: 'old' }] },
  });
}

function resumed(change: Partial<ResumeFacts> = {}, state = parked('Thinking')): Transcript {
  return applyResume(state, { ...FACTS, ...change }, WORKER_ID, SESSION_ID).transcript as unknown as Transcript;
}

function body(transcript: Transcript): string {
  const [event, ...others] = eventsByKind(transcript, 'system_reminder');
  expect(others).toEqual([]);
  return event?.text ?? '';
}

const HEAD = "You were suspended at turn 3 for reason: 'wait for approval'. The gap was 1m. ";
const INPUT = 'The resumer provided input: approved.';

const BODIES: [rule: string, change: Partial<ResumeFacts>, text: string][] = [
  ['operator', {}, `${HEAD}You have been resumed by the operator. ${INPUT}`],
  ['parent', { cause: 'parent' }, `${HEAD}You have been resumed by your parent agent. ${INPUT}`],
  [
    'triggered',
    { cause: 'triggered', triggerId: 't1', eventId: 'e1' },
    `${HEAD}You have been resumed by trigger t1 matching event e1. ${INPUT}`,
  ],
  ['timeout', { cause: 'timeout' }, `${HEAD}Your timeout elapsed; resuming with summary. ${INPUT}`],
  ['no input', { input: undefined }, `${HEAD}You have been resumed by the operator. No input was provided.`],
  [
    'blank reason, no turn',
    { suspension: { ...FACTS.suspension, reason: ' ', suspended_at_turn: null, iterations_completed: 0 } },
    `You were suspended at turn 0 for reason: 'unspecified'. The gap was 1m. You have been resumed by the operator. ${INPUT}`,
  ],
  [
    'input over 500 characters is cut by code points',
    { input: '😀'.repeat(600) },
    `${HEAD}You have been resumed by the operator. The resumer provided input: ${'😀'.repeat(500)}.`,
  ],
  [
    'a clock that went backwards',
    { resumedAt: -5000 },
    `You were suspended at turn 3 for reason: 'wait for approval'. The gap was <1s. You have been resumed by the operator. ${INPUT}`,
  ],
];

describe('continuity reminder (5.6)', () => {
  test.each(BODIES)('%s', (_rule, change, text) => {
    expect(body(resumed(change))).toBe(text);
  });

  test('R71: its fields and metadata', () => {
    const [event] = eventsByKind(resumed(), 'system_reminder');
    expect(event?.reminder).toMatchObject({
      tags: ['resume_continuity'],
      dedupe_key: 'resume_continuity',
      ttl_turns: 1,
      preserve_on_compact: true,
      propagate: 'none',
      role_hint: 'system',
      source: 'stdlib_provider',
      metadata: {
        worker_id: WORKER_ID,
        session_id: SESSION_ID,
        suspended_at_turn: 3,
        reason: 'wait for  approval',
        initiator: 'self',
        resumed_at: '1970-01-01T00:01:05.000Z',
        gap_ms: 65_000,
        resume_cause: 'operator',
        has_input: true,
        continue_transcript: true,
      },
    });
  });

  test('a second resume before any model call replaces it', () => {
    const first = applyResume(parked(), FACTS, WORKER_ID, SESSION_ID);
    const second = resumed({ input: 'again' }, first);
    expect(body(second)).toContain('again');
  });

  const GAPS: [number, string][] = [
    [0, '<1s'],
    [999, '<1s'],
    [1000, '1s'],
    [59_999, '59s'],
    [60_000, '1m'],
    [3_599_999, '59m'],
    [3_600_000, '1h0m'],
    [86_399_999, '23h59m'],
    [86_400_000, '1d0h'],
    [200_000_000, '2d7h'],
  ];
  test.each(GAPS)('a gap of %i ms is %s', (ms, text) => {
    expect(renderElapsed(ms)).toBe(text);
  });
});

describe('continue_transcript (5.6)', () => {
  test('R70: true keeps every message and appends the input', () => {
    const before = parked('Thinking').transcript as unknown as Transcript;
    expect(resumed().messages).toEqual([...before.messages, { role: 'user', content: 'approved' }]);
  });

  test('R74: false leaves the summary and the input', () => {
    const transcript = resumed({ continueTranscript: false }, parked('first', 'second', 'third'));
    const digest = 'Request: Review it\nAnswer: second\nAnswer: third\nTools used: read, grep';
    expect(transcript.messages).toEqual([
      { role: 'user', content: digest },
      { role: 'user', content: 'approved' },
    ]);
    expect(body(transcript)).toContain(`Pre-suspend conversation digest: ${digest.replaceAll('\n', ' ')}`);
    const [archive] = eventsByKind(transcript, 'compaction');
    expect(archive?.metadata).toMatchObject({ strategy: 'resume_summary', archived_messages: 4 });
    expect(JSON.stringify(archive?.metadata?.archived_events)).toContain('first');
  });

  test('false uses the summary of the transcript where there is one', () => {
    const state = parked('x');
    const summarised = { ...state, transcript: { ...state.transcript, summary: 'All about it' } };
    expect(resumed({ continueTranscript: false }, summarised).messages[0]).toEqual({ role: 'user', content: 'All about it' });
  });

  test('each part of the digest is cut to 400 characters, the whole to 2000', () => {
    const [digest] = resumed({ continueTranscript: false }, parked('b'.repeat(900), 'c'.repeat(900))).messages;
    expect(digest?.content).toBe(`Request: Review it\nAnswer: ${'b'.repeat(400)}\nAnswer: ${'c'.repeat(400)}\nTools used: read, grep`);
  });

  test('counters: limits of the activation start anew, spending stays, old feedback goes with the old messages', () => {
    const interrupted = { turn: 3, calls: [] };
    const before = parked();
    const loop = { ...before.loop, consecutive_text_only: 2, option_patches: { temperature: 1 }, interrupted };
    const afresh = applyResume({ ...before, loop }, { ...FACTS, continueTranscript: false }, WORKER_ID, SESSION_ID);
    const anew = { activations: 2, iterations_completed: 4, consecutive_text_only: 0, tools_used: ['read', 'grep'] };
    expect(afresh.loop).toMatchObject({ ...anew, pending_feedback: [] });
    expect(afresh.loop.interrupted).toBeUndefined();
    expect(afresh.loop.option_patches).toEqual({});
    expect((afresh.transcript as JsonObject).state).toBe('active');
    const continued = applyResume({ ...before, loop }, FACTS, WORKER_ID, SESSION_ID);
    expect(continued.loop).toMatchObject({ ...anew, pending_feedback: [{ kind: 'nudge', content: 'old' }], interrupted });
  });
});

describe('the first calls after a resume', () => {
  test('R72: the reminder is in call 1 after all messages, absent in call 2 and in the final transcript', async () => {
    const state = applyResume(parked('Thinking'), FACTS, WORKER_ID, SESSION_ID);
    const mock = script({ text: 'going on' }, { text: 'STOP' });
    const run = await runActivation({ mock, state, options: { loop_until_done: true, done_sentinel: 'STOP' } });
    const [first, second] = sent(mock);
    expect(first?.messages.at(-1)).toEqual({
      role: 'user',
      content: expect.stringMatching(/^<system-reminder>\nYou were suspended.*\n<\/system-reminder>$/),
    });
    expect(first?.messages.at(-2)).toEqual({ role: 'user', content: '<runtime_feedback kind="nudge">\nold\n</runtime_feedback>' });
    expect(JSON.stringify(second?.messages)).not.toContain('system-reminder');
    expect(JSON.stringify(run.end.result.transcript)).not.toContain('resume_continuity');
  });

  test('the mark of the park is gone after a resume, so only one reminder is pending', async () => {
    const first = await runActivation({
      mock: script(),
      worker: { suspendAt: { 0: { reason: 'stop', initiator: 'operator', conditions: undefined } } },
    });
    expect(JSON.stringify(first.parkedState)).toContain('Worker suspended before the next turn: stop');
    body(applyResume(first.parkedState as LoopState, FACTS, WORKER_ID, SESSION_ID).transcript as unknown as Transcript);
  });

  test.each([[false], [{ providers: ['-resume_continuity'] }]])('with reminders: %j it is not shown', async (reminders) => {
    const mock = script({ text: 'ok' });
    await runActivation({ mock, state: applyResume(parked(), FACTS, WORKER_ID, SESSION_ID), options: { reminders } });
    expect(JSON.stringify(sent(mock))).not.toContain('system-reminder');
  });

  test('R37 of the digest: nothing else of the old transcript reaches the model', async () => {
    const state = applyResume(parked('CANARY-1', 'b', 'c'), { ...FACTS, continueTranscript: false }, WORKER_ID, SESSION_ID);
    const mock = script({ text: 'ok' });
    await runActivation({ mock, state });
    expect(JSON.stringify(sent(mock))).not.toContain('CANARY-1');
    expect(sent(mock)[0]?.messages).toHaveLength(3);
  });
});

test('a transcript of given messages mirrors each in an event', () => {
  const transcript = transcriptFromMessages('t', [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
  ]);
  expect(transcript.events.map(({ id, kind, role, text }) => [id, kind, role, text])).toEqual([
    ['evt_1', 'message', 'user', 'a'],
    ['evt_2', 'message', 'assistant', 'b'],
  ]);
});
