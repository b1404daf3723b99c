import { describe, expect, test } from 'vitest';
import type { LoopCallbacks } from '../../src/agent/loop-live.ts';
import { NEW_COUNTERS, writeLoopState } from '../../src/agent/loop-state.ts';
import { type Tool, toolFault } from '../../src/agent/tools/tool.ts';
import { transcriptFromMessages } from '../../src/agent/transcript/transcript.ts';
import { HarnError } from '../../src/base/harn-error.ts';
import type { Json, JsonObject } from '../../src/base/json.ts';
import { frozenClock, result, runActivation, SESSION_ID, script, sent, tool, WORKER_ID } from './fake-activation.ts';

const READ = tool('read', (args) => `content of ${String(args.path)}`);
const FAIL = tool('fail', () => {
  throw toolFault('no such file');
});

function call(name: string, args: JsonObject = {}, id?: string): JsonObject {
  return { name, args, ...(id === undefined ? {} : { id }) };
}

describe('turns (3.5)', () => {
  test('a tool call is answered, and the model sees call and result', async () => {
    const mock = script({ text: 'Looking', tool_calls: [call('read', { path: 'a' }, 'c1')] }, { text: 'All read' });
    const run = await runActivation({ mock, prompt: 'Read a', system: 'Be brief', live: { tools: [READ] } });
    expect(result(run)).toMatchObject({
      status: 'done',
      text: 'All read',
      stop_reason: 'natural',
      tools: { calls: ['read'], successful: ['read'], mode: 'native' },
    });
    const first = [{ role: 'user', content: 'Read a' }];
    expect(sent(mock).map((request) => request.messages)).toEqual([
      first,
      [
        ...first,
        { role: 'assistant', content: 'Looking', tool_calls: [{ id: 'c1', name: 'read', arguments: { path: 'a' } }] },
        { role: 'tool', tool_call_id: 'c1', name: 'read', content: 'content of a' },
      ],
    ]);
    expect(sent(mock).map((request) => request.system)).toEqual(['Be brief', 'Be brief']);
  });

  test('earlier messages are the same bytes in every later request', async () => {
    const mock = script(...[1, 2, 3].map((n) => ({ tool_calls: [call('read', { path: `${n}` })] })), { text: 'end' });
    await runActivation({ mock, live: { tools: [READ] } });
    const texts = sent(mock).map((request) => request.messages.map((message) => JSON.stringify(message)));
    for (const [index, later] of texts.slice(1).entries()) expect(later.slice(0, texts[index]?.length)).toEqual(texts[index]);
  });

  test('events come in order', async () => {
    const mock = script({ text: 'Hm', tool_calls: [call('read')] }, { text: 'end' });
    const run = await runActivation({ mock, live: { tools: [READ] } });
    expect(run.events.map((event) => event.type)).toEqual([
      'turn_start',
      'agent_message_chunk',
      'tool_call',
      'tool_call_update',
      'tool_call_update',
      'turn_end',
      'iteration_end',
      'turn_start',
      'agent_message_chunk',
      'turn_end',
      'iteration_end',
    ]);
    expect(run.events.every((event) => event.session_id === SESSION_ID)).toBe(true);
  });

  test('boundaries are B0, then one after each turn', async () => {
    const mock = script({ tool_calls: [call('read')] }, { tool_calls: [call('read', { path: 'b' })] }, { text: 'end' });
    expect((await runActivation({ mock, live: { tools: [READ] } })).boundaries).toEqual(['B0', 'B1', 'B1']);
  });

  test('a throwing handler is an error result and the loop goes on', async () => {
    const mock = script({ tool_calls: [call('fail')] }, { text: 'end' });
    const run = await runActivation({ mock, live: { tools: [FAIL] } });
    expect(sent(mock)[1]?.messages.at(-1)).toMatchObject({ content: 'Error: no such file' });
    expect(result(run)).toMatchObject({ status: 'done', tools: { calls: ['fail'], successful: [] } });
  });

  test('an unknown tool is an error result', async () => {
    const mock = script({ tool_calls: [call('fly')] }, { text: 'end' });
    await runActivation({ mock, live: { tools: [READ] } });
    expect(sent(mock)[1]?.messages.at(-1)).toMatchObject({ role: 'tool', content: 'Error: unknown tool fly' });
  });

  test('read-only calls run together, and results keep the order of calls', async () => {
    const settled: string[] = [];
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = tool('slow', () => null, {
      annotations: { readOnlyHint: true },
      handler: async () => {
        await gate;
        settled.push('slow');
        return { kind: 'value', value: 'S' };
      },
    });
    const fast = tool('fast', () => null, {
      annotations: { readOnlyHint: true },
      handler: async () => {
        settled.push('fast');
        release();
        return { kind: 'value', value: 'F' };
      },
    });
    const mock = script({ tool_calls: [call('slow'), call('fast')] }, { text: 'end' });
    await runActivation({ mock, live: { tools: [slow, fast] } });
    expect(settled).toEqual(['fast', 'slow']);
    expect(
      sent(mock)[1]
        ?.messages.slice(-2)
        .map((message) => message.content),
    ).toEqual(['S', 'F']);
  });

  test('text grammar: results of a turn are one message of kind tool_results', async () => {
    const mock = script(
      { text: '<tool_call>read({ path: "a" })</tool_call>\n<tool_call>read({ path: "b" })</tool_call>' },
      { text: '<user_response>ok</user_response>\n<done>##DONE##</done>' },
    );
    const run = await runActivation({ mock, options: { tool_format: 'text', loop_until_done: true }, live: { tools: [READ] } });
    expect(sent(mock)[1]?.messages.at(-1)).toEqual({
      role: 'user',
      content:
        '<runtime_feedback kind="tool_results">\n[result of read]\ncontent of a\n[end of read result]\n[result of read]\ncontent of b\n[end of read result]\n</runtime_feedback>',
    });
    expect(result(run)).toMatchObject({ status: 'done', visible_text: 'ok', stop_reason: 'sentinel', tools: { mode: 'text' } });
    expect(sent(mock)[0]?.system).toContain('<done>##DONE##</done>');
  });

  test('an unscripted loop ends by itself in both formats (13.6)', async () => {
    for (const tool_format of ['native', 'text']) {
      expect(result(await runActivation({ options: { tool_format } }))).toMatchObject({ status: 'done' });
    }
  });
});

