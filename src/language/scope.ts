import type { Block, Expression, ForLoop, Identifier, Parameter, Pattern, Program, Statement } from './ast.ts';
import { forEachChild, type TreeNode } from './walk.ts';

/**
 * Name resolution: which declaration each identifier means (spec/language.md 5.1 to 5.3), and what the emitter has
 * to know of each variable. Names are resolved in statement order, because an inner declaration shadows only from
 * its own statement on. Functions are visible in their whole block; a closure may also use a name that its
 * enclosing block declares later, so names it cannot find wait until the block ends.
 */
export interface Variable {
  readonly name: string;
  /** Unique in the module, a valid JavaScript identifier. */
  readonly jsName: string;
  readonly role: 'let' | 'var' | 'param' | 'loop' | 'function' | 'import';
  readonly owner: FunctionScope;
  /** Declared at the top level of the file. */
  readonly isTopLevel: boolean;
  /** For role `function`: its declaration. */
  readonly declaration: Statement | undefined;
  /** Right sides assigned to it, the initial one included; undefined stands for a value nobody can see here. */
  readonly values: (Expression | undefined)[];
  /** Counts over a range: its values are small integers as long as nothing else is assigned to it. */
  isRangeIndex: boolean;
  /** Assigned again after its declaration, or written through (`x[i] = …`). */
  isReassigned: boolean;
  /** Written through or grown in place: worth an owned bit. */
  isWrittenThrough: boolean;
  /** Written through at least two levels deep (`x[i][j] = …`): worth knowing also which inner containers it owns. */
  isWrittenDeep: boolean;
  isCaptured: boolean;
  /** Used by a closure that stands before its declaration: its JavaScript declaration moves to the start of the block. */
  isEarly: boolean;
}

/** One activation: the file, a function, a closure, a pipeline, the body of a task. */
export interface FunctionScope {
  readonly node: TreeNode | Program;
  readonly parent: FunctionScope | undefined;
  /** Data variables of enclosing activations used here or further inside. */
  readonly captures: Set<Variable>;
}

export interface Resolution {
  readonly file: FunctionScope;
  readonly references: ReadonlyMap<Identifier, Variable>;
  readonly scopes: ReadonlyMap<TreeNode, FunctionScope>;
  /** Variables by the node that declares them and their name. */
  declared(node: object, name: string): Variable;
  /** True when the same scope declared the name before, and neither of the two is `var`. */
  isRedeclaration(node: object, name: string): boolean;
  /** Early variables of a block or file, to be declared at its start. */
  earlyIn(block: object): readonly Variable[];
  /** Names in sight of an identifier that means none of them, for suggestions. */
  namesAround(node: Identifier): readonly string[];
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

export function resolveNames(program: Program): Resolution {
  return new Resolver(program).run();
}

class Resolver {
  private readonly program: Program;
  private readonly file: FunctionScope;
  private readonly references = new Map<Identifier, Variable>();
  private readonly scopes = new Map<TreeNode, FunctionScope>();
  private readonly declarations = new Map<object, Map<string, Variable>>();
  private readonly redeclared = new Map<object, Set<string>>();
  private readonly early = new Map<object, Variable[]>();
  private readonly blockOf = new Map<Variable, object>();
  private counter = 0;
  private scope: BlockScope;

  constructor(program: Program) {
    this.program = program;
    this.file = { node: program, parent: undefined, captures: new Set() };
    this.scope = { node: program, names: new Map(), parent: undefined, owner: this.file, waiting: [] };
  }

