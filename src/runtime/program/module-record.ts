import { nearestName } from '../../base/near-name.ts';
import { skillEntry, skillRegistry } from '../agents/skill-registry.ts';
import { builtinFunction, builtinNames } from '../builtin-access.ts';
import { settle } from '../call.ts';
import type { Context, ModuleInfo, Run } from '../context.ts';
import { copyDict, dictGet } from '../dict.ts';
import { bareError } from '../errors.ts';
import { globalValue } from '../globals.ts';
import { HarnessHandle } from '../harness.ts';
import { callMethod } from '../methods/methods.ts';
import { CALL, Dict, type FunctionMeta, type HarnFunction, isCallable, StructValue, typeOf, type Value } from '../value.ts';

/** What a `tool` declaration leaves behind, beside its handler. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema. */
  readonly parameters: unknown;
  /** Parameter names in order. */
  readonly params: readonly string[];
  /** JSON Schema of the result; absent when the declaration does not say. */
  readonly returns?: unknown;
}

/** A module while it runs: what it exports and what its code asks of it. `M` in emitted code. */
export class ModuleRecord implements ModuleInfo {
  readonly path: string;
  readonly directory: string;
  /** Exports of the modules it imports, by index. */
  readonly imported: Record<string, Value>[] = [];
  /** Functions and values by name; importers read it while they run, so that cycles work. */
  readonly exports: Record<string, Value> = Object.create(null);
  readonly pipelines = new Map<string, HarnFunction>();
  /** What the body of a script put off until it ends. */
  readonly defers: (() => Promise<void>)[] = [];
  private readonly run: Run;
  private readonly structs = new Map<string, Map<string, HarnFunction>>();
  private readonly enums = new Set<string>();
  /** Modules whose struct methods are visible here. */
  private readonly visible: ModuleRecord[] = [];

  constructor(run: Run, path: string, directory: string) {
    this.run = run;
    this.path = path;
    this.directory = directory;
  }

  see(module: ModuleRecord): void {
    this.visible.push(module);
  }

  // ---- definitions, on the first line of a module ----

  define(name: string, fn: HarnFunction, meta: FunctionMeta): void {
    (fn as { meta: FunctionMeta }).meta = meta;
    this.exports[name] = fn;
  }

  /** Exports what a declaration of the file level made; the same declaration inside a block stays there. */
  publish(name: string, value: Value): Value {
    this.exports[name] = value;
    return value;
  }

  pipeline(name: string, fn: HarnFunction): void {
    this.pipelines.set(name, fn);
  }

  struct(name: string): void {
    if (!this.structs.has(name)) this.structs.set(name, new Map());
  }

  enumeration(name: string): void {
    this.enums.add(name);
  }

  method(struct: string, name: string, fn: HarnFunction, meta: FunctionMeta): void {
    (fn as { meta: FunctionMeta }).meta = meta;
    this.struct(struct);
    this.structs.get(struct)?.set(name, fn);
  }

  /**
   * A `tool` declaration is a registry with one entry (spec/agents.md 2.1). Its handler takes one dict, as the loop
   * calls it, or the arguments in order, as a script may.
   */
  tool(definition: ToolDefinition, fn: HarnFunction, isAsync: boolean, offset: number): Value {
    const handler = ((context: Context, depth: number, ...args: Value[]) =>
      fn(context, depth + CALL, ...toolArguments(definition.params, args))) as unknown as HarnFunction;
    (handler as { meta: FunctionMeta }).meta = {
      kind: 'closure',
      name: definition.name,
      params: ['args'],
      isAsync,
      origin: { module: this.path, symbol: definition.name, offset },
    };
    const entry = new Dict();
    entry.name = definition.name;
    entry.description = definition.description;
    entry.parameters = argumentForms(definition.parameters);
    if (definition.returns !== undefined) entry.outputSchema = jsonValue(definition.returns);
    entry.handler = handler;
    entry.executor = 'harn';
    const registry = new Dict();
    registry._type = 'tool_registry';
    registry.tools = [entry];
    return registry;
  }

