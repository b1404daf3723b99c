import type { Lookup } from '../base/lookup.ts';
import type { Expression, Identifier, Parameter, Pattern, Program } from './ast.ts';
import type { Resolution, Variable } from './scope.ts';
import { forEachChild, isFunctionNode, type TreeNode } from './walk.ts';

/** How a builtin waits; see runtime/builtin.ts. */
export type BuiltinColour = 'sync' | 'async' | 'callback';

/** Whole-program facts that decide what unknown code may do. */
export interface ProgramColour {
  /** Some callable that may wait is used as a value somewhere: unknown callees may answer promises. */
  readonly asyncCallables: boolean;
  /** Parts of the harness or namespaces are values somewhere: a method of theirs may be called on anything. */
  readonly asyncParts: boolean;
  /** Channels, streams or waiting generators can exist: a `for` over an unknown value may wait. */
  readonly asyncIterables: boolean;
}

/** What the compiler has to know of the harness (spec/language.md 15.3). */
export interface HarnessColours {
  /** Is this a part: `fs`, `net`, …? */
  isPart(name: string): boolean;
  /** May `harness.part.method(…)` answer a promise? */
  waits(part: string, method: string): boolean;
  /** May a method of this name of some part or namespace answer a promise? */
  waitsAnywhere(method: string): boolean;
  /** Is this the name of a value whose methods are builtins: `stream`, …? */
  isNamespace(name: string): boolean;
}

export interface ColourEnvironment extends ProgramColour {
  readonly builtins: Lookup<BuiltinColour>;
  /** Imported functions that wait, by local name. */
  readonly asyncImports: ReadonlySet<string>;
  /** Names of methods of imported structs that wait. */
  readonly asyncMethods: ReadonlySet<string>;
  /** The handle of capabilities, `harness.PART.METHOD(…)`. */
  readonly harness: HarnessColours;
  /** Emit everything asynchronous; for tests that compare the two. */
  readonly forceAsync?: boolean;
}

/**
 * Which functions of a module wait. A function is asynchronous when its own body can: everything else is emitted as
 * plain synchronous JavaScript, which is what makes calls cheap. The answer is a least fixpoint, found in one look at
 * each body: a body that does not wait yet notes whom it asked about, and whoever comes to wait makes those wait too
 * that asked. That is enough because one waiting callee is all it takes.
 */
export class Colours {
  private readonly resolution: Resolution;
  private readonly environment: ColourEnvironment;
  private readonly waiting = new Set<TreeNode>();
  private readonly waitingMethods: Set<string>;
  /** The function whose body is being looked at, and for each function or method those that asked about it. */
  private asking: TreeNode | undefined;
  private readonly askers = new Map<TreeNode | string, TreeNode[]>();

  constructor(program: Program, resolution: Resolution, environment: ColourEnvironment) {
    this.resolution = resolution;
    this.environment = environment;
    this.waitingMethods = new Set([...ALWAYS_WAITING_METHODS, ...environment.asyncMethods]);
    const functions: TreeNode[] = [];
    const methods = new Map<TreeNode, string>();
    const collect = (node: TreeNode): void => {
      if (isFunctionNode(node)) functions.push(node);
      if (node.kind === 'Impl') for (const method of node.methods) methods.set(method, method.name);
      forEachChild(node, collect);
    };
    for (const item of program.items) collect(item);
    for (const node of functions) {
      this.asking = node;
      if (this.bodyWaits(node)) this.settle(node, methods);
    }
    this.asking = undefined;
  }

