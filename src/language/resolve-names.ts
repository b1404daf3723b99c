import type { Block, Expression, ForLoop, Identifier, IfExpression, Parameter, Pattern, Program, Statement } from './ast.ts';
import {
  asTernary,
  encodeName,
  type FunctionScope,
  growsInPlace,
  MAX_LINKS,
  type Resolution,
  rootOf,
  type Uses,
  type Variable,
} from './scope.ts';
import { startsUppercase } from './token.ts';
import { bareDeclaration, forEachChild, ifChain, type TreeNode } from './walk.ts';

/**
 * Name resolution: which declaration each identifier means (spec/language.md 5.1 to 5.3), and what the emitter has
 * to know of each variable. Names are resolved in statement order, because an inner declaration shadows only from
 * its own statement on. Functions are visible in their whole block; a closure may also use a name that its
 * enclosing block declares later, so names it cannot find wait until the block ends.
 *
 * The same walk collects what later passes would each walk the tree for: what may wait, what defers, what needs
 * statements. The compiler runs once in most processes, in code that V8 has not optimised, so each walk that is left
 * out counts. For the same reason the nodes that scripts are mostly made of come first below.
 */
export function resolveNames(program: Program): Resolution {
  return new Resolver(program).run();
}

interface BlockScope {
  readonly node: object;
  readonly names: Map<string, Variable>;
  readonly parent: BlockScope | undefined;
  readonly owner: FunctionScope;
  /** References from closures inside that found no name yet. */
  readonly waiting: Wait[];
}

interface Wait {
  readonly reference: Identifier;
  readonly from: FunctionScope;
  readonly block: BlockScope;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer Item)[] ? Item[] : T[K] };

/** Builtins that answer something whose iteration may wait, or that cleans up when it is left. */
const ITERABLE_MAKERS: ReadonlySet<string> = new Set(['channel', 'stream', 'llm_stream', 'event_log', 'iter', 'supervisor_events']);

class Resolver {
  private readonly program: Program;
  private readonly file: FunctionScope;
  private readonly references = new Map<Identifier, Variable>();
  private readonly scopes = new Map<TreeNode, FunctionScope>();
  private readonly declarations = new Map<object, Variable[]>();
  private readonly redeclared = new Map<object, Set<string>>();
  private readonly early = new Map<object, Variable[]>();
  private readonly blockOf = new Map<Variable, object>();
  private readonly uses: Mutable<Uses> = {
    free: [],
    values: [],
    receivers: [],
    members: [],
    receivingMembers: [],
    picked: [],
    takesParts: false,
    callables: [],
  };
  private readonly lifted = new Set<TreeNode>();
  /** Nodes found so far that need statements: when it grows inside of an expression, that expression does too. */
  private lifts = 0;
  private readonly types: Statement[] = [];
  private readonly annotated: TreeNode[] = [];
  private producesIterables = false;
  private counter = 0;
  private scope: BlockScope;

  constructor(program: Program) {
    this.program = program;
    this.file = newFunctionScope(program, undefined);
    this.scope = newBlockScope(program, undefined, this.file);
  }

  run(): Resolution {
    this.statements(this.program.items);
    this.settleWaiting(this.scope);
    return {
      file: this.file,
      references: this.references,
      scopes: this.scopes,
      uses: this.uses,
      lifted: this.lifted,
      types: this.types,
      annotated: this.annotated,
      producesIterables: this.producesIterables || this.uses.free.some(({ name }) => ITERABLE_MAKERS.has(name)),
      declared: (node, name) => {
        const variable = this.declarations.get(node)?.findLast((declared) => declared.name === name);
        if (variable === undefined) throw new Error(`no declaration of ${name} was resolved`);
        return variable;
      },
      isRedeclaration: (node, name) => this.redeclared.get(node)?.has(name) ?? false,
      earlyIn: (block) => this.early.get(block) ?? [],
      namesAround: (node) => namesInSight(this.scope.waiting.find(({ reference }) => reference === node)?.block),
    };
  }

  // ---- scopes ----

