import { expect, test } from 'vitest';
import { linesOf, type ScriptRow } from './run-text.ts';

const ROWS: readonly ScriptRow[] = [
  [
    'a channel shows its name',
    'println(channel("events")); println(channel()); println(type_of(channel()))',
    ['<channel:events>', '<channel:default>', 'channel'],
  ],
  [
    'send is false when closed, receive nil when closed and drained',
    'let c = channel("c", 1); send(c, 1); close_channel(c); println(send(c, 2)); println(receive(c)); println(receive(c))',
    ['false', '1', 'nil'],
  ],
  [
    'send waits while the channel is full',
    'let c = channel("c", 1); let h = spawn { send(c, 1); send(c, 2); println("sent") }; sleep(1); println(receive(c)); println(receive(c)); await(h)',
    ['1', '2', 'sent'],
  ],
  ['try_receive never waits', 'let c = channel(); println(try_receive(c)); send(c, 1); println(try_receive(c))', ['nil', '1']],
  ['send to something else', 'try { send(1, 2) } catch (e) { println(e) }', ['send: first argument must be a channel']],
  [
    'channel_select names the channel',
    'let a = channel("a"); let b = channel("b"); send(b, 5); println(channel_select([a, b]))',
    ['{channel: b, index: 1, value: 5}'],
  ],
  [
    'channel_select gives nil when the time is up or all are closed',
    'let a = channel("a"); let h = spawn { sleep(20) }; println(channel_select([a], 10)); println(channel_select([a], 0)); close_channel(a); println(channel_select([a]))',
    ['nil', 'nil', 'nil'],
  ],
  [
    'select as a call tells that all are closed',
    'let a = channel("a"); close_channel(a); println(select(a))',
    ['{channel: nil, index: -1, value: nil}'],
  ],
  [
    'the select statement takes the first ready case in source order',
    'let a = channel("a"); let b = channel("b"); send(b, 1); send(a, 2); select { m from a { println("a ${m}") } m from b { println("b ${m}") } }',
    ['a 2'],
  ],
  ['default runs at once when nothing is ready', 'select { m from channel("a") { println(m) } default { println("none") } }', ['none']],
  ['a lone default is a select too', 'select { default { println("none") } }', ['none']],
  [
    'timeout runs when no value comes in time',
    'let h = spawn { sleep(100) }; let a = channel("a"); select { m from a { println(m) } timeout 50ms { println("late ${now_ms()}") } }',
    ['late 50'],
  ],
  [
    'a value in time beats the timeout',
    'let a = channel("a"); spawn { sleep(10); send(a, "v") }; select { m from a { println(m) } timeout 50ms { println("late") } }',
    ['v'],
  ],
  [
    'with all channels closed the timeout block runs, else nothing',
    'let a = channel("a"); close_channel(a); select { m from a { println(m) } timeout 1h { println("closed") } }; select { m from a { println(m) } }; println("end")',
    ['closed', 'end'],
  ],
];

test.each(ROWS)('%s', async (_rule, script, lines) => {
  expect(await linesOf(script)).toEqual(lines);
});
