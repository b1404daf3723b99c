import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Channel, CLOSED, selectChannel } from '../../src/tasks/channel.ts';

const never = new AbortController().signal;

describe('a channel', () => {
  test('keeps the order of sends, also of those that had to wait for room', async () => {
    const channel = new Channel<number>(1);
    const sends = [1, 2, 3].map((value) => channel.send(value, never));
    const received = [];
    for (let index = 0; index < 3; index++) received.push(await channel.receive(never));
    expect(received).toEqual([1, 2, 3]);
    expect(await Promise.all(sends)).toEqual([true, true, true]);
  });

  test('serves receivers in the order in which they began to wait', async () => {
    const channel = new Channel<string>(1);
    const receives = [channel.receive(never), channel.receive(never)];
    channel.trySend('a');
    channel.trySend('b');
    expect(await Promise.all(receives)).toEqual(['a', 'b']);
  });

  test('that is closed can be drained, refuses sends and then ends', async () => {
    const channel = new Channel<number>(2);
    channel.trySend(1);
    channel.close();
    expect([channel.send(2, never), channel.receive(never), channel.receive(never)]).toEqual([false, 1, CLOSED]);
  });

  test('close refuses waiting senders and wakes waiting receivers', async () => {
    const full = new Channel<number>(1);
    full.trySend(1);
    const send = full.send(2, never);
    const empty = new Channel<number>(1);
    const receive = empty.receive(never);
    full.close();
    empty.close();
    expect([await send, await receive]).toEqual([false, CLOSED]);
  });

  test('a receiver that gave up loses no value', async () => {
    const channel = new Channel<number>(1);
    const end = new AbortController();
    const receive = channel.receive(end.signal);
    end.abort('gone');
    await expect(receive).rejects.toBe('gone');
    channel.trySend(7);
    expect(channel.receive(never)).toBe(7);
  });

  test('a sender that gave up leaves nothing behind', async () => {
    const channel = new Channel<number>(1);
    channel.trySend(1);
    const end = new AbortController();
    const send = channel.send(2, end.signal);
    end.abort('gone');
    await expect(send).rejects.toBe('gone');
    expect([channel.tryReceive(), channel.tryReceive()]).toEqual([{ value: 1 }, undefined]);
  });
});

describe('select', () => {
  test('takes the first channel in source order that is ready', () => {
    const channels = [new Channel<string>(1), new Channel<string>(1), new Channel<string>(1)];
    channels[2]?.trySend('c');
    channels[1]?.trySend('b');
    expect(selectChannel(channels, never)).toEqual({ index: 1, value: 'b' });
  });

  test('takes a value from one channel alone', async () => {
    const [a, b] = [new Channel<string>(1), new Channel<string>(1)];
    const selected = selectChannel([a, b], never);
    b.trySend('b');
    a.trySend('a');
    expect(await selected).toEqual({ index: 1, value: 'b' });
    expect(a.tryReceive()).toEqual({ value: 'a' });
  });

  test('goes on when one channel closes, and ends when the last one does', async () => {
    const [a, b] = [new Channel<string>(1), new Channel<string>(1)];
    const first = selectChannel([a, b], never);
    a.close();
    b.trySend('b');
    expect(await first).toEqual({ index: 1, value: 'b' });
    const second = selectChannel([a, b], never);
    b.close();
    expect(await second).toBeUndefined();
  });

  test('ends when its time is up and then leaves nothing waiting', async () => {
    const channel = new Channel<string>(1);
    let fire = (): void => {};
    const selected = selectChannel([channel], never, (callback) => {
      fire = callback;
      return () => {};
    });
    fire();
    expect(await selected).toBeUndefined();
    channel.trySend('kept');
    expect(channel.tryReceive()).toEqual({ value: 'kept' });
  });
});

type Step = { readonly kind: 'send'; readonly value: number } | { readonly kind: 'receive' | 'abort' | 'close' };

const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('send' as const), value: fc.nat(99) }),
    fc.record({ kind: fc.constantFrom('receive' as const, 'receive' as const, 'abort' as const) }),
    fc.record({ kind: fc.constant('close' as const) }),
  ),
  { maxLength: 40 },
);

test('any interleaving of sends, receives, aborts and a close behaves like one queue', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 3 }), steps, async (capacity, script: readonly Step[]) => {
      const channel = new Channel<number>(capacity);
      const sent: number[] = [];
      const received: number[] = [];
      const waits: Promise<void>[] = [];
      const receivers: AbortController[] = [];
      let isClosed = false;
      for (const step of script) {
        if (step.kind === 'send') {
          // The queue holds values in the order of the calls; a refused send never shows up.
          const position = isClosed ? -1 : sent.push(step.value) - 1;
          waits.push(
            Promise.resolve(channel.send(step.value, never)).then((ok) => {
              if (!ok && position >= 0) sent[position] = Number.NaN;
            }),
          );
        } else if (step.kind === 'receive') {
          const end = new AbortController();
          receivers.push(end);
          const answer = Promise.resolve(channel.receive(end.signal));
          waits.push(
            answer.then(
              (value) => void (value === CLOSED || received.push(value)),
              () => {},
            ),
          );
        } else if (step.kind === 'abort') receivers.shift()?.abort('gone');
        else {
          channel.close();
          isClosed = true;
        }
        if (channel.size > capacity) throw new Error('more values than the capacity');
        await new Promise((resolve) => setImmediate(resolve));
      }
      channel.close();
      await new Promise((resolve) => setImmediate(resolve));
      for (let rest = channel.tryReceive(); rest !== undefined; rest = channel.tryReceive()) received.push(rest.value);
      await Promise.all(waits);
      expect(received).toEqual(sent.filter((value) => !Number.isNaN(value)));
    }),
    { numRuns: 60 },
  );
});
