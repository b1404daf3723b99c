import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { Closure, EnumDeclaration, FunctionDeclaration, Pipeline, Program, Statement, ToolDeclaration, TypeNode } from './ast.ts';
import { Colours } from './colour.ts';
import { emitCall, emitMethodCall, emitPipe } from './emit-call.ts';
import { emitParallel, emitSpawn } from './emit-concurrency.ts';
import {
  constant,
  type EmitEnvironment,
  type EmitterParts,
  FunctionState,
  handsOn,
  hasOwnedBit,
  type ModuleState,
  NOWHERE,
  ownedBit,
  RETURN,
} from './emit-context.ts';
import { emitExpression } from './emit-expression.ts';
import {
  copiedCaptures,
  emitClosure,
  emitFunctionText,
  emitLocalFunction,
  emitNamedFunction,
  metaText,
  savedCaptures,
  toolDefinition,
} from './emit-function.ts';
import { type LaidOut, layOut, line, place } from './emit-layout.ts';
import { emitBlockInto, emitIfInto, emitInto, emitStatements } from './emit-statement.ts';
import { KindTable } from './kinds.ts';
import { encodeName, type Resolution, type Variable } from './scope.ts';
import { type SchemaJson, toolParameters } from './tool-schema.ts';
import { isProducer, type TreeNode } from './walk.ts';

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
      const { js, places } = new ModuleEmitter(program, module).emit();
      const facts: ModuleFacts = {
        functions,
        asyncMethods,
        pipelines: pipelineFacts(program),
        builtins: [...module.usedBuiltins, ...module.usedGlobals].sort(),
        tools: declaredTools(program, module),
        hasMain: program.items.some((item) => isMain(declarationOf(item))),
      };
      return { js, places, facts, problems: module.problems };
    },
  };
}

function functionFacts(program: Program, module: ModuleState): FunctionFact[] {
  return program.items.flatMap((item): FunctionFact[] => {
    const node = declarationOf(item);
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
  const tools = program.items.map(declarationOf).filter((item) => item.kind === 'Tool');
  return Object.fromEntries(tools.map(({ name, params }) => [name, toolParameters(params, module.types)]));
}

function pipelineFacts(program: Program): ModuleFacts['pipelines'] {
  return program.items.flatMap((item) => {
    const node = declarationOf(item);
    if (node.kind !== 'Pipeline') return [];
    const params = node.params.map((param) => ({
      name: param.name,
      type: param.type?.kind === 'NamedType' ? param.type.name : undefined,
    }));
    const isTest = node.name.startsWith('test_') || (item.kind === 'Attributed' && item.attributes.some(({ name }) => name === 'test'));
    return [{ name: node.name, params, isTest }];
  });
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
): { readonly js: string; readonly builtins: readonly string[] } | undefined {
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
    js: layOut(`(function (R, M, captures) { ${first} return ${code}; })`).js,
    builtins: [...module.usedBuiltins, ...module.usedGlobals],
  };
}

function findFunction({ resolution }: ModuleState, offset: number): Closure | FunctionDeclaration | undefined {
  for (const node of resolution.scopes.keys()) {
    if ((node.kind === 'Closure' || node.kind === 'Function') && node.span.start === offset) return node;
  }
  return undefined;
}

/** Constants that any code of a module needs before it. */
function preludeOf(module: ModuleState): string[] {
  const imports = new Set([...module.environment.imports.values()].map(({ module: index }) => index));
  return [
    'const { Dict, BigDict, Float, Duration, EnumValue, EnumOfOne, EnumOfTwo, EnumOfThree, StructValue, TailCall } = R; const I = R.interrupts;',
    ...[...imports].map((index) => `const m${index} = M.imported[${index}];`),
    ...[...module.usedBuiltins].map((name) => `const b$${name} = M.builtin(${JSON.stringify(name)});`),
    ...[...module.constants].map(([text, name]) => `const ${name} = ${text};`),
  ];
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
    if (!program.items.some((item) => declarationOf(item) === node)) continue;
    for (const method of node.methods) {
      const list = methods.get(method.name) ?? [];
      list.push({ struct: node.name, node: method, jsName: `${encodeName(node.name)}$${encodeName(method.name)}` });
      methods.set(method.name, list);
    }
  }
  return { enums, structs, fields, types: { aliases, interfaces }, methods, implemented };
}

class ModuleEmitter {
  private readonly program: Program;
  private readonly module: ModuleState;
  private readonly hasEntry: boolean;
  /** Statements of the first line: what the module offers. */
  private readonly definitions: string[] = [];
  private readonly variables: string[] = [];
  /** Copies of top-level variables for functions, taken when the function comes into being. */
  private readonly snapshots = new Map<Statement, { readonly variable: Variable; readonly name: string }[]>();