interface EndRow {
  readonly rule: string;
  readonly entries: readonly Json[];
  readonly options?: JsonObject;
  readonly callbacks?: LoopCallbacks;
  readonly expected: JsonObject;
  readonly calls: number;
}

const TEXT = { text: 'hello' };
const CALL = { tool_calls: [call('read', { path: 'x' })] };

const ENDS: EndRow[] = [
  { rule: 'a text-only answer ends', entries: [TEXT], expected: { status: 'done', stop_reason: 'natural' }, calls: 1 },
  {
    rule: 'native loop_until_done without a sentinel ends naturally',
    entries: [TEXT],
    options: { loop_until_done: true },
    expected: { status: 'done', stop_reason: 'natural' },
    calls: 1,
  },
  {
    rule: 'an explicit sentinel is a substring in every mode',
    entries: [TEXT, { text: 'so STOP here' }],
    options: { loop_until_done: true, done_sentinel: 'STOP' },
    expected: { status: 'done', stop_reason: 'sentinel', visible_text: 'so  here' },
    calls: 2,
  },
  {
    rule: 'stop_after_successful_tools',
    entries: [CALL, TEXT],
    options: { stop_after_successful_tools: ['read'] },
    expected: { status: 'done', stop_reason: 'stop_after_successful_tools' },
    calls: 1,
  },
  {
    rule: 'require_successful_tools unmet',
    entries: [TEXT],
    options: { require_successful_tools: ['read'] },
    expected: {
      status: 'failed',
      stop_reason: 'require_successful_tools',
      error: { category: 'require_successful_tools', message: expect.stringContaining('none of the required tools succeeded: ') },
    },
    calls: 1,
  },
  {
    rule: 'require_successful_tools met by one of several',
    entries: [CALL, TEXT],
    options: { require_successful_tools: ['read', 'write'] },
    expected: { status: 'done' },
    calls: 2,
  },
  {
    rule: 'require_successful_tools met',
    entries: [CALL, TEXT],
    options: { require_successful_tools: ['read'] },
    expected: { status: 'done' },
    calls: 2,
  },
  {
    rule: 'iterations used up',
    entries: [CALL, CALL, CALL],
    options: { max_iterations: 2 },
    expected: { status: 'budget_exhausted', stop_reason: 'max_iterations' },
    calls: 2,
  },
  {
    rule: 'max_iterations 0 asks nothing',
    entries: [TEXT],
    options: { max_iterations: 0 },
    expected: { status: 'budget_exhausted' },
    calls: 0,
  },
  {
    rule: 'token budget',
    entries: [{ ...CALL, input_tokens: 60, output_tokens: 60 }, TEXT],
    options: { token_budget: 100 },
    expected: { status: 'budget_exhausted', stop_reason: 'token_budget' },
    calls: 1,
  },
  {
    rule: 'nudges exhausted',
    entries: [TEXT, TEXT, TEXT, TEXT],
    options: { loop_until_done: true, done_sentinel: 'NEVER', max_nudges: 2 },
    expected: { status: 'stuck', stop_reason: 'max_nudges' },
    calls: 3,
  },
  {
    rule: 'post_turn_callback true stops',
    entries: [CALL, TEXT],
    callbacks: { postTurn: async () => ({ stop: true }) },
    expected: { status: 'done', stop_reason: 'post_turn_callback' },
    calls: 1,
  },
  {
    rule: 'loop_control stop',
    entries: [CALL, TEXT],
    callbacks: { loopControl: async () => ({ decision: 'stop', reason: 'enough' }) },
    expected: { status: 'stopped', stop_reason: 'loop_control' },
    calls: 1,
  },
  {
    rule: 'loop_control extend gives further turns',
    entries: [CALL, TEXT],
    options: { max_iterations: 1 },
    callbacks: { loopControl: async () => ({ decision: 'extend', turns: 1 }) },
    expected: { status: 'done' },
    calls: 2,
  },
  {
    rule: 'llm_caller maps a fault',
    entries: [],
    callbacks: { llmCaller: async () => ({ providerError: { category: 'auth' } }) },
    expected: { status: 'provider_error', error: { category: 'auth' } },
    calls: 0,
  },
  {
    rule: 'completer takes one turn',
    entries: [CALL, TEXT],
    options: { profile: 'completer' },
    expected: { status: 'budget_exhausted' },
    calls: 1,
  },
];