  private inBlock(node: object, run: () => void): void {
    const outer = this.scope;
    const { lifts } = this;
    this.scope = newBlockScope(node, outer, outer.owner);
    run();
    this.settleWaiting(this.scope);
    this.scope = outer;
    // Statements hold the statements that their expressions need.
    this.lifts = lifts;
  }

  private inFunction(node: TreeNode, run: () => void): void {
    const outer = this.scope;
    const { lifts } = this;
    const owner = newFunctionScope(node, outer.owner);
    this.scopes.set(node, owner);
    this.scope = newBlockScope(node, outer, owner);
    run();
    this.settleWaiting(this.scope);
    this.scope = outer;
    this.lifts = lifts;
  }

  /** Names that closures asked for in vain may have been declared by now; the rest waits one block further out. */
  private settleWaiting(scope: BlockScope): void {
    for (const wait of scope.waiting) {
      const variable = scope.names.get(wait.reference.name);
      if (variable !== undefined && wait.from !== scope.owner) {
        variable.isEarly ||= variable.role !== 'function';
        if (variable.role !== 'function') this.noteEarly(variable);
        this.bind(wait.reference, variable, wait.from);
      } else if (scope.parent !== undefined) {
        scope.parent.waiting.push(wait);
      } else {
        this.uses.free.push(wait.reference);
      }
    }
  }

  private noteEarly(variable: Variable): void {
    const block = this.blockOf.get(variable) ?? this.program;
    const list = this.early.get(block) ?? [];
    if (!list.includes(variable)) list.push(variable);
    this.early.set(block, list);
  }

  private declare(node: object, name: string, role: Variable['role'], value: Expression | undefined, declaration?: Statement): Variable {
    const variable: Variable = {
      name,
      jsName: `$${encodeName(name)}${this.counter++ === 0 ? '' : `_${this.counter}`}`,
      role,
      owner: this.scope.owner,
      isTopLevel: this.scope.node === this.program,
      declaration,
      values: [value],
      isRangeIndex: false,
      isReassigned: false,
      isWrittenThrough: false,
      isWrittenDeep: false,
      isCaptured: false,
      isEarly: false,
    };
    const declared = this.declarations.get(node);
    if (declared === undefined) this.declarations.set(node, [variable]);
    else declared.push(variable);
    this.blockOf.set(variable, this.scope.node);
    if (name === '_') return variable;
    const before = this.scope.names.get(name);
    if (before !== undefined && isLasting(before.role) && role !== 'var') this.noteRedeclaration(node, name);
    this.scope.names.set(name, variable);
    return variable;
  }

  private noteRedeclaration(node: object, name: string): void {
    const names = this.redeclared.get(node) ?? new Set<string>();
    names.add(name);
    this.redeclared.set(node, names);
  }

  private find(name: string): Variable | undefined {
    for (let scope: BlockScope | undefined = this.scope; scope !== undefined; scope = scope.parent) {
      const variable = scope.names.get(name);
      if (variable !== undefined) return variable;
    }
    return undefined;
  }

  private reference(node: Identifier): Variable | undefined {
    const variable = this.find(node.name);
    if (variable === undefined) this.scope.waiting.push({ reference: node, from: this.scope.owner, block: this.scope });
    else this.bind(node, variable, this.scope.owner);
    return variable;
  }

  private bind(node: Identifier, variable: Variable, from: FunctionScope): void {
    this.references.set(node, variable);
    if (variable.owner === from) return;
    variable.isCaptured = true;
    for (let scope: FunctionScope | undefined = from; scope !== undefined && scope !== variable.owner; scope = scope.parent) {
      scope.captures.add(variable);
    }
  }

  // ---- statements ----

  private statements(statements: readonly Statement[]): void {
    for (const statement of statements) this.hoist(statement);
    for (const statement of statements) this.visit(statement);
  }

  /** Functions and tools are visible in their whole block. */
  private hoist(statement: Statement): void {
    const node = bareDeclaration(statement);
    switch (node.kind) {
      case 'Function':
      case 'Tool':
      case 'Skill':
        this.declare(node, node.name, 'function', undefined, node);
        return;
      case 'EvalPack':
        if (/^[\p{Alphabetic}_]+$/u.test(node.name)) this.declare(node, node.name, 'function', undefined, node);
        return;
      default:
        return;
    }
  }

