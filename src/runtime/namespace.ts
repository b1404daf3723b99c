import { builtinFunction, namespaceMembers } from './builtin-access.ts';
import type { Context, Run } from './context.ts';
import { typeError } from './errors.ts';
import type { MaybeAsync } from './maybe-async.ts';
import { CALL, Handle, type HarnFunction, type Value } from './value.ts';

/** A global whose methods are builtins: `stream.map(xs, f)` is the builtin `stream.map`. */
export class Namespace extends Handle {
  readonly typeName = 'namespace';
  readonly name: string;
  readonly #run: Run;

  constructor(run: Run, name: string) {
    super();
    this.#run = run;
    this.name = name;
  }

  display(): string {
    return `<namespace ${this.name}>`;
  }

  /** The function as a value. */
  property(name: string): HarnFunction {
    const member = `${this.name}.${name}`;
    if (!namespaceMembers(this.name).includes(member)) throw typeError(`\`${this.name}\` has no function \`${name}\``);
    return builtinFunction(this.#run, member, { path: this.#run.scriptPath, directory: this.#run.executionRoot });
  }

  callMethod(context: Context, depth: number, name: string, args: readonly Value[]): MaybeAsync<Value> {
    return this.property(name)(context, depth + CALL, ...args);
  }
}