describe('end conditions (3.7)', () => {
  test.each(ENDS)('$rule', async ({ entries, options, callbacks = {}, expected, calls }) => {
    const mock = script(...entries);
    const run = await runActivation({ mock, ...(options === undefined ? {} : { options }), live: { tools: [READ], callbacks } });
    expect(run.end.kind).toBe('ended');
    expect(result(run)).toMatchObject(expected);
    expect(sent(mock)).toHaveLength(calls);
  });

  test('natural completion beats a suspend request of the same boundary (13.8)', async () => {
    const run = await runActivation({
      mock: script(TEXT),
      worker: { suspendAt: { 1: { reason: 'late', initiator: 'operator', conditions: undefined } } },
    });
    expect(run.end.kind).toBe('ended');
  });

  test('a suspend request beats stuck and spent iterations', async () => {
    const run = await runActivation({
      mock: script(CALL),
      options: { max_iterations: 1 },
      live: { tools: [READ] },
      worker: { suspendAt: { 1: { reason: 'now', initiator: 'operator', conditions: undefined } } },
    });
    expect(run.end.kind).toBe('parked');
    expect(result(run)).toMatchObject({ reason: 'now', initiator: 'operator', iterations_completed: 1, suspended_at_turn: 0 });
  });

  test('R31: a park at B0 of a fresh worker has no turn', async () => {
    const mock = script(TEXT);
    const run = await runActivation({ mock, worker: { suspendAt: { 0: { reason: '', initiator: 'operator', conditions: undefined } } } });
    expect(result(run)).toMatchObject({ iterations_completed: 0, suspended_at_turn: null });
    expect(sent(mock)).toHaveLength(0);
  });

  test('a closed worker throws at its boundary', async () => {
    const controller = new AbortController();
    const closing = tool('read', () => {
      controller.abort(new Error('cancelled'));
      return 'late';
    });
    const mock = script(CALL, TEXT);
    const hooks: string[] = [];
    const callbacks: LoopCallbacks = {
      hook: async (event) => {
        hooks.push(event);
        return { reminders: [] };
      },
    };
    const live = { tools: [closing], callbacks };
    await expect(runActivation({ mock, live, worker: { signal: controller.signal } })).rejects.toThrow('cancelled');
    expect(sent(mock)).toHaveLength(1);
    // To be closed is neither an end nor an error of the loop's own.
    expect(hooks).toContain('session_start');
    expect(hooks.filter((event) => event === 'session_end' || event === 'session_error')).toEqual([]);
  });

  test('a model fault is thrown after its retries', async () => {
    const error = { error: { category: 'overloaded', message: 'busy' } };
    const mock = script(error, error, error, TEXT);
    await expect(runActivation({ mock })).rejects.toThrow('busy');
    expect(sent(mock)).toHaveLength(3);
  });

  test('an unknown profile is refused with the known ones', async () => {
    await expect(runActivation({ options: { profile: 'odd' } })).rejects.toThrow(
      'profile must be one of tool_using, researcher, verifier, completer',
    );
  });
});

