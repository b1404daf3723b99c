import { expect, test } from 'vitest';
import { linesOf, type ScriptRow } from './run-text.ts';

const ROWS: readonly ScriptRow[] = [
  [
    'mock_time freezes every clock, and sleep moves it',
    'mock_time(1700000000000); println([now_ms(), monotonic_ms(), elapsed(), timestamp()]); sleep_ms(250); sleep(1s); println([now_ms(), monotonic_ms()])',
    ['[1700000000000, 0, 0, 1700000000.0]', '[1700000001250, 1250]'],
  ],
  [
    'advance_time moves wall and monotonic clock',
    'advance_time(1000); advance_time(1s); println([now_ms(), monotonic_ms()])',
    ['[2000, 2000]'],
  ],
  [
    'advance_time fires what is due, in order',
    'let h = spawn { channel_select([channel("a")], 20); println("a ${now_ms()}") }; let g = spawn { channel_select([channel("b")], 10); println("b ${now_ms()}") }; await(spawn { 1 }); advance_time(100); await(g); await(h)',
    ['b 10', 'a 20'],
  ],
  [
    'sleep takes durations and numbers; other kinds do not wait',
    'sleep(5ms); sleep(5); sleep("x"); sleep(nil); sleep(-5); println(now_ms())',
    ['10'],
  ],
  ['unmock_time lets the clock run', 'unmock_time(); println(now_ms() > 1000000)', ['true']],
  [
    'a timer prints and gives its milliseconds',
    'let t = timer_start("load"); sleep(12); println(timer_end(t)); println(timer_start().name)',
    ['[timer] load: 12ms', '12', 'default'],
  ],
  [
    'a circuit breaker opens at its threshold, and may be tried again after its time',
    `println(circuit_breaker("api", 2, 100))
println([circuit_check("api"), circuit_record_failure("api"), circuit_record_failure("api"), circuit_record_failure("api"), circuit_check("api")])
sleep(100)
println(circuit_check("api"))
println([circuit_record_failure("api"), circuit_check("api")])
sleep(100)
println([circuit_record_success("api"), circuit_check("api"), circuit_record_failure("api")])`,
    ['api', '[closed, false, true, false, open]', 'half_open', '[true, open]', '[nil, closed, false]'],
  ],
  [
    'circuit_reset closes, and an unknown circuit is closed',
    'circuit_breaker("x", 1); circuit_record_failure("x"); println(circuit_reset("x")); println([circuit_check("x"), circuit_check("unknown")])',
    ['nil', '[closed, closed]'],
  ],
];

test.each(ROWS)('%s', async (_rule, script, lines) => {
  expect(await linesOf(script)).toEqual(lines);
});
