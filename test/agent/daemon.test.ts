import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { frozenClock, type Run, result, runActivation, type Setup, script, sent } from './fake-activation.ts';

const TEXT = { text: 'nothing to do' };

/** An idling daemon that takes at most two turns. */
function daemon(options: JsonObject, setup: Setup = {}): Promise<Run> {
  return runActivation({ ...setup, options: { daemon: true, max_iterations: 2, ...options } });
}

function audits(run: Run): JsonObject[] {
  return run.events.filter((event) => event.type === 'tool_call_audit');
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
    expect(sent(mock)[1]?.messages.at(-1)?.content).toContain('Daemon timer wake fired at 1970-01-01T00:01:30.000Z.');
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