  private readonly visit = (node: TreeNode): void => {
    switch (node.kind) {
      case 'Identifier':
        this.uses.values.push(node);
        this.reference(node);
        return;
      case 'Int':
      case 'String':
        return;
      case 'ExpressionStatement':
        return this.visit(node.expression);
      case 'Call':
        if (node.typeArgs.length > 0) this.annotated.push(node);
        this.scope.owner.waits.push(node);
        this.reference(node.callee);
        return this.operands(node, node.args);
      case 'Binary':
        return this.operands(node, [node.left, node.right]);
      case 'MethodCall':
        this.scope.owner.waits.push(node);
        return this.withReceiver(node, node.receiver, node.args);
      case 'Property':
        this.uses.members.push(node);
        return this.withReceiver(node, node.receiver, []);
      case 'Block':
        return this.inBlock(node, () => this.statements(node.statements));
      case 'Binding':
        if (node.type !== undefined) this.annotated.push(node);
        this.visit(node.value);
        if (node.pattern.kind === 'DictPattern') for (const { key } of node.pattern.fields) this.uses.picked.push(key);
        this.declarePattern(node.pattern, node.keyword === 'var' ? 'var' : 'let', node.value);
        return;
      case 'Assignment':
        return this.assignment(node.target, node.operator, node.value);
      case 'If':
        forEachChild(node, this.visit);
        return this.liftChain(ifChain(node).links);
      case 'Return':
        this.scope.owner.handsOn ||= node.value?.kind === 'Call' || node.value?.kind === 'Pipe';
        if (node.value !== undefined) this.visit(node.value);
        return;
      case 'Closure':
        this.uses.callables.push(node);
        return this.functionLike(node, node.params, node.body);
      case 'For':
        this.scope.owner.waits.push(node);
        return this.forLoop(node);
      case 'Function':
        this.producesIterables ||= node.isStream;
        return this.functionLike(node, node.params, node.body);
      case 'Pipeline':
      case 'Override':
        return this.functionLike(node, node.params, node.body);
      case 'Tool':
        this.uses.callables.push(node);
        return this.functionLike(node, node.params, node.body);
      case 'Match':
        return this.match(node);
      case 'Try':
        return this.tryExpression(node);
      case 'Propagate':
        this.visit(node.value);
        return this.lift(node);
      case 'Retry':
      case 'Deadline':
        forEachChild(node, this.visit);
        return this.lift(node);
      case 'Pipe':
        this.scope.owner.waits.push(node);
        return this.operands(node, [node.left, node.right]);
      case 'Parallel':
        return this.parallel(node);
      case 'Spawn':
        return this.inFunction(node, () => this.statements(node.body.statements));
      case 'Select':
        return this.select(node);
      case 'Mutex':
        this.scope.owner.waits.push(node);
        return this.visit(node.body);
      case 'Defer':
        this.scope.owner.hasDefer = true;
        return this.visit(node.body);
      case 'Yield':
      case 'Emit':
        this.producesIterables = true;
        return forEachChild(node, this.visit);
      case 'Struct':
      case 'Enum':
      case 'TypeAlias':
      case 'Interface':
        this.types.push(node);
        this.annotated.push(node);
        return;
      case 'Impl':
        this.types.push(node);
        return forEachChild(node, this.visit);
      case 'EvalPack':
        return this.evalPack(node);
      default: {
        const { lifts } = this;
        forEachChild(node, this.visit);
        if (this.lifts !== lifts) this.lifted.add(node);
      }
    }
  };

  private lift(node: TreeNode): void {
    this.lifted.add(node);
    this.lifts++;
  }

  /** From the end: an `if` is no conditional expression when what stands behind its `else` is none. */
  private liftChain(links: readonly IfExpression[]): void {
    links.toReversed().forEach((link, fromEnd) => {
      if (fromEnd >= MAX_LINKS || asTernary(link, this.lifted) === undefined) this.lift(link);
      else if (this.lifted.has(link.condition)) this.lifted.add(link);
    });
  }

  private operands(node: TreeNode, operands: readonly TreeNode[]): void {
    const { lifts } = this;
    for (const operand of operands) this.visit(operand);
    if (this.lifts !== lifts) this.lifted.add(node);
  }

