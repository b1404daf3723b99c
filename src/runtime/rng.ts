import { Handle } from './value.ts';

/** A seeded generator (SplitMix64): small, well spread, and the same on every machine. */
export class RandomGenerator extends Handle {
  readonly typeName = 'rng';
  #state: bigint;

  constructor(seed: bigint) {
    super();
    this.#state = BigInt.asUintN(64, seed);
  }

  /** In [0, 1). */
  next(): number {
    this.#state = BigInt.asUintN(64, this.#state + 0x9e3779b97f4a7c15n);
    let z = this.#state;
    z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
    z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
    return Number((z ^ (z >> 31n)) >> 11n) / 2 ** 53;
  }

  display(): string {
    return '<rng>';
  }
}