  /** The function waits, and so does all that asked about it. */
  private settle(first: TreeNode, methods: ReadonlyMap<TreeNode, string>): void {
    const open = [first];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (this.waiting.has(node)) continue;
      this.waiting.add(node);
      const method = methods.get(node);
      if (method !== undefined) this.waitingMethods.add(method);
      open.push(...(this.askers.get(node) ?? []), ...((method !== undefined && this.askers.get(method)) || []));
    }
  }

  private isWaiting(node: TreeNode): boolean {
    return this.waiting.has(node) || this.ask(node);
  }

  private isWaitingMethod(name: string): boolean {
    return this.waitingMethods.has(name) || this.ask(name);
  }

  /** Notes the question for a later answer; for now it is no. */
  private ask(about: TreeNode | string): false {
    if (this.asking === undefined) return false;
    const askers = this.askers.get(about);
    if (askers === undefined) this.askers.set(about, [this.asking]);
    else askers.push(this.asking);
    return false;
  }

  /** Does a call of this function, closure or pipeline answer a promise? */
  isAsync(node: TreeNode): boolean {
    return (
      this.environment.forceAsync === true ||
      node.kind === 'Parallel' ||
      node.kind === 'Spawn' ||
      node.kind === 'Pipeline' ||
      this.isWaiting(node)
    );
  }

  get asyncMethodNames(): ReadonlySet<string> {
    return this.waitingMethods;
  }

  private bodyWaits(fn: TreeNode): boolean {
    let waits = false;
    const look = (node: TreeNode): void => {
      if (waits) return;
      if (node !== fn && isFunctionNode(node)) {
        if (node.kind === 'Parallel') waits = true;
        return;
      }
      if (this.nodeWaits(node)) waits = true;
      else forEachChild(node, look);
    };
    look(fn);
    return waits;
  }

  /** Does this node wait by itself, its children aside? */
  nodeWaits(node: TreeNode): boolean {
    switch (node.kind) {
      case 'Parallel':
      case 'Select':
      case 'Mutex':
        return true;
      case 'Call':
        return this.callWaits(node);
      case 'MethodCall':
        return this.methodWaits(node);
      case 'Pipe':
        return this.calleeWaits(node.right);
      case 'For':
        return this.environment.asyncIterables && !isPlainIterable(node.iterable);
      default:
        return false;
    }
  }

  callWaits(node: Extract<Expression, { kind: 'Call' }>): boolean {
    const variable = this.resolution.references.get(node.callee);
    if (variable !== undefined) return this.variableWaits(variable);
    const { name } = node.callee;
    if (this.environment.asyncImports.has(name)) return true;
    const colour = this.environment.builtins.get(name);
    if (colour === 'callback') return node.args.some((arg) => this.argumentWaits(arg.kind === 'Spread' ? arg.value : arg));
    return colour === 'async';
  }

  private variableWaits(variable: Variable): boolean {
    if (variable.declaration !== undefined) {
      if (variable.declaration.kind === 'Function' && isProducer(variable.declaration)) return false;
      return this.environment.forceAsync === true || this.isWaiting(variable.declaration as TreeNode);
    }
    const closure = variable.isReassigned ? undefined : variable.values[0];
    if (closure?.kind === 'Closure') return this.isAsync(closure);
    return this.environment.asyncCallables || this.environment.forceAsync === true;
  }

  private methodWaits(node: Extract<Expression, { kind: 'MethodCall' }>): boolean {
    if (this.isWaitingMethod(node.name)) return true;
    if (this.partWaits(node.receiver, node.name)) return true;
    if (this.environment.asyncParts && this.environment.harness.waitsAnywhere(node.name)) return true;
    if (node.args.some((arg) => this.argumentWaits(arg.kind === 'Spread' ? arg.value : arg))) return true;
    // `d.handler(x)` calls whatever is stored there; built-in methods never wait by themselves.
    if (node.name === 'next' || ITERATOR_METHODS.has(node.name)) return this.environment.asyncIterables;
    return this.environment.asyncCallables && !SYNC_METHODS.has(node.name);
  }

  /** `harness.net.get(…)`, or `net.get(…)` where a part has been given its name. */
  private partWaits(receiver: Expression, method: string): boolean {
    if (receiver.kind !== 'Property' && receiver.kind !== 'Identifier') return false;
    return this.environment.harness.waits(receiver.name, method);
  }

  /** A callable handed to something that calls it back. */
  private argumentWaits(arg: Expression): boolean {
    if (arg.kind === 'Closure') return this.isAsync(arg);
    if (arg.kind !== 'Identifier') return false;
    const variable = this.resolution.references.get(arg);
    if (variable === undefined) return this.environment.asyncImports.has(arg.name) || this.environment.builtins.get(arg.name) === 'async';
    if (variable.declaration !== undefined) return this.isWaiting(variable.declaration as TreeNode);
    const value = variable.isReassigned ? undefined : variable.values[0];
    if (value?.kind === 'Closure') return this.isAsync(value);
    return this.environment.asyncCallables && (variable.role === 'param' || value === undefined || !isPlainData(value));
  }

  private calleeWaits(right: Expression): boolean {
    return right.kind === 'Closure' || right.kind === 'Identifier'
      ? this.argumentWaits(right) || this.pipedBuiltinWaits(right)
      : this.environment.asyncCallables;
  }

  private pipedBuiltinWaits(right: Expression): boolean {
    return right.kind === 'Identifier' && !this.resolution.references.has(right) && this.environment.builtins.get(right.name) === 'async';
  }

  /** Which waiting things are used as values in this module, so that code may meet them without their name. */
  valuesOf(program: Program): { readonly callables: boolean; readonly parts: boolean } {
    let callables = false;
    let parts = false;
    const look = (node: TreeNode): void => {
      switch (node.kind) {
        case 'Identifier':
          callables ||= this.identifierWaits(node);
          parts ||= this.isNamespace(node);
          return;
        case 'Property':
          callables ||= this.partWaits(node.receiver, node.name) || this.memberWaits(node);
          parts ||= this.environment.harness.isPart(node.name);
          // The member of a namespace or part is the value, not what it is a member of.
          lookInside(node.receiver);
          return;
        case 'MethodCall':
          lookInside(node.receiver);
          for (const arg of node.args) look(arg);
          return;
        case 'Call':
          for (const arg of node.args) look(arg);
          return;
        case 'Binding':
          parts ||= this.takesParts(node.pattern);
          break;
        case 'Closure':
        case 'Tool':
          callables ||= this.waiting.has(node);
          parts ||= node.params.some(takesPart);
          break;
        case 'Function':
        case 'Pipeline':
          parts ||= node.params.some(takesPart);
          break;
        default:
          break;
      }
      forEachChild(node, look);
    };
    /** The receiver of a member: a part or namespace that is only passed through. */
    const lookInside = (receiver: Expression): void => {
      if (receiver.kind === 'Property' && this.environment.harness.isPart(receiver.name)) lookInside(receiver.receiver);
      else if (!this.isNamespace(receiver)) look(receiver);
    };
    for (const item of program.items) look(item);
    return { callables, parts };
  }

  private identifierWaits(node: Identifier): boolean {
    const variable = this.resolution.references.get(node);
    if (variable === undefined) return this.environment.asyncImports.has(node.name) || this.environment.builtins.get(node.name) === 'async';
    return variable.declaration !== undefined && this.waiting.has(variable.declaration as TreeNode);
  }

  private isNamespace(node: Expression): boolean {
    return node.kind === 'Identifier' && !this.resolution.references.has(node) && this.environment.harness.isNamespace(node.name);
  }

  /** `stream.collect` as a value. */
  private memberWaits({ receiver, name }: Extract<Expression, { kind: 'Property' }>): boolean {
    return (
      receiver.kind === 'Identifier' && this.isNamespace(receiver) && this.environment.builtins.get(`${receiver.name}.${name}`) === 'async'
    );
  }

  /** `let {fs} = harness`. */
  private takesParts(pattern: Pattern): boolean {
    return pattern.kind === 'DictPattern' && pattern.fields.some(({ key }) => this.environment.harness.isPart(key));
  }
}

