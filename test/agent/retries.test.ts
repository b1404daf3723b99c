import { describe, expect, test } from 'vitest';
import { llmError, retryDelayMs, withRetries } from '../../src/agent/providers/llm-errors.ts';

describe('the wait before a further attempt (1.7)', () => {
  const rows: readonly [rule: string, failures: number, retryAfterMs: number | undefined, delayMs: number][] = [
    ['is the backoff at first', 0, undefined, 100],
    ['doubles', 3, undefined, 800],
    ['grows to sixteen times the backoff and no further', 9, undefined, 1600],
    ['is what the service asks for', 9, 5_000, 5_000],
    ['is a minute when the service asks for an hour', 0, 3_600_000, 60_000],
  ];
  test.each(rows)('%s', (_rule, failures, retryAfterMs, delayMs) => {
    expect(retryDelayMs(failures, 100, retryAfterMs)).toBe(delayMs);
  });
});

test.each(['openai', 'mock'])('a call of %s that is cancelled while it fails is not tried again', async (provider) => {
  const end = new AbortController();
  let attempts = 0;
  let waits = 0;
  const sleep = async (): Promise<void> => {
    waits++;
  };
  const fault = llmError({ category: 'rate_limit', message: 'slow down', provider, model: 'm' });
  const attempt = async (): Promise<never> => {
    attempts++;
    end.abort();
    throw fault;
  };
  await expect(withRetries({ retries: 3, backoffMs: 100 }, { sleep, jitter: () => 0 }, end.signal, attempt)).rejects.toBe(fault);
  expect([attempts, waits]).toEqual([1, 0]);
});
