import type { EnumDeclaration, FunctionDeclaration, Pipeline, Program, Statement, ToolDeclaration } from './ast.ts';
import { constant, FunctionState, hasOwnedBit, type ModuleState, NOWHERE, ownedBit, RETURN } from './emit-context.ts';
import { emitExpression } from './emit-expression.ts';
import { copiedCaptures, emitFunctionText, emitNamedFunction, metaText, toolDefinition } from './emit-function.ts';
import { type LaidOut, layOut, line, place } from './emit-layout.ts';
import { emitStatements } from './emit-statement.ts';
import { encodeName, type Variable } from './scope.ts';
import { bareDeclaration, isProducer, type TreeNode } from './walk.ts';

/** JavaScript of a whole module: a function of run-time support, module record, task context, depth and mode. */
export function emitModule(program: Program, module: ModuleState): LaidOut {
  return new ModuleEmitter(program, module).emit();
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
    this.hasEntry = module.environment.role === 'module' || program.items.some((item) => isEntry(bareDeclaration(item)));
  }

  emit(): LaidOut {
    const { module } = this;
    const fn = new FunctionState(module, module.resolution.file, true);
    const declarations: string[] = [];
    for (const item of this.program.items) declarations.push(this.declaration(bareDeclaration(item)));
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
      const node = bareDeclaration(item);
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
    const late = isScript ? '' : items.map((item) => this.snapshot(bareDeclaration(item))).join('');
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

/** `fn main(harness)`, with which a script begins that has no pipeline (spec/language.md 9.6). */
export function isMain(node: Statement): boolean {
  return node.kind === 'Function' && node.name === 'main' && node.params.length > 0 && /^_?harness$/.test(node.params[0]?.name ?? '');
}

/** Can a declaration of this title be mentioned in code? */
export function isName(text: string): boolean {
  return /^[\p{Alphabetic}_][\p{Alphabetic}\p{N}_]*$/u.test(text);
}

/** Constants that any code of a module needs before it. */
export function preludeOf(module: ModuleState): string[] {
  const imports = new Set([...module.environment.imports.values()].map(({ module: index }) => index));
  return [
    'const { Dict, BigDict, Float, Duration, EnumValue, EnumOfOne, EnumOfTwo, EnumOfThree, StructValue, TailCall } = R; const I = R.interrupts;',
    ...[...imports].map((index) => `const m${index} = M.imported[${index}];`),
    ...[...module.usedBuiltins].map((name) => `const b$${name} = M.builtin(${JSON.stringify(name)});`),
    ...[...module.constants].map(([text, name]) => `const ${name} = ${text};`),
  ];
}