  constructor(program: Program, module: ModuleState) {
    this.program = program;
    this.module = module;
    this.hasEntry = module.environment.role === 'module' || program.items.some((item) => isEntry(declarationOf(item)));
  }

  emit(): LaidOut {
    const { module } = this;
    const fn = new FunctionState(module, module.resolution.file, true);
    const declarations: string[] = [];
    for (const item of this.program.items) declarations.push(this.declaration(declarationOf(item)));
    const body = this.body(fn, declarations);
    const first = this.firstLine(fn);
    return layOut(`(async function (R, M, c, d, mode) { "use strict"; ${first} ${body} })`);
  }

  // ---- declarations ----

  /** JavaScript of a declaration, to stand on its own lines; '' for statements. */
  private declaration(node: Statement): string {
    switch (node.kind) {
      case 'Function':
        return this.namedFunction(node);
      case 'Tool':
        return this.tool(node);
      case 'Pipeline':
        return this.pipeline(node);
      case 'Impl':
        return node.methods.map((method) => this.method(node.name, method)).join(' ');
      case 'Struct':
        this.definitions.push(`M.struct(${JSON.stringify(node.name)});`);
        return '';
      case 'Enum':
        this.enumeration(node);
        return '';
      default:
        return '';
    }
  }

  private enumeration(node: EnumDeclaration): void {
    this.definitions.push(`M.enumeration(${JSON.stringify(node.name)});`);
  }

  private namedFunction(node: FunctionDeclaration): string {
    const { module } = this;
    const { jsName } = module.resolution.declared(node, node.name);
    const isAsync = !isProducer(node) && module.colours.isAsync(node);
    const meta = constant(module, metaText(node.name, node.params, isAsync, node.name, node.span.start));
    this.definitions.push(`M.define(${JSON.stringify(node.name)}, ${jsName}, ${meta});`);
    return `${line(node.span.line)}${emitNamedFunction(module, node, jsName, this.prologue(node))}`;
  }

  /** A function of the entry file reads copies of top-level variables that can change. */
  private prologue(node: Statement & TreeNode): string {
    const { module } = this;
    const scope = module.resolution.scopes.get(node);
    if (scope === undefined) return '';
    const copies = copiedCaptures(module, scope).map((variable) => ({ variable, name: `${variable.jsName}$s${module.unique++}` }));
    if (copies.length === 0) return '';
    this.snapshots.set(node, copies);
    this.variables.push(...copies.map(({ name }) => name));
    return copies
      .map(({ variable, name }) => `let ${variable.jsName} = ${name};${hasOwnedBit(variable) ? `let ${ownedBit(variable)} = false;` : ''}`)
      .join('');
  }

  private snapshot(node: Statement): string {
    return (this.snapshots.get(node) ?? [])
      .map(
        ({ variable, name }) =>
          `${name} = ${this.module.kinds.ofVariable(variable) === 'float' ? `new Float(${variable.jsName})` : variable.jsName};${hasOwnedBit(variable) ? ` ${ownedBit(variable)} = false;` : ''}`,
      )
      .join(' ');
  }

  private method(struct: string, node: FunctionDeclaration): string {
    const { module } = this;
    const jsName = `${encodeName(struct)}$${encodeName(node.name)}`;
    const isAsync = !isProducer(node) && module.colours.isAsync(node);
    const meta = constant(module, metaText(node.name, node.params, isAsync, undefined, node.span.start));
    this.definitions.push(`M.method(${JSON.stringify(struct)}, ${JSON.stringify(node.name)}, ${jsName}, ${meta});`);
    return `${line(node.span.line)}${emitNamedFunction(module, node, jsName, this.prologue(node))}`;
  }

  private tool(node: ToolDeclaration): string {
    const { module } = this;
    const scope = module.resolution.scopes.get(node);
    if (scope === undefined) throw new Error('a tool has no scope');
    const { jsName } = module.resolution.declared(node, node.name);
    const handler = `tool$${encodeName(node.name)}`;
    const isAsync = module.colours.isAsync(node);
    const fn = new FunctionState(module, scope, isAsync);
    const text = emitFunctionText(fn, {
      name: handler,
      params: node.params,
      body: node.body.statements,
      block: node,
      sink: RETURN,
      prologue: this.prologue(node),
      nilIsMissing: true,
    });
    this.variables.push(jsName);
    this.definitions.push(
      `${jsName} = M.publish(${JSON.stringify(node.name)}, M.tool(${JSON.stringify(toolDefinition(module, node))}, ${handler}, ${isAsync}, ${node.span.start}));`,
    );
    return `${line(node.span.line)}${text}`;
  }

