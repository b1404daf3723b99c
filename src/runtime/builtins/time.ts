import { ControlledClock } from '../../platform/controlled-clock.ts';
import type { BuiltinGroup } from '../builtin.ts';
import { type CircuitBreakers, circuitBreakers } from '../concurrency/circuit.ts';
import type { Context } from '../context.ts';
import { dictGet, dictOf } from '../dict.ts';
import { display } from '../display.ts';
import { durationMs } from '../duration.ts';
import { runtimeError } from '../errors.ts';
import { writeOutput } from '../output.ts';
import { Dict, Float, type Value } from '../value.ts';

export const timeBuiltins: BuiltinGroup = {
  name: 'time',
  title: 'Clock, timers, circuit breakers',
  errors: [{ text: 'Deadline exceeded', when: 'a `deadline` ends while the call waits' }],
  builtins: {
    sleep: {
      signature: '(time: duration | int | float | any) -> nil',
      doc: 'Waits for a duration, or for a number of milliseconds. Under mock_time the clock moves on and the call returns at once.',
      colour: 'async',
      call: (context, _depth, time) => pause(context, time),
    },
    sleep_ms: {
      signature: '(ms: int | float | duration) -> nil',
      doc: 'Waits for a number of milliseconds, as sleep does.',
      colour: 'async',
      call: (context, _depth, time) => pause(context, time),
    },
    timestamp: {
      signature: '() -> float',
      doc: 'Seconds since the Unix epoch, with a fraction.',
      call: (context) => new Float(context.run.platform.clock.now() / 1000),
    },
    now_ms: {
      signature: '() -> int',
      doc: 'Milliseconds since the Unix epoch.',
      call: (context) => context.run.platform.clock.now(),
    },
    monotonic_ms: {
      signature: '() -> int',
      doc: 'Milliseconds of a clock that never goes back; only differences mean anything. Starts at 0 with mock_time.',
      call: (context) => monotonic(context),
    },
    elapsed: {
      signature: '() -> int',
      doc: 'Milliseconds since the process began.',
      call: (context) => monotonic(context),
    },
    mock_time: {
      signature: '(ms: int | float | duration) -> nil',
      doc: 'Freezes every clock at this many milliseconds since the Unix epoch.',
      call: (context, _depth, ms) => {
        controlledClock(context).mock(durationMs(ms) ?? 0);
        return undefined;
      },
    },
    advance_time: {
      signature: '(ms: int | float | duration) -> nil',
      doc: 'Moves the frozen clocks forward and lets everything happen that is due on the way. Without effect unless mock_time is active.',
      colour: 'async',
      call: async (context, _depth, ms) => {
        await controlledClock(context).advance(durationMs(ms) ?? 0);
        return undefined;
      },
    },
    unmock_time: {
      signature: '() -> nil',
      doc: 'Lets the clocks run again.',
      call: (context) => {
        controlledClock(context).unmock();
        return undefined;
      },
    },
    timer_start: {
      signature: '(name: any = "default") -> dict',
      doc: 'Starts a stopwatch: {name, start_ms}. Give it to timer_end.',
      call: (context, _depth, name) =>
        dictOf([
          ['name', name === undefined ? 'default' : display(name)],
          ['start_ms', context.run.platform.clock.now()],
        ]),
    },
    timer_end: {
      signature: '(timer: any) -> int',
      doc: 'Prints and gives the milliseconds since timer_start.',
      call: endTimer,
    },
    circuit_breaker: {
      signature: '(name: any, threshold: any = 5, reset_ms: any = 30000) -> string',
      doc: 'Creates a circuit breaker that opens after threshold failures and may be tried again reset_ms later. Gives its name.',
      call: (context, _depth, name, threshold, resetMs) => {
        const limit = typeof threshold === 'number' ? threshold : undefined;
        breakers(context).create(display(name), limit, durationMs(resetMs));
        return display(name);
      },
    },
    circuit_check: {
      signature: '(name: any) -> string',
      doc: 'The state of a circuit breaker: "closed", "open", or "half_open" when it may be tried again.',
      call: (context, _depth, name) => breakers(context).state(display(name)),
    },
    circuit_record_failure: {
      signature: '(name: any) -> bool',
      doc: 'Counts a failure; true exactly when it opened the circuit just now.',
      call: (context, _depth, name) => breakers(context).recordFailure(display(name)),
    },
    circuit_record_success: {
      signature: '(name: any) -> nil',
      doc: 'Closes the circuit and forgets its failures.',
      call: (context, _depth, name) => closeCircuit(context, name),
    },
    circuit_reset: {
      signature: '(name: any) -> nil',
      doc: 'Closes the circuit and forgets its failures.',
      call: (context, _depth, name) => closeCircuit(context, name),
    },
  },
};

async function pause(context: Context, time: Value): Promise<undefined> {
  const ms = durationMs(time);
  if (ms !== undefined) await context.run.platform.clock.sleep(ms, context.signal);
  return undefined;
}

function monotonic(context: Context): Value {
  const { clock } = context.run.platform;
  return Math.floor(clock instanceof ControlledClock ? clock.scriptMonotonicMs() : clock.monotonicMs());
}

function controlledClock(context: Context): ControlledClock {
  const { clock } = context.run.platform;
  if (clock instanceof ControlledClock) return clock;
  throw runtimeError('the clock of this host cannot be mocked');
}

function endTimer(context: Context, _depth: number, timer?: Value): Value {
  if (!(timer instanceof Dict)) return undefined;
  const startMs = durationMs(dictGet(timer, 'start_ms')) ?? 0;
  const ms = Math.max(0, context.run.platform.clock.now() - startMs);
  writeOutput(context, `[timer] ${display(dictGet(timer, 'name'))}: ${ms}ms\n`);
  return ms;
}

function closeCircuit(context: Context, name: Value): undefined {
  breakers(context).close(display(name));
  return undefined;
}

function breakers(context: Context): CircuitBreakers {
  return circuitBreakers(context.run);
}
