import { builtinFunction, namespaceMembers } from './builtin-access.ts';
import type { Context } from './context.ts';
import { typeError } from './errors.ts';
import type { MaybeAsync } from './maybe-async.ts';
import { CALL, Handle, type Value } from './value.ts';

/** A global whose methods are builtins: `stream.map(xs, f)` is the builtin `stream.map`. */
export class Namespace extends Handle {
  readonly typeName = 'namespace';
  readonly name: string;

  constructor(name: string) {
    super();
    this.name = name;
  }

  display(): string {
    return `<namespace ${this.name}>`;
  }

  callMethod(context: Context, depth: number, name: string, args: readonly Value[]): MaybeAsync<Value> {
    const member = `${this.name}.${name}`;
    if (!namespaceMembers(this.name).includes(member)) throw typeError(`\`${this.name}\` has no function \`${name}\``);
    const module = { path: context.run.scriptPath, directory: context.run.executionRoot };
    return builtinFunction(context.run, member, module)(context, depth + CALL, ...args);
  }
}
