import type { BuiltinGroup } from '../builtin.ts';
import { callValue } from '../call.ts';
import { caughtValue } from '../caught.ts';
import { rateLimits } from '../concurrency/rate-limit.ts';
import type { Context } from '../context.ts';
import { dictGet } from '../dict.ts';
import { display } from '../display.ts';
import { durationMs } from '../duration.ts';
import { errorCategory } from '../error-category.ts';
import { typeError } from '../errors.ts';
import { Dict, isCallable, typeOf, type Value } from '../value.ts';

const DEFAULT_RETRIES = 5;
const DEFAULT_BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 30_000;
const RETRYABLE: ReadonlySet<string> = new Set(['rate_limit', 'overloaded', 'transient_network', 'timeout']);

export const rateLimitBuiltins: BuiltinGroup = {
  name: 'rate-limit',
  title: 'Rate limits',
  errors: [{ text: 'Type error: with_rate_limit: expected callable, got T', when: '`with_rate_limit`' }],
  builtins: {
    llm_rate_limit: {
      signature: '(provider: any, limit: int | dict = nil) -> int | bool | nil',
      doc: 'Without a limit: the requests per minute allowed for a provider, or nil. With one (an int, or {rpm}) sets it and gives true; 0 removes it.',
      call: (context, _depth, provider, limit) => {
        const limits = rateLimits(context.run);
        const perMinute = limit instanceof Dict ? dictGet(limit, 'rpm') : limit;
        if (perMinute === undefined) return limits.get(display(provider));
        limits.set(display(provider), durationMs(perMinute) ?? 0);
        return true;
      },
    },
    with_rate_limit: {
      signature: '(provider: any, callback: fn() -> any, options: dict = nil) -> any',
      doc: 'Waits until the provider may be asked, calls fn and gives its value. Errors of the categories rate_limit, overloaded, transient_network and timeout are retried with a doubling wait. Options: max_retries (5), backoff_ms (1000).',
      colour: 'async',
      call: callLimited,
    },
  },
};

async function callLimited(context: Context, depth: number, provider?: Value, fn?: Value, options?: Value): Promise<Value> {
  if (!isCallable(fn)) throw typeError(`with_rate_limit: expected callable, got ${typeOf(fn)}`);
  const option = (name: string): number | undefined => (options instanceof Dict ? durationMs(dictGet(options, name)) : undefined);
  const maxRetries = option('max_retries') ?? DEFAULT_RETRIES;
  let backoffMs = option('backoff_ms') ?? DEFAULT_BACKOFF_MS;
  for (let retries = 0; ; retries++) {
    await rateLimits(context.run).admit(display(provider), context.signal);
    try {
      return await callValue(context, depth, fn);
    } catch (error) {
      if (context.signal.aborted || retries >= maxRetries || !RETRYABLE.has(errorCategory(caughtValue(error)))) throw error;
    }
    await context.run.platform.clock.sleep(backoffMs, context.signal);
    backoffMs = Math.min(MAX_BACKOFF_MS, backoffMs * 2);
  }
}
