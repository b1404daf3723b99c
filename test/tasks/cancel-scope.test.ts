import { describe, expect, test } from 'vitest';
import { type CancelObserver, CancelScope } from '../../src/tasks/cancel-scope.ts';

function root(observer?: CancelObserver): CancelScope {
  return CancelScope.following(new AbortController().signal, observer);
}

describe('a cancel scope', () => {
  test('cancels everything below it with its own reason', () => {
    const top = root().open();
    const leaf = top.open().open();
    top.cancel('why');
    expect([leaf.isCancelled, leaf.signal.reason]).toEqual([true, 'why']);
  });

  test('leaves siblings and parents alone', () => {
    const parent = root();
    const sibling = parent.open();
    parent.open().cancel('why');
    expect([parent.isCancelled, sibling.isCancelled]).toEqual([false, false]);
  });

  test('keeps the first reason', () => {
    const scope = root().open();
    scope.cancel('first');
    scope.cancel('second');
    expect(scope.signal.reason).toBe('first');
  });

  test('opened below a cancelled one is born cancelled', () => {
    const parent = root();
    parent.cancel('why');
    expect(parent.open().signal.reason).toBe('why');
  });

  test('follows a signal from outside', () => {
    const outside = new AbortController();
    const child = CancelScope.following(outside.signal).open();
    outside.abort('end');
    expect(child.signal.reason).toBe('end');
  });

  test('that is closed gives its children to its parent', () => {
    const parent = root();
    const block = parent.open();
    const task = block.open();
    block.close();
    block.cancel('too late');
    expect([block.isCancelled, task.isCancelled]).toEqual([false, false]);
    parent.cancel('why');
    expect(task.signal.reason).toBe('why');
  });

  test('cancelChildren spares the scope itself', () => {
    const parent = root();
    const child = parent.open();
    parent.cancelChildren('why');
    expect([parent.isCancelled, child.isCancelled]).toEqual([false, true]);
  });

  test('tells its observer of each cancelled scope below the root, and when it is left', () => {
    const events: string[] = [];
    const top = root({ cancelled: () => events.push('cancelled'), left: () => events.push('left') });
    const block = top.open();
    const calm = top.open();
    block.cancel('why');
    block.close();
    block.close();
    calm.close();
    expect(events).toEqual(['cancelled', 'left']);
  });
});
