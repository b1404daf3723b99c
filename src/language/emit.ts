import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { Closure, FunctionDeclaration, Program, TypeNode } from './ast.ts';
import { Colours } from './colour.ts';
import { emitCall, emitMethodCall, emitPipe } from './emit-call.ts';
import { emitParallel, emitSpawn } from './emit-concurrency.ts';
import {
  type EmitEnvironment,
  type EmitterParts,
  FunctionState,
  handsOn,
  hasOwnedBit,
  type ModuleState,
  ownedBit,
} from './emit-context.ts';
import { emitClosure, emitLocalFunction, savedCaptures } from './emit-function.ts';
import { layOut } from './emit-layout.ts';
import { emitModule, isMain, isName, preludeOf } from './emit-module.ts';
import { emitBlockInto, emitIfInto, emitInto, emitStatements } from './emit-statement.ts';
import { KindTable } from './kinds.ts';
import { encodeName, type Resolution } from './scope.ts';
import { type SchemaJson, toolParameters } from './tool-schema.ts';
import { bareDeclaration, isProducer } from './walk.ts';

/**
 * From tree to JavaScript (docs/ARCHITECTURE.md, "Compiling"). A module becomes one asynchronous function
 * `(R, M, c, d, mode)`: R is the run-time support, M the module's own record. Its first line declares everything, so
 * that functions can be exported before any statement runs; what follows stands on the lines it was written on.
 * The code touches nothing but its parameters.
 */
export interface EmittedModule {
  readonly js: string;
  /** See `LaidOut`. */
  readonly places: string;
  readonly facts: ModuleFacts;
  readonly problems: readonly Diagnostic[];
}

/** What other modules and the linker need to know of a module. Plain JSON. */
export interface ModuleFacts {
  readonly functions: readonly FunctionFact[];
  readonly pipelines: readonly {
    readonly name: string;
    readonly params: readonly { readonly name: string; readonly type: string | undefined }[];
    readonly isTest: boolean;
  }[];
  /** JSON Schema of the parameters of each tool that the module declares at its top. */
  readonly tools: Readonly<Record<string, SchemaJson>>;
  /** Builtins the code asks for. */
  readonly builtins: readonly string[];
  readonly asyncMethods: readonly string[];
  readonly hasMain: boolean;
}

export interface FunctionFact {
  readonly name: string;
  readonly isPublic: boolean;
  readonly isAsync: boolean;
  readonly bounces: boolean;
  readonly kind: 'function' | 'value';
}

/** A module that is ready to be emitted: what importers have to know of it is settled. */
export interface PreparedModule {
  readonly functions: readonly FunctionFact[];
  readonly asyncMethods: readonly string[];
  /** Waiting things that the module uses as values. */
  readonly asyncValues: { readonly callables: boolean; readonly parts: boolean };
  emit(): EmittedModule;
}

/** @param resolution the names of the program, which may serve several times */
export function prepareModule(program: Program, environment: EmitEnvironment, resolution: Resolution): PreparedModule {
  const module = prepare(program, environment, resolution);
  const functions = functionFacts(program, module);
  const asyncMethods = [...module.colours.asyncMethodNames];
  const asyncValues = module.colours.values();
  return {
    functions,
    asyncMethods,
    asyncValues,
    emit: () => {
      const { js, places } = emitModule(program, module);
      const facts: ModuleFacts = {
        functions,
        asyncMethods,
        pipelines: pipelineFacts(program),
        builtins: [...module.usedBuiltins, ...module.usedGlobals].sort(),
        tools: declaredTools(program, module),
        hasMain: program.items.some((item) => isMain(bareDeclaration(item))),
      };
      return { js, places, facts, problems: module.problems };
    },
  };
}

function functionFacts(program: Program, module: ModuleState): FunctionFact[] {
  return program.items.flatMap((item): FunctionFact[] => {
    const node = bareDeclaration(item);
    if (node.kind === 'Function') {
      const isAsync = !isProducer(node) && module.colours.isAsync(node);
      return [{ name: node.name, isPublic: node.isPublic, isAsync, bounces: handsOn(module, node), kind: 'function' }];
    }
    if (node.kind === 'Tool' || node.kind === 'Skill' || (node.kind === 'EvalPack' && isName(node.name))) {
      return [{ name: node.name, isPublic: node.isPublic, isAsync: false, bounces: false, kind: 'value' }];
    }
    return [];
  });
}

function declaredTools(program: Program, module: ModuleState): Record<string, SchemaJson> {
  const tools = program.items.map(bareDeclaration).filter((item) => item.kind === 'Tool');
  return Object.fromEntries(tools.map(({ name, params }) => [name, toolParameters(params, module.types)]));
}