/** `net: HarnessNet`. */
function takesPart({ type }: Parameter): boolean {
  return type?.kind === 'NamedType' && /^Harness[A-Z]/.test(type.name);
}

/** Calling such a function only makes a generator or stream; its body waits at the pull. */
export function isProducer(node: TreeNode): boolean {
  if (node.kind !== 'Function') return false;
  if (node.isStream) return true;
  let yields = false;
  const look = (child: TreeNode): void => {
    if (child.kind === 'Yield') yields = true;
    if (!yields && !isFunctionNode(child)) forEachChild(child, look);
  };
  forEachChild(node, look);
  return yields;
}

/** Methods of the harness handle that wait; a method of that name on anything else pays one check. */
const ALWAYS_WAITING_METHODS = [
  'sleep_ms',
  'read_line',
  'read_stdin',
  'prompt',
  'run',
  'exec',
  'exec_at',
  'shell',
  'shell_at',
  'post',
  'put',
  'patch',
  'request',
  'download',
  'yield_now',
  'clock_advance',
  'resume_subagent',
  'cancel_subagent',
  'trigger_fire',
  'wait_for_any_settlement',
  'spawn_settlement_agent',
  'call',
  'receive',
];

const ITERATOR_METHODS: ReadonlySet<string> = new Set([
  'to_list',
  'to_set',
  'to_dict',
  'first',
  'last',
  'for_each',
  'reduce',
  'sum',
  'count',
  'min',
  'max',
  'find',
  'any',
  'all',
]);

/** Methods that only read their receiver: they never wait, whatever the receiver is. */
const SYNC_METHODS: ReadonlySet<string> = new Set(
  'count empty contains index_of last_index_of enumerate zip slice take skip unique push pop flatten reverse sort join chunk window compact iter len starts_with ends_with replace split trim trim_start trim_end lower upper lowercase uppercase to_lower to_upper substring chars char_at lines repeat pad_left pad_right keys values entries has get merge remove add delete union intersect intersection difference symmetric_difference is_subset is_superset is_disjoint println print'.split(
    ' ',
  ),
);

function isPlainIterable(node: Expression): boolean {
  return (
    node.kind === 'Range' ||
    node.kind === 'List' ||
    node.kind === 'Dict' ||
    (node.kind === 'MethodCall' && SYNC_METHODS.has(node.name) && node.name !== 'iter')
  );
}

function isPlainData(node: Expression): boolean {
  return ['Int', 'Float', 'Bool', 'Nil', 'String', 'Interpolation', 'List', 'Dict', 'Binary', 'Unary', 'Duration', 'Range'].includes(
    node.kind,
  );
}