describe('feedback (3.5, 3.6)', () => {
  test('nudges and callback texts go in before the next call, each once', async () => {
    const mock = script(TEXT, TEXT, { text: 'STOP' });
    const said: unknown[] = [];
    const run = await runActivation({
      mock,
      options: { loop_until_done: true, done_sentinel: 'STOP' },
      live: {
        tools: [READ],
        callbacks: {
          postTurn: async (info) => {
            said.push([info.iteration, info.consecutive_text_only]);
            return info.iteration === 0 ? { message: 'look at b' } : {};
          },
        },
      },
    });
    expect(
      sent(mock)[1]
        ?.messages.slice(-2)
        .map((message) => message.content),
    ).toEqual([
      '<runtime_feedback kind="nudge">\nContinue — use a tool call to make progress.\n</runtime_feedback>',
      '<runtime_feedback kind="post_turn_callback">\nlook at b\n</runtime_feedback>',
    ]);
    expect(sent(mock)[2]?.messages).toHaveLength(6);
    expect(said).toEqual([
      [0, 1],
      [1, 2],
      [2, 3],
    ]);
    expect(run.events.filter((event) => event.type === 'feedback_injected')).toHaveLength(3);
  });

  test('host messages and results of background work arrive before the call', async () => {
    const mock = script(TEXT);
    let host = ['stop at noon'];
    await runActivation({
      mock,
      live: {
        inbox: {
          takeHostMessages: () => host.splice(0),
          takeFeedback: () => (host.length === 0 ? [{ kind: 'tool_result', content: 'built' }] : []),
          takeTape: () => [],
          hasWaiting: () => false,
        },
      },
    });
    host = [];
    expect(sent(mock)[0]?.messages.map((message) => message.content)).toEqual([
      'Do it',
      'stop at noon',
      '<runtime_feedback kind="tool_result">\nbuilt\n</runtime_feedback>',
    ]);
  });

  test('verify_completion vetoes with a reason', async () => {
    let vetoes = 1;
    const mock = script(TEXT, TEXT);
    await runActivation({ mock, live: { callbacks: { verifyCompletion: async () => (vetoes-- > 0 ? 'tests are missing' : undefined) } } });
    expect(sent(mock)[1]?.messages.at(-1)?.content).toContain('tests are missing');
  });

  test('a retry of the repeated-call guard: hint, redirect, refusal (2.6)', async () => {
    let runs = 0;
    const counted = tool('read', () => {
      runs++;
      return 'same';
    });
    const mock = script(CALL, CALL, CALL, CALL, TEXT);
    await runActivation({ mock, live: { tools: [counted] } });
    const results = sent(mock)[4]
      ?.messages.filter((message) => message.role === 'tool')
      .map((message) => message.content);
    expect(results?.[0]).toBe('same');
    expect(results?.[1]).toMatch(/^same\n\n\[/);
    expect(results?.[2]).not.toContain('same\n');
    expect(results?.[3]).toMatch(/^Error: read was not executed/);
    expect(runs).toBe(3);
  });

  test('tool_call_timeout settles the call and drops the late result (2.7)', async () => {
    const clock = frozenClock();
    const endless = tool('read', () => null, {
      handler: (_args, { signal }) => {
        void clock.advance(50);
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('told'))));
      },
    });
    const mock = script(CALL, TEXT);
    const run = await runActivation({ mock, clock, options: { tool_call_timeout: 50 }, live: { tools: [endless] } });
    expect(sent(mock)[1]?.messages.at(-1)?.content).toBe('Error: tool read timed out after 50 ms');
    expect(run.events.find((event) => event.status === 'failed')).toMatchObject({ error_category: 'timeout' });
  });

  test('tool_retries runs a throwing handler again', async () => {
    let left = 2;
    const flaky = tool('read', () => {
      if (left-- > 0) throw toolFault('busy');
      return 'fine';
    });
    const mock = script(CALL, TEXT);
    await runActivation({ mock, options: { tool_retries: 2 }, live: { tools: [flaky] } });
    expect(sent(mock)[1]?.messages.at(-1)?.content).toBe('fine');
  });

  test('a denied call gives the structured result and a transcript event (2.4)', async () => {
    const mock = script(CALL, TEXT);
    const run = await runActivation({ mock, options: { permissions: { deny: ['re*'] } }, live: { tools: [READ] } });
    expect(JSON.parse(String(sent(mock)[1]?.messages.at(-1)?.content))).toEqual({
      error: 'permission_denied',
      tool: 'read',
      reason: 'tool read is denied',
    });
    expect(result(run)).toMatchObject({ tools: { rejected: ['read'], successful: [] } });
    expect(JSON.stringify(result(run).transcript)).toContain('PermissionDeny');
  });

  test('a grant of the session does not reach above the policy (2.4)', async () => {
    const counters = { ...NEW_COUNTERS, granted_permissions: [{ tool: 'read', grant: 'session' }] };
    const messages = [{ role: 'user' as const, content: 'Do it' }];
    const state = writeLoopState({ transcript: transcriptFromMessages(SESSION_ID, messages), counters });
    const run = await runActivation({
      mock: script(CALL, TEXT),
      state,
      options: { policy: { tools: ['write*'] } },
      live: { tools: [READ] },
    });
    expect(result(run)).toMatchObject({ tools: { rejected: ['read'], successful: [] } });
  });
});