  /** `receiver.name` and `receiver.name(args)`: what is only asked for a member is kept apart from other values. */
  private withReceiver(node: TreeNode, receiver: Expression, args: readonly TreeNode[]): void {
    const { lifts } = this;
    if (receiver.kind === 'Identifier') {
      this.uses.receivers.push(receiver);
      this.reference(receiver);
    } else if (receiver.kind === 'Property') {
      this.uses.receivingMembers.push(receiver);
      this.withReceiver(receiver, receiver.receiver, []);
    } else {
      this.visit(receiver);
    }
    for (const arg of args) this.visit(arg);
    if (this.lifts !== lifts) this.lifted.add(node);
  }

  private functionLike(node: TreeNode, params: readonly Parameter[], body: Block): void {
    this.annotated.push(node);
    this.inFunction(node, () => {
      for (const param of params) {
        if (param.defaultValue !== undefined) this.visit(param.defaultValue);
        this.uses.takesParts ||= takesPart(param);
        this.declare(param, param.name, 'param', undefined);
      }
      this.statements(body.statements);
    });
  }

  private parallel(node: Extract<Expression, { kind: 'Parallel' }>): void {
    const { lifts } = this;
    this.scope.owner.waits.push(node);
    this.producesIterables ||= node.asStream;
    this.visit(node.operand);
    if (node.maxConcurrent !== undefined) this.visit(node.maxConcurrent);
    const { variable } = node;
    this.inFunction(node, () => {
      if (variable !== undefined) this.declare(node, variable, 'param', undefined);
      this.statements(node.body.statements);
    });
    if (this.lifts !== lifts) this.lifted.add(node);
  }

  private select(node: Extract<Statement, { kind: 'Select' }>): void {
    this.scope.owner.waits.push(node);
    for (const item of node.cases) {
      this.visit(item.channel);
      this.inBlock(item, () => {
        this.declare(item, item.variable, 'let', undefined);
        this.statements(item.body.statements);
      });
    }
    if (node.timeout !== undefined) {
      this.visit(node.timeout.duration);
      this.visit(node.timeout.body);
    }
    if (node.otherwise !== undefined) this.visit(node.otherwise);
  }

  private tryExpression(node: Extract<Expression, { kind: 'Try' }>): void {
    this.visit(node.body);
    const clause = node.catchClause;
    if (clause !== undefined) {
      this.inBlock(clause, () => {
        if (clause.variable !== undefined) this.declare(clause, clause.variable, 'let', undefined);
        this.statements(clause.body.statements);
      });
    }
    if (node.finallyBlock !== undefined) this.visit(node.finallyBlock);
    this.lift(node);
  }

  private evalPack(node: Extract<Statement, { kind: 'EvalPack' }>): void {
    for (const field of node.fields) this.visit(field.value);
    this.inFunction(node, () => {
      this.statements(node.body);
      if (node.summarize !== undefined) this.visit(node.summarize);
    });
  }

  private forLoop(node: ForLoop): void {
    this.visit(node.iterable);
    this.inBlock(node, () => {
      const { pattern } = node;
      if (pattern.kind === 'PairPattern') {
        this.declare(pattern, pattern.first, 'loop', undefined);
        this.declare(pattern, pattern.second, 'loop', undefined);
      } else {
        const index = this.declarePattern(pattern, 'loop', undefined);
        if (index !== undefined) index.isRangeIndex = node.iterable.kind === 'Range';
      }
      this.visit(node.body);
    });
  }

  /** Defaults see the names before them, as those of parameters do. @returns the variable of a pattern that is a name */
  private declarePattern(pattern: Pattern, role: Variable['role'], value: Expression | undefined): Variable | undefined {
    if (pattern.kind === 'NamePattern') return this.declare(pattern, pattern.name, role, value);
    const parts = pattern.kind === 'DictPattern' ? pattern.fields : pattern.items;
    for (const part of parts) {
      if (part.defaultValue !== undefined) this.visit(part.defaultValue);
      this.declare(part, part.target, role, undefined);
    }
    if (pattern.rest !== undefined) this.declare(pattern, pattern.rest, role, undefined);
    return undefined;
  }