  run(): Resolution {
    this.statements(this.program.items, this.program);
    this.settleWaiting(this.scope);
    return {
      file: this.file,
      references: this.references,
      scopes: this.scopes,
      declared: (node, name) => {
        const variable = this.declarations.get(node)?.get(name);
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
    this.scope = { node, names: new Map(), parent: outer, owner: outer.owner, waiting: [] };
    run();
    this.settleWaiting(this.scope);
    this.scope = outer;
  }

  private inFunction(node: TreeNode, run: () => void): void {
    const outer = this.scope;
    const owner: FunctionScope = { node, parent: outer.owner, captures: new Set() };
    this.scopes.set(node, owner);
    this.scope = { node, names: new Map(), parent: outer, owner, waiting: [] };
    run();
    this.settleWaiting(this.scope);
    this.scope = outer;
  }

  /** Names that closures asked for in vain may have been declared by now; the rest waits one block further out. */
  private settleWaiting(scope: BlockScope): void {
    for (const wait of scope.waiting) {
      const variable = scope.names.get(wait.reference.name);
      if (variable !== undefined && wait.from !== scope.owner) {
        variable.isEarly ||= variable.role !== 'function';
        if (variable.role !== 'function') this.noteEarly(variable);
        this.bind(wait.reference, variable, wait.from);
      } else {
        scope.parent?.waiting.push(wait);
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
    const names = this.declarations.get(node) ?? new Map<string, Variable>();
    names.set(name, variable);
    this.declarations.set(node, names);
    this.blockOf.set(variable, this.scope.node);
    const before = this.scope.names.get(name);
    if (
      before !== undefined &&
      before.role !== 'var' &&
      role !== 'var' &&
      before.role !== 'param' &&
      before.role !== 'loop' &&
      before.role !== 'import'
    ) {
      const set = this.redeclared.get(node) ?? new Set<string>();
      set.add(name);
      this.redeclared.set(node, set);
    }
    if (name !== '_') this.scope.names.set(name, variable);
    return variable;
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

  private statements(statements: readonly Statement[], block: object): void {
    for (const statement of statements) this.hoist(statement);
    for (const statement of statements) this.visit(statement);
    void block;
  }

  /** Functions and tools are visible in their whole block. */
  private hoist(statement: Statement): void {
    const node = statement.kind === 'Attributed' ? statement.declaration : statement;
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

  private visit(node: TreeNode): void {
    switch (node.kind) {
      case 'Block':
        return this.inBlock(node, () => this.statements(node.statements, node));
      case 'Function':
      case 'Tool':
      case 'Pipeline':
      case 'Override':
      case 'Closure':
        return this.functionLike(node, node.params, node.body);
      case 'Parallel': {
        this.visit(node.operand);
        if (node.maxConcurrent !== undefined) this.visit(node.maxConcurrent);
        const { variable } = node;
        return this.inFunction(node, () => {
          if (variable !== undefined) this.declare(node, variable, 'param', undefined);
          this.statements(node.body.statements, node);
        });
      }
      case 'Spawn':
        return this.inFunction(node, () => this.statements(node.body.statements, node));
      case 'EvalPack':
        for (const field of node.fields) this.visit(field.value);
        return this.inFunction(node, () => {
          this.statements(node.body, node);
          if (node.summarize !== undefined) this.visit(node.summarize);
        });
      case 'Binding':
        this.visit(node.value);
        this.declarePattern(node.pattern, node.keyword === 'var' ? 'var' : 'let', node.value);
        return;
      case 'For':
        return this.forLoop(node);
      case 'Select':
        for (const item of node.cases) {
          this.visit(item.channel);
          this.inBlock(item, () => {
            this.declare(item, item.variable, 'let', undefined);
            this.statements(item.body.statements, item);
          });
        }
        if (node.timeout !== undefined) {
          this.visit(node.timeout.duration);
          this.visit(node.timeout.body);
        }
        if (node.otherwise !== undefined) this.visit(node.otherwise);
        return;
      case 'Try': {
        this.visit(node.body);
        const clause = node.catchClause;
        if (clause !== undefined) {
          this.inBlock(clause, () => {
            if (clause.variable !== undefined) this.declare(clause, clause.variable, 'let', undefined);
            this.statements(clause.body.statements, clause);
          });
        }
        if (node.finallyBlock !== undefined) this.visit(node.finallyBlock);
        return;
      }
      case 'Match':
        return this.match(node);
      case 'Assignment':
        return this.assignment(node.target, node.operator, node.value);
      case 'Identifier':
        this.reference(node);
        return;
      default:
        forEachChild(node, (child) => this.visit(child));
    }
  }

  private functionLike(node: TreeNode, params: readonly Parameter[], body: Block): void {
    this.inFunction(node, () => {
      for (const param of params) {
        if (param.defaultValue !== undefined) this.visit(param.defaultValue);
        this.declare(param, param.name, 'param', undefined);
      }
      this.statements(body.statements, node);
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
        this.declarePattern(pattern, 'loop', undefined);
        const index = pattern.kind === 'NamePattern' ? this.declarations.get(pattern)?.get(pattern.name) : undefined;
        if (index !== undefined) index.isRangeIndex = node.iterable.kind === 'Range';
      }
      this.inBlock(node.body, () => this.statements(node.body.statements, node.body));
    });
  }

  /** Defaults see the names before them, as those of parameters do. */
  private declarePattern(pattern: Pattern, role: Variable['role'], value: Expression | undefined): void {
    if (pattern.kind === 'NamePattern') {
      this.declare(pattern, pattern.name, role, value);
      return;
    }
    const parts = pattern.kind === 'DictPattern' ? pattern.fields : pattern.items;
    for (const part of parts) {
      if (part.defaultValue !== undefined) this.visit(part.defaultValue);
      this.declare(part, part.target, role, undefined);
    }
    if (pattern.rest !== undefined) this.declare(pattern, pattern.rest, role, undefined);
  }

  private match(node: Extract<Expression, { kind: 'Match' }>): void {
    this.visit(node.subject);
    for (const arm of node.arms) {
      this.inBlock(arm, () => {
        for (const pattern of arm.patterns) this.matchPattern(pattern, arm.patterns.length > 1);
        if (arm.guard !== undefined) this.visit(arm.guard);
        this.inBlock(arm.body, () => this.statements(arm.body.statements, arm.body));
      });
    }
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
    const variable = this.reference(root);
    if (target !== root) {
      if (target.kind === 'Subscript') this.visit(target.index);
      this.visitPath(target);
    }
    if (variable === undefined) return;
    variable.isReassigned = true;
    if (target !== root) {
      variable.isWrittenThrough = true;
      variable.isWrittenDeep ||= 'receiver' in target && target.receiver !== root;
    } else if (growsInPlace(variable, operator, value)) variable.isWrittenThrough = true;
    variable.values.push(target === root && operator === '=' ? value : target === root ? compound(target, operator, value) : undefined);
  }

  /** Index expressions along a nested target. */
  private visitPath(target: Expression): void {
    if (target.kind !== 'Property' && target.kind !== 'Subscript') return;
    if (target.receiver.kind === 'Subscript') this.visit(target.receiver.index);
    this.visitPath(target.receiver);
  }
}

function namesInSight(block: BlockScope | undefined): string[] {
  const names: string[] = [];
  for (let scope = block; scope !== undefined; scope = scope.parent) names.push(...scope.names.keys());
  return names;
}

function isVariantName(node: Expression): boolean {
  return node.kind === 'Identifier' && /^\p{Lu}/u.test(node.name);
}

/** `x op= v` seen as the binary expression it stands for, for inference. */
function compound(target: Expression, operator: string, value: Expression): Expression {
  const binary = operator.slice(0, -1) as '+' | '-' | '*' | '/' | '%';
  return { kind: 'Binary', operator: binary, operatorSpan: value.span, left: target, right: value, span: value.span };
}

/** The variable at the root of `a.b[c].d`. */
export function rootOf(target: Expression): Identifier | undefined {
  let node = target;
  while (node.kind === 'Property' || node.kind === 'Subscript') node = node.receiver;
  return node.kind === 'Identifier' ? node : undefined;
}

/** Methods whose result may be made in place when the receiver is the variable that takes it. */
const GROWING_METHODS: ReadonlySet<string> = new Set(['push', 'pop']);

/** `xs = xs + […]`, `xs += …`, `xs = xs.push(v)`: statements that grow the variable's own container. */
export function growsInPlace(variable: Variable, operator: string, value: Expression): boolean {
  const isSelf = (node: Expression): boolean => node.kind === 'Identifier' && node.name === variable.name;
  if (operator === '+=') return value.kind === 'List' || value.kind === 'Dict';
  if (operator !== '=') return false;
  if (value.kind === 'Binary' && value.operator === '+')
    return isSelf(value.left) && (value.right.kind === 'List' || value.right.kind === 'Dict');
  return value.kind === 'MethodCall' && GROWING_METHODS.has(value.name) && isSelf(value.receiver);
}

/** A Harn name as a JavaScript identifier: characters beyond ASCII words are written as their code point. */
export function encodeName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_]/gu, (character) => `$${character.codePointAt(0)?.toString(16)}$`);
}