test('option patches change how the model is asked, but not the form of calls that the history has (3.6)', async () => {
  const mock = script({ text: '<tool_call>read({})</tool_call>' }, { text: '<done>##DONE##</done>' });
  const asked: unknown[] = [];
  const llmCaller: LoopCallbacks['llmCaller'] = (request, next) => {
    asked.push([request.provider, request.model, request.tools.length]);
    return next();
  };
  const postTurn = async (info: JsonObject) => (info.iteration === 0 ? { patches: { provider: 'openai', model: 'other' } } : {});
  const run = await runActivation({
    mock,
    options: { tool_format: null, model: 'first' },
    live: { tools: [tool('read', () => 'seen')], callbacks: { postTurn, llmCaller } },
  });
  expect(result(run)).toMatchObject({ status: 'done', tools: { mode: 'text' } });
  expect(asked).toEqual([
    ['mock', 'first', 0],
    ['openai', 'other', 0],
  ]);
});

describe('self-park (7.3)', () => {
  const AWAIT = call('agent_await_resumption', { reason: '  wait for the owner ', conditions: { on_event: 'go' } }, 'w');
  const PARK = {
    text: 'I stop',
    tool_calls: [call('read', { path: 'a' }, 'r1'), AWAIT, call('agent_await_resumption', { reason: 'second' }, 'w2')],
  };

  test('R54 T12: nothing is dispatched, every call has a result, the Suspension comes back', async () => {
    let runs = 0;
    const spy = tool('read', () => ++runs);
    const run = await runActivation({ mock: script(PARK), live: { tools: [spy] } });
    expect(runs).toBe(0);
    expect(run.end.kind).toBe('parked');
    expect(result(run)).toMatchObject({
      status: 'suspended',
      reason: 'wait for the owner',
      initiator: 'self',
      conditions: { on_event: 'go' },
      iterations_completed: 1,
      suspended_at_turn: 0,
      final_status: 'suspended',
      stop_reason: 'suspended',
      worker: { id: WORKER_ID },
      session_id: SESSION_ID,
    });
    const state = run.parkedState?.transcript as JsonObject;
    expect(state.state).toBe('paused');
    expect(state.messages).toEqual([
      { role: 'user', content: 'Do it' },
      expect.objectContaining({ role: 'assistant', content: 'I stop' }),
      expect.objectContaining({
        tool_call_id: 'r1',
        content: 'read was not dispatched: skipped — the agent suspended (agent_await_resumption) before this call ran',
      }),
      expect.objectContaining({
        tool_call_id: 'w',
        content: 'agent_await_resumption was not dispatched: awaiting_resumption — agent suspended awaiting resumption: wait for the owner',
      }),
      expect.objectContaining({
        tool_call_id: 'w2',
        content: 'agent_await_resumption was not dispatched: skipped — the agent suspended (agent_await_resumption) before this call ran',
      }),
    ]);
  });

  test('R37: the envelope has no transcript, text, llm, tools or visible_text', async () => {
    const run = await runActivation({ mock: script(PARK), prompt: 'CANARY' });
    for (const key of ['transcript', 'text', 'llm', 'tools', 'visible_text']) expect(result(run)).not.toHaveProperty(key);
    expect(JSON.stringify(result(run))).not.toContain('CANARY');
  });

  test('usage counts, tools do not, and the journal has no record of the turn (4.9)', async () => {
    const run = await runActivation({ mock: script({ ...PARK, input_tokens: 7, output_tokens: 3 }), live: { tools: [READ] } });
    expect(run.records.map((record) => record.t)).toEqual([]);
    expect(run.parkedState?.loop).toMatchObject({
      llm_calls: 1,
      input_tokens: 7,
      output_tokens: 3,
      tools_used: [],
      iterations_completed: 1,
    });
  });

  test('events: audit once, then turn_end and iteration_end with the skip reason', async () => {
    const run = await runActivation({ mock: script(PARK) });
    const events = run.events.filter((event) => event.type !== 'agent_message_chunk');
    expect(events.map((event) => event.type)).toEqual(['turn_start', 'tool_call_audit', 'turn_end', 'iteration_end']);
    expect(events[1]).toMatchObject({
      tool_call_id: 'w',
      tool_name: 'agent_await_resumption',
      audit: {
        layer: 'agent_lifecycle',
        status: 'suspended',
        initiator: 'self',
        reason: 'wait for the owner',
        worker_id: WORKER_ID,
        has_conditions: true,
      },
    });
    expect(events[3]).toMatchObject({ iteration_info: { dispatch_skipped: true, skip_reason: 'awaiting_resumption' } });
  });

  test('the text grammar parks as well', async () => {
    const mock = script({ text: '<tool_call>agent_await_resumption({ reason: "hold" })</tool_call>' });
    const run = await runActivation({ mock, options: { tool_format: 'text' } });
    expect(result(run)).toMatchObject({ status: 'suspended', reason: 'hold' });
    expect(JSON.stringify(run.parkedState?.transcript)).toContain('[result of agent_await_resumption]');
  });

  interface RefusalRow {
    readonly rule: string;
    readonly args: JsonObject;
    readonly worker?: Parameters<typeof runActivation>[0]['worker'];
    readonly result: string;
    readonly feedback: readonly string[];
  }
  const REFUSALS: RefusalRow[] = [
    {
      rule: 'a blank reason',
      args: { reason: ' \n' },
      result: 'Error: HARN-SUS-005: agent_await_resumption reason is required',
      feedback: ['HARN-SUS-005', 'Invalid agent_await_resumption call'],
    },
    {
      rule: 'bad conditions name code and dotted path',
      args: { reason: 'x', conditions: { trigger: {} } },
      result: 'Error: HARN-SUS-002: invalid ResumeConditions.trigger: missing string field `kind`',
      feedback: ['HARN-SUS-002', '(conditions.trigger)'],
    },
    {
      rule: 'R42: a trigger that cannot be registered',
      args: { reason: 'x' },
      worker: {
        prepare: () => {
          throw new HarnError('HARN-SUS-007', 'HARN-SUS-007: auto_resume: failed to register trigger: no');
        },
      },
      result: 'Error: HARN-SUS-007: auto_resume: failed to register trigger: no',
      feedback: ['HARN-SUS-007'],
    },
    {
      rule: 'R77: a hook that denies',
      args: { reason: 'x' },
      worker: { verdict: { decision: 'deny', reason: 'not now' } },
      result: 'Error: suspend denied: not now',
      feedback: ['suspend denied: not now'],
    },
    {
      rule: 'a snapshot that cannot be written (4.8)',
      args: { reason: 'x' },
      worker: { parkError: new HarnError('plain', 'failed to persist snapshot p: ENOSPC') },
      result: 'Error: failed to persist snapshot p: ENOSPC',
      feedback: ['ENOSPC'],
    },
  ];
  test.each(REFUSALS)('$rule goes back to the model and the loop goes on (7.4)', async ({ args, worker, result: text, feedback }) => {
    const mock = script({ tool_calls: [call('read', {}, 'r'), call('agent_await_resumption', args, 'w')] }, { text: 'end' });
    const run = await runActivation({ mock, live: { tools: [READ] }, ...(worker === undefined ? {} : { worker }) });
    expect(result(run)).toMatchObject({ status: 'done', text: 'end', tools: { calls: [] } });
    const [skipped, awaiting, told] = sent(mock)[1]?.messages.slice(-3) ?? [];
    expect(skipped).toMatchObject({ tool_call_id: 'r' });
    expect(awaiting).toMatchObject({ tool_call_id: 'w', content: text });
    for (const part of feedback) expect(told?.content).toContain(part);
    expect(told?.content).toContain('<runtime_feedback kind="agent_await_resumption">');
  });

  test('agent_await_resumption_enabled: false takes the tool away', async () => {
    const mock = script({ tool_calls: [AWAIT] }, { text: 'end' });
    const run = await runActivation({ mock, options: { agent_await_resumption_enabled: false } });
    expect(result(run)).toMatchObject({ status: 'done' });
    expect(JSON.stringify(mock.calls()[0]?.tools)).not.toContain('agent_await_resumption');
  });

  test('a registered tool of the same name is an ordinary tool', async () => {
    const own = tool('agent_await_resumption', () => 'mine');
    const mock = script({ tool_calls: [AWAIT] }, { text: 'end' });
    await runActivation({ mock, live: { tools: [own] } });
    expect(sent(mock)[1]?.messages.at(-1)?.content).toBe('mine');
  });

  const asking = (reason: string): Tool =>
    tool('ask', () => null, {
      handler: async () => ({ kind: 'park', request: { reason, initiator: 'self', conditions: undefined } }),
    });

  test('R77: a hook that refuses the request of a handler is told to the model, and the loop goes on (7.2)', async () => {
    const mock = script({ tool_calls: [call('ask', {}, 'a')] }, TEXT);
    const run = await runActivation({
      mock,
      live: { tools: [asking('ask the owner')] },
      worker: { verdict: { decision: 'deny', reason: 'not now' } },
    });
    expect(result(run)).toMatchObject({ status: 'done' });
    expect(sent(mock)[1]?.messages.at(-1)?.content).toContain('suspend denied: not now');
  });

  test('what arrived for the model while it worked goes with the park', async () => {
    const inbox = {
      takeHostMessages: () => ['stop at noon'],
      takeFeedback: () => [{ kind: 'tool_result', content: 'built' }],
      takeTape: () => [],
      hasWaiting: () => true,
    };
    const run = await runActivation({
      live: { inbox },
      worker: { suspendAt: { 0: { reason: 'now', initiator: 'operator', conditions: undefined } } },
    });
    expect(run.parkedState?.loop).toMatchObject({
      pending_feedback: [{ kind: 'tool_result', content: 'built' }],
      deferred_user_messages: ['stop at noon'],
    });
  });

  test('a handler that answers a request parks at the boundary, its siblings have run (7.2)', async () => {
    let runs = 0;
    const spy = tool('read', () => ++runs);
    const run = await runActivation({
      mock: script({ tool_calls: [call('ask', {}, 'a'), call('read', {}, 'r')] }),
      live: { tools: [asking('ask the owner'), spy] },
    });
    expect(runs).toBe(1);
    expect(result(run)).toMatchObject({ status: 'suspended', reason: 'ask the owner', initiator: 'self', iterations_completed: 1 });
    expect(run.records.map((record) => record.t)).toEqual(['answer', 'begin', 'result', 'begin', 'result', 'turn']);
  });
});

test('an option that means nothing is named on the trace; those of models, callbacks and providers are known', async () => {
  const run = await runActivation({
    mock: script({ text: 'end' }),
    options: { max_iteration: 3, temperature: 0.1, mock: { seed: 1 }, durability: 'turn', resume_by: null },
  });
  expect(result(run)).toMatchObject({ trace: { warnings: ['agent_loop: unknown option `max_iteration` is ignored'] } });
});

test.each([
  [
    true,
    {
      consecutive_text_only: 2,
      max_nudges: 1,
      turns_taken: 3,
      last_texts: ['', 'hm', 'well'],
      last_tool_calls: ['look'],
      tools_used: ['look'],
    },
  ],
  [false, undefined],
])('stall_diagnostics: %s says how a loop got stuck', async (wanted, stall) => {
  const run = await runActivation({
    mock: script({ tool_calls: [{ name: 'look', arguments: {} }] }, { text: 'hm' }, { text: 'well' }),
    options: { loop_until_done: true, done_sentinel: 'END', max_nudges: 1, stall_diagnostics: wanted },
    live: { tools: [tool('look', () => 'seen')] },
  });
  expect(result(run).status).toBe('stuck');
  expect((result(run).trace as { stall?: unknown }).stall).toEqual(stall);
});
