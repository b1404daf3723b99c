import type { Context } from '../context.ts';
import { dictEntries, dictGet, dictHas, dictOf } from '../dict.ts';
import { display } from '../display.ts';
import { equals } from '../equality.ts';
import { thrown, thrownText } from '../errors.ts';
import { Dict, type Value } from '../value.ts';
import { field } from './agent-values.ts';

/** Scripted answers of host operations, for tests, in nested scopes. */
export interface HostMock {
  readonly capability: string;
  readonly operation: string;
  /** The mock stands for calls whose parameters hold these; undefined for every call. */
  readonly params: Dict | undefined;
  readonly answer: { readonly result: Value } | { readonly error: Value };
}

interface Scope {
  readonly mocks: HostMock[];
  readonly calls: Value[];
}

class HostMocks {
  #scope: Scope = emptyScope();
  readonly #outer: Scope[] = [];

  add(mock: HostMock): void {
    this.#scope.mocks.push(mock);
  }

  get calls(): readonly Value[] {
    return [...this.#scope.calls];
  }

  get mocks(): readonly HostMock[] {
    return this.#scope.mocks;
  }

  clear(): void {
    this.#scope = emptyScope();
  }

  push(): void {
    this.#outer.push(this.#scope);
    this.#scope = emptyScope();
  }

  pop(): void {
    const scope = this.#outer.pop();
    if (scope === undefined) throw thrownText('host_mock_pop_scope: no scope to pop');
    this.#scope = scope;
  }

  /**
   * What the newest fitting mock answers; the call goes on record then.
   * @returns undefined when no mock stands for this call
   * @throws the error that the mock holds
   */
  answer(capability: string, operation: string, params: Value): { readonly result: Value } | undefined {
    const mock = this.#scope.mocks.findLast((candidate) => fits(candidate, capability, operation, params));
    if (mock === undefined) return undefined;
    this.#scope.calls.push(
      dictOf([
        ['capability', capability],
        ['operation', operation],
        ['params', params],
      ]),
    );
    if ('error' in mock.answer) throw thrown(mock.answer.error, display(mock.answer.error));
    return mock.answer;
  }
}

function emptyScope(): Scope {
  return { mocks: [], calls: [] };
}

function fits(mock: HostMock, capability: string, operation: string, params: Value): boolean {
  if (mock.capability !== capability || mock.operation !== operation) return false;
  return mock.params === undefined || dictEntries(mock.params).every(([key, value]) => equals(field(params, key), value));
}

/** `config` is the result itself, or a dict of `result`, `error` and `params`. */
export function hostMock(capability: string, operation: string, config: Value, params: Value): HostMock {
  const isConfig = config instanceof Dict && ['result', 'error', 'params'].some((key) => dictHas(config, key));
  const wanted = params ?? (isConfig ? dictGet(config, 'params') : undefined);
  const error = isConfig ? dictGet(config, 'error') : undefined;
  return {
    capability,
    operation,
    params: wanted instanceof Dict ? wanted : undefined,
    answer: error === undefined ? { result: isConfig ? dictGet(config, 'result') : config } : { error },
  };
}

const MOCKS = Symbol('host mocks');

export function hostMocks(context: Context): HostMocks {
  return context.run.service(MOCKS, () => new HostMocks());
}