function pipelineFacts(program: Program): ModuleFacts['pipelines'] {
  return program.items.flatMap((item) => {
    const node = bareDeclaration(item);
    if (node.kind !== 'Pipeline') return [];
    const params = node.params.map((param) => ({
      name: param.name,
      type: param.type?.kind === 'NamedType' ? param.type.name : undefined,
    }));
    const isTest = node.name.startsWith('test_') || (item.kind === 'Attributed' && item.attributes.some(({ name }) => name === 'test'));
    return [{ name: node.name, params, isTest }];
  });
}

/** The code of one closure: a function of run-time support, module record and what it captured. */
export interface ClosureAlone {
  readonly js: string;
  /** As those of a module. */
  readonly places: string;
  readonly builtins: readonly string[];
}

/**
 * JavaScript that makes one closure or local function of a module again, in a process that never ran the code around
 * it: `(R, M, captures) => closure`. Functions of the file come from the module's record, captured values from the
 * argument; lines stand as in the script.
 *
 * @param offset where the closure or function begins in the source
 * @returns undefined when nothing begins there
 */
export function emitClosureAlone(
  program: Program,
  environment: EmitEnvironment,
  resolution: Resolution,
  offset: number,
): ClosureAlone | undefined {
  const module = prepare(program, environment, resolution);
  const node = findFunction(module, offset);
  const scope = node && module.resolution.scopes.get(node);
  if (node === undefined || scope === undefined) return undefined;
  const outer = new FunctionState(module, module.resolution.file, true);
  const code =
    node.kind === 'Closure'
      ? emitClosure(outer, node)
      : `(() => { let ${emitLocalFunction(outer, node)} return ${module.resolution.declared(node, node.name).jsName}; })()`;
  const captured = savedCaptures(scope).map(
    (variable) =>
      `let ${variable.jsName} = captures[${JSON.stringify(variable.name)}];${hasOwnedBit(variable) ? ` let ${ownedBit(variable)} = false;` : ''}`,
  );
  const named = [...scope.captures]
    .filter((variable) => variable.role === 'function' && variable.isTopLevel)
    .map((variable) => `const ${variable.jsName} = M.exports[${JSON.stringify(variable.name)}];`);
  const first = ['"use strict";', ...preludeOf(module), outer.tempDeclaration, ...named, ...captured].join(' ');
  return {
    ...layOut(`(function (R, M, captures) { ${first} return ${code}; })`),
    builtins: [...module.usedBuiltins, ...module.usedGlobals],
  };
}

function findFunction({ resolution }: ModuleState, offset: number): Closure | FunctionDeclaration | undefined {
  for (const node of resolution.scopes.keys()) {
    if ((node.kind === 'Closure' || node.kind === 'Function') && node.span.start === offset) return node;
  }
  return undefined;
}

const PARTS: EmitterParts = {
  call: emitCall,
  methodCall: emitMethodCall,
  pipe: emitPipe,
  parallel: emitParallel,
  spawn: emitSpawn,
  closure: emitClosure,
  into: emitInto,
  ifInto: emitIfInto,
  statements: emitStatements,
  blockInto: emitBlockInto,
};

function prepare(program: Program, environment: EmitEnvironment, resolution: Resolution): ModuleState {
  return {
    parts: PARTS,
    program,
    environment,
    resolution,
    colours: new Colours(resolution, environment),
    kinds: new KindTable(resolution),
    ...declaredTypes(program, environment, resolution),
    usedBuiltins: new Set(),
    usedGlobals: new Set(),
    constants: new Map(),
    unique: 0,
    problems: [],
  };
}

type DeclaredTypes = Pick<ModuleState, 'enums' | 'structs' | 'fields' | 'types' | 'methods' | 'implemented'>;

function declaredTypes(program: Program, environment: EmitEnvironment, resolution: Resolution): DeclaredTypes {
  const enums = new Set(environment.importedEnums);
  const structs = new Set(environment.importedStructs);
  const aliases = new Map<string, TypeNode>(environment.importedAliases);
  const interfaces = new Set(environment.importedInterfaces);
  const methods = new Map<string, { struct: string; node: FunctionDeclaration; jsName: string }[]>();
  const fields = new Set<string>();
  const implemented = new Set<string>();
  for (const node of resolution.types) {
    if (node.kind === 'Enum') enums.add(node.name);
    if (node.kind === 'Struct') {
      structs.add(node.name);
      for (const field of node.fields) fields.add(field.name);
    }
    if (node.kind === 'TypeAlias') aliases.set(node.name, node.type);
    if (node.kind === 'Interface') interfaces.add(node.name);
    if (node.kind !== 'Impl') continue;
    for (const method of node.methods) implemented.add(method.name);
    // Methods of a struct inside a block are closures; they are found through the module's table.
    if (!program.items.some((item) => bareDeclaration(item) === node)) continue;
    for (const method of node.methods) {
      const list = methods.get(method.name) ?? [];
      list.push({ struct: node.name, node: method, jsName: `${encodeName(node.name)}$${encodeName(method.name)}` });
      methods.set(method.name, list);
    }
  }
  return { enums, structs, fields, types: { aliases, interfaces }, methods, implemented };
}