  private pipeline(node: Pipeline): string {
    const { module } = this;
    const scope = module.resolution.scopes.get(node);
    if (scope === undefined) throw new Error('a pipeline has no scope');
    const jsName = `p$${encodeName(node.name)}`;
    const fn = new FunctionState(module, scope, true);
    const text = emitFunctionText(fn, {
      name: jsName,
      params: node.params,
      body: node.body.statements,
      block: node,
      sink: RETURN,
      prologue: '',
      nilIsMissing: true,
    });
    this.definitions.push(`M.pipeline(${JSON.stringify(node.name)}, ${jsName});`);
    return `${line(node.span.line)}${text}`;
  }

  // ---- the body ----

  private body(fn: FunctionState, declarations: readonly string[]): string {
    const { items } = this.program;
    const isScript = !this.hasEntry;
    const last = items.length - 1;
    const parts = items.map((item, index) => {
      const node = declarationOf(item);
      const declaration = declarations[index] ?? '';
      if (isDeclaration(node)) {
        const value = node.kind === 'Skill' || node.kind === 'EvalPack' ? this.valueDeclaration(fn, node) : '';
        const redeclared =
          (node.kind === 'Function' || node.kind === 'Tool') && this.module.resolution.isRedeclaration(node, node.name)
            ? `${place(node.nameSpan)}R.redeclared(${JSON.stringify(node.name)});`
            : '';
        return `${declaration} ${redeclared}${value}${isScript ? this.snapshot(node) : ''}`;
      }
      if (isScript || node.kind === 'Binding') return emitStatements(fn, [item], isScript && index === last ? RETURN : NOWHERE);
      return '';
    });
    const late = isScript ? '' : items.map((item) => this.snapshot(declarationOf(item))).join('');
    return `${parts.join(' ')} ${late}`;
  }

  private valueDeclaration(fn: FunctionState, node: Extract<Statement, { kind: 'Skill' | 'EvalPack' }>): string {
    const fields = node.fields
      .map((field) => `[${JSON.stringify(field.name.text)}, ${fn.statement(() => emitExpression(fn, field.value).code)}]`)
      .join(', ');
    const isNamed = node.kind === 'Skill' || isName(node.name);
    const make = node.kind === 'Skill' ? 'skill' : 'evalPack';
    const made = `M.${make}(${JSON.stringify(node.name)}, R.dict([${fields}])${node.kind === 'EvalPack' ? `, ${JSON.stringify(node.title ?? null)}` : ''})`;
    const value = `M.publish(${JSON.stringify(node.name)}, ${made})`;
    if (!isNamed) return `${value};`;
    const { jsName } = this.module.resolution.declared(node, node.name);
    this.variables.push(jsName);
    return `${line(node.span.line)}${jsName} = ${value};`;
  }

  /** Everything that has to be there before the first statement. */
  private firstLine(fn: FunctionState): string {
    const { module } = this;
    const isScript = !this.hasEntry;
    const variables = [...this.topLevelVariables(), ...this.variables];
    return [
      ...preludeOf(module),
      fn.tempDeclaration,
      isScript && module.resolution.file.hasDefer ? 'const defers = M.defers;' : '',
      variables.length === 0 ? '' : `let ${variables.join(', ')};`,
      ...this.definitions,
      isScript ? 'if (mode === "declarations") return undefined;' : '',
    ].join(' ');
  }

  private topLevelVariables(): string[] {
    const { resolution } = this.module;
    const names: string[] = [];
    const add = (node: object, name: string): void => {
      if (name === '_') return;
      const variable = resolution.declared(node, name);
      names.push(variable.jsName);
      if (hasOwnedBit(variable)) names.push(ownedBit(variable));
    };
    for (const item of this.program.items) {
      if (item.kind !== 'Binding') continue;
      const { pattern } = item;
      if (pattern.kind === 'NamePattern') {
        add(pattern, pattern.name);
        continue;
      }
      for (const part of pattern.kind === 'DictPattern' ? pattern.fields : pattern.items) add(part, part.target);
      if (pattern.rest !== undefined) add(pattern, pattern.rest);
    }
    return names;
  }
}

function declarationOf(item: Statement): Statement {
  return item.kind === 'Attributed' ? declarationOf(item.declaration) : item;
}

function isDeclaration(node: Statement): boolean {
  return [
    'Function',
    'Tool',
    'Skill',
    'EvalPack',
    'Struct',
    'Enum',
    'TypeAlias',
    'Interface',
    'Impl',
    'Import',
    'Pipeline',
    'Override',
  ].includes(node.kind);
}

function isEntry(node: Statement): boolean {
  return node.kind === 'Pipeline' || isMain(node);
}

function isMain(node: Statement): boolean {
  return node.kind === 'Function' && node.name === 'main' && node.params.length > 0 && /^_?harness$/.test(node.params[0]?.name ?? '');
}

function isName(text: string): boolean {
  return /^[\p{Alphabetic}_][\p{Alphabetic}\p{N}_]*$/u.test(text);
}
