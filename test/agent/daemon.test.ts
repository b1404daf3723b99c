import { describe, expect, test } from 'vitest';
import { type DaemonPort, NO_PORT } from '../../src/agent/daemon/daemon-port.ts';
import { NEW_COUNTERS, writeLoopState } from '../../src/agent/loop-state.ts';
import { transcriptFromMessages } from '../../src/agent/transcript/transcript.ts';
import type { Json, JsonObject } from '../../src/base/json.ts';
import type { TopicView } from '../../src/lifecycle/activation.ts';
import { frozenClock, type Run, result, runActivation, type Setup, script, sent, tool } from './fake-activation.ts';

const TEXT = { text: 'nothing to do' };

/** An idling daemon that takes at most two turns. */
function daemon(options: JsonObject, setup: Setup = {}): Promise<Run> {
  return runActivation({ ...setup, options: { daemon: true, max_iterations: 2, ...options } });
}

function audits(run: Run): JsonObject[] {
  return run.events.filter((event) => event.type === 'tool_call_audit');
}

/** A queue in memory that notes what the loop does with it. */
function testQueue(payloads: readonly Json[]): { readonly port: DaemonPort; readonly log: string[] } {
  const log: string[] = [];
  const pending = payloads.map((payload, index) => ({ seq: index + 1, enqueued_at: 'then', payload }));
  let inflightSeq: number | undefined;
  const port: DaemonPort = {
    ...NO_PORT,
    get inflightSeq() {
      return inflightSeq;
    },
    take: () => {
      const event = pending.shift();
      inflightSeq = event?.seq;
      if (event !== undefined) log.push(`take ${event.seq}`);
      return event;
    },
    settle: (seq) => {
      if (inflightSeq !== seq) return;
      log.push(`settle ${seq}`);
      inflightSeq = undefined;
    },
  };
  return { port, log };
}

