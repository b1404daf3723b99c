import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Fifo } from '../../src/tasks/fifo.ts';

test('a fifo behaves like an array, also when it gets long', () => {
  const bulk = fc.record({ pushes: fc.nat(1500), shifts: fc.nat(1500) });
  fc.assert(
    fc.property(fc.array(bulk, { maxLength: 6 }), (steps) => {
      const fifo = new Fifo<number>();
      const model: number[] = [];
      let next = 0;
      for (const { pushes, shifts } of steps) {
        for (let count = 0; count < pushes; count++) {
          fifo.push(next);
          model.push(next++);
        }
        for (let count = 0; count < shifts; count++) {
          if (fifo.shift() !== model.shift()) return false;
        }
        if (fifo.size !== model.length) return false;
      }
      return true;
    }),
    { numRuns: 30 },
  );
  expect(new Fifo().shift()).toBeUndefined();
});
