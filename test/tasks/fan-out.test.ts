import { describe, expect, test } from 'vitest';
import { CancelScope } from '../../src/tasks/cancel-scope.ts';
import { fanOut, firstFailure } from '../../src/tasks/fan-out.ts';
import { Task } from '../../src/tasks/task.ts';
import { waitFor } from '../../src/tasks/wait.ts';

function root(): CancelScope {
  return CancelScope.following(new AbortController().signal);
}

/** A promise that a test settles by hand. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe('fanOut', () => {
  test('gives outcomes by index, whatever finishes first', async () => {
    const gates = [gate(), gate()];
    const running = fanOut(root().open(), {
      count: 2,
      limit: Number.POSITIVE_INFINITY,
      body: async (index) => {
        await gates[index]?.opened;
        return index;
      },
    });
    gates[1]?.open();
    gates[0]?.open();
    expect(await running).toEqual([
      { kind: 'done', value: 0 },
      { kind: 'done', value: 1 },
    ]);
  });

  test('lets every body end when one fails, and finds the failure of lowest index', async () => {
    const ended: number[] = [];
    const outcomes = await fanOut(root().open(), {
      count: 3,
      limit: Number.POSITIVE_INFINITY,
      body: async (index) => {
        await undefined;
        ended.push(index);
        if (index > 0) throw `e${index}`;
        return index;
      },
    });
    expect(ended).toEqual([0, 1, 2]);
    expect(firstFailure(outcomes)).toEqual({ kind: 'failed', error: 'e1' });
  });

  test.each([1, 2, 3])('never runs more than %i bodies at a time', async (limit) => {
    let running = 0;
    let most = 0;
    await fanOut(root().open(), {
      count: 10,
      limit,
      body: async () => {
        most = Math.max(most, ++running);
        await undefined;
        running--;
      },
    });
    expect(most).toBe(limit);
  });

  test('does not begin bodies once the scope is cancelled', async () => {
    const scope = root().open();
    const begun: number[] = [];
    const outcomes = await fanOut(scope, {
      count: 3,
      limit: 1,
      body: async (index) => {
        begun.push(index);
        scope.cancel('stop');
        await undefined;
      },
    });
    expect(begun).toEqual([0]);
    expect(outcomes.map((outcome) => outcome.kind)).toEqual(['done', 'failed', 'failed']);
  });
});

describe('a task', () => {
  test('begins when the code that started it waits', async () => {
    const order: string[] = [];
    const task = Task.start(root(), () => void order.push('task'));
    order.push('starter');
    await task.settled;
    expect(order).toEqual(['starter', 'task']);
  });

  test('that is cancelled before it begins never runs', async () => {
    let hasRun = false;
    const task = Task.start(root(), () => {
      hasRun = true;
    });
    task.cancel('dropped');
    expect(await task.settled).toEqual({ kind: 'failed', error: 'dropped' });
    expect(hasRun).toBe(false);
  });

  test('that waits unwinds with the reason', async () => {
    const task = Task.start(root(), (scope) => waitFor(scope.signal, () => () => {}));
    await undefined;
    await undefined;
    task.cancel('why');
    expect(await task.settled).toEqual({ kind: 'failed', error: 'why' });
  });
});
