import { describe, expect, it } from 'vitest';
import { lifecycleStateOf, transition, type WorkerEvent } from '../../src/lifecycle/transition.ts';
import type { WorkerStatus } from '../../src/store/worker-status.ts';

const STATUSES: WorkerStatus[] = ['running', 'awaiting', 'suspended', 'interrupted', 'completed', 'failed', 'cancelled'];
const EVENTS: WorkerEvent[] = ['suspend', 'park', 'resume', 'close', 'complete', 'fail', 'await', 'restart', 'expire', 'fence'];

/** `>x` goes to x, `=` stays, a number refuses with that code, `plain` refuses without one, `-` cannot come up. */
const TABLE: Record<WorkerStatus, readonly string[]> = {
  running: ['=', '>suspended', '003', '>cancelled', '>completed', '>failed', '>awaiting', 'plain', '-', '006'],
  awaiting: ['001', '-', '003', '>cancelled', '-', '-', '-', '>running', '-', '006'],
  suspended: ['=', '-', '>running', '>cancelled', '-', '-', '-', 'plain', '>failed', '006'],
  interrupted: ['001', '-', '>running', '>cancelled', '-', '-', '-', 'plain', '-', '006'],
  completed: ['001', '-', '003', '=', '-', '-', '-', '>running', '-', '-'],
  failed: ['001', '-', '003', '=', '-', '-', '-', '>running', '-', '-'],
  cancelled: ['001', '-', '010', '=', '-', '-', '-', 'plain', '-', '-'],
};

function shown(status: WorkerStatus, event: WorkerEvent): string {
  const decision = transition(status, event);
  if (decision.kind === 'go') return `>${decision.to}`;
  if (decision.kind === 'stay') return '=';
  return { none: '-', plain: 'plain' }[decision.code as string] ?? decision.code.slice(-3);
}

describe('R6 the state machine', () => {
  for (const status of STATUSES) {
    for (const [index, event] of EVENTS.entries()) {
      it(`${event} of a worker that is ${status}`, () => {
        expect(shown(status, event)).toBe(TABLE[status][index]);
      });
    }
  }

  it('nothing but a new task leaves done, and nothing leaves closed', () => {
    for (const event of EVENTS) {
      expect(transition('cancelled', event).kind).not.toBe('go');
      if (event !== 'restart') expect(transition('completed', event).kind).not.toBe('go');
    }
  });

  it('has four states behind its words', () => {
    expect(STATUSES.map(lifecycleStateOf)).toEqual(['running', 'running', 'suspended', 'suspended', 'done', 'done', 'closed']);
  });
});