describe('daemon idle (11.2)', () => {
  test('R87: without a wake source it parks through the await primitive and returns idle', async () => {
    const run = await daemon({}, { mock: script(TEXT) });
    expect(run.end.kind).toBe('parked');
    expect(result(run)).toMatchObject({
      status: 'idle',
      daemon_state: 'idle',
      suspension: {
        status: 'suspended',
        initiator: 'self',
        reason: 'daemon idle',
        conditions: null,
        iterations_completed: 1,
        suspended_at_turn: 0,
      },
    });
    expect(audits(run)).toEqual([
      expect.objectContaining({
        tool_call_id: 'daemon_idle:0',
        audit: expect.objectContaining({ status: 'daemon_idle', initiator: 'self', reason: 'daemon idle', has_conditions: false }),
      }),
    ]);
  });

  test('R88 messages: a queued one is delivered and no park happens', async () => {
    const queue = ['first', 'second'];
    const inbox = {
      hasWaiting: () => queue.length > 0,
      takeHostMessages: () => queue.splice(0, 1),
      takeFeedback: () => [],
      takeTape: () => [],
    };
    const mock = script(TEXT, TEXT);
    const run = await daemon({}, { mock, live: { inbox } });
    expect(sent(mock)[1]?.messages.at(-1)).toEqual({ role: 'user', content: 'second' });
    expect(audits(run)).toHaveLength(1);
  });

  test('R88 wake_interval_ms: the timer wakes at its exact time, with a timeout in whole minutes for the park', async () => {
    const clock = frozenClock();
    const mock = script(TEXT, TEXT);
    const run = await daemon({ wake_interval_ms: 90_000 }, { mock, clock });
    expect(sent(mock)[1]?.messages.at(-2)?.content).toContain('Daemon timer wake fired at 1970-01-01T00:01:30.000Z.');
    expect(audits(run)[0]).toMatchObject({
      audit: { has_conditions: true, conditions: { timeout: { duration_minutes: 2, on_timeout: 'resume_with_input' } } },
    });
    expect(result(run)).toMatchObject({ status: 'budget_exhausted', daemon_state: 'budget_exhausted' });
  });

  test('R88 watched paths: a changed file wakes and is named', async () => {
    let reads = 0;
    const mock = script(TEXT, TEXT, TEXT);
    await daemon({ watch_paths: ['a', 'b'], idle_watchdog_attempts: 9 }, { mock, files: () => ({ a: ++reads > 8 ? 2 : 1, b: 1 }) });
    expect(sent(mock)[1]?.messages.at(-1)?.content).toContain('Daemon wake: watched paths changed: a.');
  });

  test('R88 watched paths: what changed while the model worked is not missed, and no park happens', async () => {
    const times: Record<string, number> = { a: 1 };
    const mock = script(TEXT, TEXT);
    const touch = async (): Promise<undefined> => {
      times.a = 2;
      return undefined;
    };
    const run = await daemon(
      { watch_paths: ['a'], idle_watchdog_attempts: 2 },
      { mock, files: () => times, live: { callbacks: { loopControl: async () => (await touch()) ?? { decision: 'continue' } } } },
    );
    expect(sent(mock)[1]?.messages.at(-1)?.content).toContain('Daemon wake: watched paths changed: a.');
    expect(audits(run)).toHaveLength(1); // of the idle after the second turn
  });

  test('R88 agent/resume: a resume of an idling daemon is one wake, with or without input', async () => {
    const mock = script(TEXT, TEXT, TEXT);
    const inputs = ['look again', undefined];
    const onWake = (wake: ((input: string | undefined) => void) | undefined): void => {
      if (wake === undefined || inputs.length === 0) return;
      const input = inputs.shift();
      wake(input);
      wake('once too often');
    };
    await daemon({ wake_interval_ms: 3_600_000, max_iterations: 3, idle_watchdog_attempts: 9 }, { mock, worker: { onWake } });
    expect(sent(mock)[1]?.messages.at(-1)).toEqual({ role: 'user', content: 'look again' });
    expect(sent(mock)[2]?.messages.at(-1)?.content).toContain('Daemon wake: resumed.');
    expect(JSON.stringify(sent(mock))).not.toContain('once too often');
  });

  test('R88 messages: events of the queue come one at a time and leave it when their turn is settled', async () => {
    const queue = testQueue(['a', 'b']);
    const mock = script(TEXT, TEXT, TEXT);
    const run = await daemon({ max_iterations: 9 }, { mock, live: { daemon: queue.port } });
    expect(sent(mock)[1]?.messages.at(-1)?.content).toContain('Daemon event: {"seq":1,"enqueued_at":"then","payload":"a"}');
    expect(sent(mock)[2]?.messages.at(-1)?.content).toContain('"payload":"b"');
    expect(queue.log).toEqual(['take 1', 'settle 1', 'take 2', 'settle 2']);
    expect(run.records.filter((record) => record.t === 'turn').map((record) => record.consumed_event ?? null)).toEqual([null, 1, 2]);
    expect(result(run)).toMatchObject({ status: 'idle' });
  });

  test('R88 messages: an event is settled when the daemon rests, not while it still works on it', async () => {
    const queue = testQueue(['a']);
    const mock = script(TEXT, { tool_calls: [{ id: 'r', name: 'read', arguments: {} }] }, TEXT);
    const read = tool('read', () => {
      queue.log.push('read');
      return 'text';
    });
    const run = await daemon({ max_iterations: 9 }, { mock, live: { daemon: queue.port, tools: [read] } });
    expect(queue.log).toEqual(['take 1', 'read', 'settle 1']);
    expect(run.records.filter((record) => record.t === 'turn').map((record) => record.consumed_event ?? null)).toEqual([null, null, 1]);
  });

  test('an event that a crash cut off before its answer is not told twice in a row', async () => {
    const queue = testQueue(['a']);
    const told = '<runtime_feedback kind="daemon_wake">\nDaemon event: {"seq":1,"enqueued_at":"then","payload":"a"}\n</runtime_feedback>';
    const messages = [
      { role: 'assistant' as const, content: 'ready' },
      { role: 'user' as const, content: told },
    ];
    const state = writeLoopState({ transcript: transcriptFromMessages('s', messages), counters: NEW_COUNTERS });
    const begin = () => ({ restored: undefined, isRestored: true });
    const port = { ...NO_PORT, begin, next: { seq: 1, enqueued_at: 'then', payload: 'a', redelivered: true }, take: queue.port.take };
    const mock = script(TEXT);
    await daemon({ idle_watchdog_attempts: 1, wake_interval_ms: 60_000 }, { mock, state, live: { daemon: port } });
    expect(sent(mock)[0]?.messages.map((message) => message.content)).toEqual(['ready', told]);
  });

  test('a record on the topic wakes it, once', async () => {
    const topic = (): TopicView => ({
      latest: () => 4,
      next: (at) => (at < 5 ? { cursor: 5, payload: { n: 1 } } : undefined),
      close: () => {},
    });
    const mock = script(TEXT, TEXT);
    const run = await daemon({ resume_event_topic: 'jobs', max_iterations: 9, idle_watchdog_attempts: 2 }, { mock, worker: { topic } });
    expect(sent(mock)[1]?.messages.at(-1)?.content).toContain('Daemon wake: record 5 on topic jobs: {"n":1}');
    expect(result(run)).toMatchObject({ status: 'watchdog' });
  });

  test('consolidate_on_idle compacts before the idle, whatever the size', async () => {
    const compacted: number[] = [];
    const consolidate = async (messages: readonly Json[]): Promise<string> => {
      compacted.push(messages.length);
      return 'what happened so far';
    };
    const run = await daemon(
      { idle_watchdog_attempts: 1, wake_interval_ms: 60_000, compaction: { strategy: 'truncate', keep_last_n: 1 } },
      { mock: script(TEXT), live: { callbacks: { consolidate } } },
    );
    expect(compacted).toEqual([1]);
    expect(result(run)).toMatchObject({ transcript: { summary: 'what happened so far' } });
  });

  test('a topic becomes a condition of the park', async () => {
    const run = await daemon({ resume_event_topic: 'jobs', idle_watchdog_attempts: 1 }, { mock: script(TEXT) });
    expect(audits(run)[0]).toMatchObject({ audit: { conditions: { on_event: 'jobs' } } });
  });

  test('the watchdog ends a daemon that nothing wakes', async () => {
    const run = await daemon({ wake_interval_ms: 3_600_000, idle_watchdog_attempts: 3 }, { mock: script(TEXT) });
    expect(result(run)).toMatchObject({ status: 'watchdog', daemon_state: 'watchdog' });
    expect(run.events).toContainEqual(expect.objectContaining({ type: 'daemon_watchdog_tripped', attempts: 3, elapsed_ms: 1600 }));
  });

  test('a suspend request commits at B2', async () => {
    const run = await daemon(
      { wake_interval_ms: 3_600_000 },
      { mock: script(TEXT), worker: { suspendAt: { 2: { reason: 'pause', initiator: 'operator', conditions: undefined } } } },
    );
    expect(run.boundaries).toEqual(['B0', 'B1', 'B2']);
    expect(result(run)).toMatchObject({ status: 'suspended', reason: 'pause' });
  });

  test('a hook that denies keeps it waiting in this process', async () => {
    const run = await daemon(
      { idle_watchdog_attempts: 2 },
      { mock: script(TEXT), worker: { verdict: { decision: 'deny', reason: 'no' } } },
    );
    expect(run.end.kind).toBe('ended');
    expect(result(run)).toMatchObject({ status: 'watchdog' });
    expect(audits(run)).toEqual([]);
  });
});
