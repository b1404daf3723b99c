import { expect, test } from 'vitest';
import { linesOf, type ScriptRow } from './run-text.ts';

const ROWS: readonly ScriptRow[] = [
  [
    'a limit is set, asked and removed',
    'println(llm_rate_limit("p")); llm_rate_limit("p", {rpm: 100}); println(llm_rate_limit("p")); llm_rate_limit("p", 7); println(llm_rate_limit("p")); llm_rate_limit("p", 0); println(llm_rate_limit("p"))',
    ['nil', '100', '7', 'nil'],
  ],
  ['without a limit nobody waits', 'println(with_rate_limit("p", { -> 5 })); println(now_ms())', ['5', '0']],
  [
    'a full window makes the next request wait until its oldest has left',
    'llm_rate_limit("p", 2); for i in 1 to 5 { sleep(10); with_rate_limit("p", { -> println(now_ms()) }) }',
    ['10', '20', '60010', '60020', '120010'],
  ],
  [
    'errors that a retry can help are retried with a doubling wait',
    'let n = atomic(0); println(with_rate_limit("p", { -> if atomic_add(n, 1) < 3 { throw "HTTP 429" }; now_ms() }, {backoff_ms: 10}))',
    ['70'],
  ],
  [
    'other errors are not retried',
    'let n = atomic(0); try { with_rate_limit("p", { -> atomic_add(n, 1); throw "HTTP 404" }) } catch (e) { println(e) }; println(atomic_get(n))',
    ['HTTP 404', '1'],
  ],
  [
    'after the last retry the error is thrown',
    'let n = atomic(0); try { with_rate_limit("p", { -> atomic_add(n, 1); throw "HTTP 503" }, {max_retries: 2, backoff_ms: 1}) } catch (e) { println(e) }; println(atomic_get(n))',
    ['HTTP 503', '3'],
  ],
];

test.each(ROWS)('%s', async (_rule, script, lines) => {
  expect(await linesOf(script)).toEqual(lines);
});