  private match(node: Extract<Expression, { kind: 'Match' }>): void {
    this.visit(node.subject);
    for (const arm of node.arms) {
      this.inBlock(arm, () => {
        for (const pattern of arm.patterns) this.matchPattern(pattern, arm.patterns.length > 1);
        if (arm.guard !== undefined) this.visit(arm.guard);
        this.visit(arm.body);
      });
    }
    this.lift(node);
  }

  /** Identifiers at the top of a pattern and one level inside bind; everything else is read (spec/language.md 6.4). */
  private matchPattern(pattern: Expression, isAlternative: boolean): void {
    const bindOrRead = (part: Expression): void => {
      if (part.kind === 'Identifier') this.declare(part, part.name, 'let', undefined);
      else this.visit(part);
    };
    switch (pattern.kind) {
      case 'Identifier':
        if (!isAlternative) this.declare(pattern, pattern.name, 'let', undefined);
        return;
      case 'List':
        for (const item of pattern.items) if (item.kind !== 'Spread') bindOrRead(item);
        return;
      case 'Dict':
        for (const entry of pattern.entries) if (entry.kind === 'Entry') bindOrRead(entry.value);
        return;
      case 'MethodCall':
        if (isVariantName(pattern.receiver)) for (const arg of pattern.args) if (arg.kind !== 'Spread') bindOrRead(arg);
        if (!isVariantName(pattern.receiver)) this.visit(pattern);
        return;
      case 'Call':
        if (pattern.callee.name === 'Ok' || pattern.callee.name === 'Err') {
          for (const arg of pattern.args) if (arg.kind !== 'Spread') bindOrRead(arg);
          return;
        }
        return this.visit(pattern);
      default:
        return this.visit(pattern);
    }
  }

  private assignment(target: Expression, operator: string, value: Expression): void {
    this.visit(value);
    const root = rootOf(target);
    if (root === undefined) return this.visit(target);
    this.scope.owner.assigned.push(root);
    const variable = this.reference(root);
    if (target !== root) this.visitPath(target);
    if (variable === undefined) return;
    variable.isReassigned = true;
    if (target !== root) {
      variable.isWrittenThrough = true;
      variable.isWrittenDeep ||= 'receiver' in target && target.receiver !== root;
    } else if (growsInPlace(variable, operator, value)) variable.isWrittenThrough = true;
    variable.values.push(target === root && operator === '=' ? value : target === root ? compound(target, operator, value) : undefined);
  }

  /** Index expressions along a target. */
  private visitPath(target: Expression): void {
    if (target.kind !== 'Property' && target.kind !== 'Subscript') return;
    if (target.kind === 'Subscript') this.visit(target.index);
    this.visitPath(target.receiver);
  }
}

function newFunctionScope(node: FunctionScope['node'], parent: FunctionScope | undefined): FunctionScope {
  return { node, parent, captures: new Set(), waits: [], assigned: [], hasDefer: false, handsOn: false };
}

function newBlockScope(node: object, parent: BlockScope | undefined, owner: FunctionScope): BlockScope {
  return { node, names: new Map(), parent, owner, waiting: [] };
}

/** Roles of names that only a `var` may declare anew in the same block. */
function isLasting(role: Variable['role']): boolean {
  return role === 'let' || role === 'function';
}

/** `net: HarnessNet`. */
function takesPart({ type }: Parameter): boolean {
  return type?.kind === 'NamedType' && type.name.startsWith('Harness') && /^Harness[A-Z]/.test(type.name);
}

function namesInSight(block: BlockScope | undefined): string[] {
  const names: string[] = [];
  for (let scope = block; scope !== undefined; scope = scope.parent) names.push(...scope.names.keys());
  return names;
}

function isVariantName(node: Expression): boolean {
  return node.kind === 'Identifier' && startsUppercase(node.name);
}

/** `x op= v` seen as the binary expression it stands for, for inference. */
function compound(target: Expression, operator: string, value: Expression): Expression {
  const binary = operator.slice(0, -1) as '+' | '-' | '*' | '/' | '%';
  return { kind: 'Binary', operator: binary, operatorSpan: value.span, left: target, right: value, span: value.span };
}
