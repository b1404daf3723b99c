import { builtinFunction } from './builtin-access.ts';
import { BUILTIN_INDEX } from './builtin-index.ts';
import type { Context, ModuleInfo, Run } from './context.ts';
import { typeError } from './errors.ts';
import { harnessBuiltin, harnessPartType } from './harness-methods.ts';
import { unknownMethod } from './methods/methods.ts';
import { CALL, Handle, type HarnFunction, type Value } from './value.ts';

/**
 * The handle that entry functions receive (spec/language.md 15.3): its properties are handles of one part of the world each,
 * and their methods are builtins. It holds no state, so two handles of one part are equal.
 */
export abstract class HarnessHandle extends Handle {
  /** `fs`, `net`, …; undefined for the root. */
  abstract readonly part: string | undefined;
  protected readonly run: Run;

  constructor(run: Run) {
    super();
    this.run = run;
  }

  display(): string {
    return `<${this.typeName}>`;
  }

  override isEqualTo(other: Handle): boolean {
    return other instanceof HarnessHandle && other.typeName === this.typeName;
  }

  protected abstract builtinFor(method: string): string | undefined;

  /** @param module the file that calls: paths of some methods start at its directory */
  callMethod(context: Context, depth: number, name: string, args: readonly Value[], module: ModuleInfo = entryModule(this.run)): Value {
    const builtin = this.builtinFor(name);
    if (builtin === undefined) throw unknownMethod(this.typeName, name);
    return builtinFunction(this.run, builtin, module)(context, depth + CALL, ...args);
  }

  /** A method as a value. */
  protected method(name: string): HarnFunction | undefined {
    const builtin = this.builtinFor(name);
    return builtin === undefined ? undefined : builtinFunction(this.run, builtin, entryModule(this.run));
  }
}

function entryModule(run: Run): ModuleInfo {
  return { path: run.scriptPath, directory: run.executionRoot };
}

export class Harness extends HarnessHandle {
  readonly typeName = 'Harness';
  readonly part = undefined;

  property(name: string): Value {
    const typeName = harnessPartType(name);
    if (typeName !== undefined) return new HarnessPartHandle(this.run, name, typeName);
    const method = this.method(name);
    if (method === undefined) throw typeError(`value of type ${this.typeName} has no property \`${name}\``);
    return method;
  }

  protected builtinFor(method: string): string | undefined {
    const name = `harness.${method}`;
    return Object.hasOwn(BUILTIN_INDEX, name) ? name : undefined;
  }
}

class HarnessPartHandle extends HarnessHandle {
  readonly typeName: string;
  readonly part: string;

  constructor(run: Run, part: string, typeName: string) {
    super(run);
    this.part = part;
    this.typeName = typeName;
  }

  property(name: string): Value {
    const method = this.method(name);
    if (method === undefined) throw unknownMethod(this.typeName, name);
    return method;
  }

  protected builtinFor(method: string): string | undefined {
    return harnessBuiltin(this.part, method);
  }
}

export function isHarness(value: Value): boolean {
  return value instanceof HarnessHandle;
}