  /** A `skill` declaration is a registry with one entry, as a `tool` declaration is. */
  skill(name: string, fields: Dict): Value {
    return skillRegistry([skillEntry(name, fields)]);
  }

  evalPack(name: string, fields: Dict, title: string | null): Value {
    const pack = copyDict(fields);
    pack._type = 'eval_pack';
    pack.id ??= name;
    pack.name ??= title ?? name;
    return pack;
  }

  structConstructor(name: string): HarnFunction {
    const make = ((_context: Context, _depth: number, fields: Value) =>
      new StructValue(name, fields instanceof Dict ? copyDict(fields) : new Dict())) as unknown as HarnFunction;
    (make as { meta: FunctionMeta }).meta = { kind: 'closure', name, params: ['fields'], isAsync: false };
    return make;
  }

  // ---- lookups ----

  builtin(name: string): HarnFunction {
    return builtinFunction(this.run, name, this);
  }

  global(context: Context, name: string): Value {
    return globalValue(context, name);
  }

  nearName(name: string, inSight: readonly string[]): string | undefined {
    // `_` is the name of nothing, so nobody misspelt it.
    return name === '_' ? undefined : nearestName(name, [...inSight, ...Object.keys(this.exports), ...builtinNames()]);
  }

  /** `receiver.name(args)` where nothing is known of the receiver. */
  callMethod(context: Context, depth: number, receiver: Value, name: string, args: Value[]): unknown {
    if (receiver instanceof StructValue) {
      const method = this.findMethod(receiver.structName, name);
      if (method !== undefined) return settle(context, depth, method(context, depth + CALL, receiver, ...args));
    }
    if (receiver instanceof HarnessHandle) return receiver.callMethod(context, depth, name, args, this);
    return callMethod(context, depth, receiver, name, args);
  }

  callMethodOptional(context: Context, depth: number, receiver: Value, name: string, args: Value[]): unknown {
    return receiver === undefined ? undefined : this.callMethod(context, depth, receiver, name, args);
  }

  /** For methods that never wait. */
  callMethodSync(context: Context, depth: number, receiver: Value, name: string, args: Value[]): Value {
    return this.callMethod(context, depth, receiver, name, args) as Value;
  }

  private findMethod(struct: string, name: string): HarnFunction | undefined {
    const own = this.structs.get(struct)?.get(name);
    if (own !== undefined) return own;
    for (const module of this.visible) {
      const found = module.structs.get(struct)?.get(name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** A function or pipeline by name, for the entry and for binding again. */
  callableNamed(name: string): HarnFunction {
    const value = this.pipelines.get(name) ?? this.exports[name];
    if (!isCallable(value)) throw bareError(`Undefined builtin: ${name} (${typeOf(value)})`);
    return value;
  }
}

/** A single dict names the arguments; anything else is the arguments themselves. */
function toolArguments(params: readonly string[], args: readonly Value[]): readonly Value[] {
  const [named] = args;
  return args.length === 1 && named instanceof Dict ? params.map((name) => dictGet(named, name)) : args;
}

/** The short form of 2.2 out of the schema, so that scripts find `parameters.NAME.type` as they do after `tool_define`. */
export function argumentForms(schema: unknown): Value {
  const { properties, required } = schema as { properties: Record<string, object>; required: readonly string[] };
  const forms = Object.entries(properties).map(([name, form]) => [name, required.includes(name) ? form : { ...form, required: false }]);
  return jsonValue(Object.fromEntries(forms));
}

/** JSON that the emitter embedded, as a Value. */
function jsonValue(json: unknown): Value {
  if (json === null) return undefined;
  if (Array.isArray(json)) return json.map(jsonValue);
  if (typeof json !== 'object') return json as Value;
  const dict = new Dict();
  for (const [key, item] of Object.entries(json)) dict[key] = jsonValue(item);
  return dict;
}
