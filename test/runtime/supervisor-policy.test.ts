import { describe, expect, test } from 'vitest';
import {
  type AfterEnd,
  afterEnd,
  type ChildHistory,
  DEFAULT_POLICY,
  type RestartPolicy,
} from '../../src/runtime/concurrency/supervisor-policy.ts';

type Row = readonly [rule: string, policy: Partial<RestartPolicy>, history: Partial<ChildHistory>, end: 'well' | 'badly', next: AfterEnd];

const NOW = 10_000;

const ROWS: readonly Row[] = [
  ['a child that ended well stops', { mode: 'on_failure' }, {}, 'well', { kind: 'stop' }],
  ['a child of mode never that failed is given up', { mode: 'never' }, {}, 'badly', { kind: 'give_up', reason: 'not_restartable' }],
  [
    'a child of mode always starts again after a good end too',
    { mode: 'always', backoffMs: 7 },
    {},
    'well',
    { kind: 'restart', afterMs: 7 },
  ],
  ['a failed child starts again after the backoff', { mode: 'on_failure', backoffMs: 7 }, {}, 'badly', { kind: 'restart', afterMs: 7 }],
  [
    'the backoff grows with each restart',
    { mode: 'on_failure', backoffMs: 7, maxRestarts: 9 },
    { restartedAt: [1, 2] },
    'badly',
    { kind: 'restart', afterMs: 28 },
  ],
  [
    'the backoff has an upper bound',
    { mode: 'on_failure', backoffMs: 7, maxBackoffMs: 10, maxRestarts: 9 },
    { restartedAt: [1, 2] },
    'badly',
    { kind: 'restart', afterMs: 10 },
  ],
  [
    'the cap counts restarts within the window',
    { mode: 'on_failure', maxRestarts: 1, windowMs: 100 },
    { restartedAt: [NOW - 100] },
    'badly',
    { kind: 'give_up', reason: 'restart_cap_exceeded' },
  ],
  [
    'restarts before the window do not count',
    { mode: 'on_failure', maxRestarts: 1, windowMs: 100, backoffMs: 1, factor: 1 },
    { restartedAt: [NOW - 101] },
    'badly',
    { kind: 'restart', afterMs: 1 },
  ],
  [
    'with a circuit the cap opens it',
    { mode: 'on_failure', maxRestarts: 0, circuitOpenMs: 50 },
    {},
    'badly',
    { kind: 'open_circuit', forMs: 50 },
  ],
  [
    'a failed trial opens the circuit again',
    { mode: 'on_failure', maxRestarts: 9, circuitOpenMs: 50 },
    { wasTrial: true },
    'badly',
    { kind: 'open_circuit', forMs: 50 },
  ],
];

describe('after an attempt', () => {
  test.each(ROWS)('%s', (_rule, policy, history, end, next) => {
    const whole = { ...DEFAULT_POLICY, ...policy };
    expect(afterEnd(whole, { restartedAt: [], wasTrial: false, ...history }, NOW, end === 'badly')).toEqual(next);
  });
});
