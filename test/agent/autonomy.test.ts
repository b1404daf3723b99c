import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { frozenClock, result, runActivation, script, tool } from './fake-activation.ts';

const HOUR = 3_600_000;
const ACT = { tool_calls: [{ name: 'act', arguments: {} }] };
const LOOK = { tool_calls: [{ name: 'look', arguments: {} }] };
const END = { text: 'end' };

/** A topic that several activations share, as the event log is. */
function sharedTopic() {
  const records: JsonObject[] = [];
  return {
    records,
    topic: () => ({
      latest: () => records.length,
      next: (cursor: number) => (cursor < records.length ? { cursor: cursor + 1, payload: records[cursor] ?? null } : undefined),
      close: () => {},
    }),
    log: (_topic: string, _kind: string, payload: JsonObject) => {
      records.push(payload);
    },
  };
}

describe('autonomy_budget (3.2, 3.7)', () => {
  const tools = [tool('act', () => 'acted'), tool('look', () => 'seen', { annotations: { readOnlyHint: true } })];

  test('calls with effects count; at the limit the loop ends for approval', async () => {
    const worker = sharedTopic();
    const options = { autonomy_budget: { per_hour: 2, key: 'bot', reviewer: 'ops' } };
    const run = await runActivation({ mock: script(LOOK, ACT, ACT, ACT, END), options, live: { tools }, worker });
    expect(result(run)).toMatchObject({
      status: 'approval_required',
      stop_reason: 'autonomy_budget',
      llm: { iterations: 3 },
      trace: { autonomy: { window: 'hour', limit: 2, spent: 2, key: 'bot', reviewer: 'ops' } },
    });
  });

  test('another loop with the same key finds it spent, until the hour is over; the day counts on', async () => {
    const worker = sharedTopic();
    const clock = frozenClock();
    const options = { autonomy_budget: { per_hour: 1, per_day: 2, key: 'bot' } };
    const again = () => runActivation({ mock: script(ACT, END), options, live: { tools }, worker, clock });
    const statuses = [result(await again()).status, result(await again()).status];
    await clock.advance(HOUR);
    statuses.push(result(await again()).status);
    await clock.advance(HOUR);
    const last = result(await again());
    await clock.advance(24 * HOUR);
    expect([...statuses, last.status, result(await again()).status]).toEqual([
      'approval_required',
      'approval_required',
      'approval_required',
      'approval_required',
      'approval_required',
    ]);
    expect(last).toMatchObject({ llm: { iterations: 0 }, trace: { autonomy: { window: 'day', spent: 2 } } });
    expect(worker.records).toHaveLength(3);
  });

  test('a loop within its budget ends as any other', async () => {
    const run = await runActivation({
      mock: script(ACT, END),
      options: { autonomy_budget: { per_hour: 2 } },
      live: { tools },
      worker: sharedTopic(),
    });
    expect(result(run)).toMatchObject({ status: 'done' });
  });
});
