import type { Lookup } from '../base/lookup.ts';
import type { Expression, Identifier, Property } from './ast.ts';
import type { Resolution, Variable } from './scope.ts';
import { isProducer, type TreeNode } from './walk.ts';

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
 * what each body may wait for: a body that does not wait yet notes whom it asked about, and whoever comes to wait makes those wait too
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

  constructor(resolution: Resolution, environment: ColourEnvironment) {
    this.resolution = resolution;
    this.environment = environment;
    this.waitingMethods = new Set([...ALWAYS_WAITING_METHODS, ...environment.asyncMethods]);
    const methods = new Map<TreeNode, string>();
    for (const node of resolution.types) {
      if (node.kind === 'Impl') for (const method of node.methods) methods.set(method, method.name);
    }
    for (const [node, { waits }] of resolution.scopes) {
      this.asking = node;
      if (waits.some((part) => this.nodeWaits(part))) this.settle(node, methods);
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
  values(): { readonly callables: boolean; readonly parts: boolean } {
    const { values, members, callables, picked, takesParts } = this.resolution.uses;
    // The member of a namespace or part is the value, not what it is a member of.
    const receivers = this.resolution.uses.receivers.filter((node) => !this.isNamespace(node));
    const receivingMembers = this.resolution.uses.receivingMembers.filter(({ name }) => !this.environment.harness.isPart(name));
    const isWaitingMember = (node: Property): boolean => this.partWaits(node.receiver, node.name) || this.memberWaits(node);
    return {
      callables:
        callables.some((node) => this.waiting.has(node)) ||
        [values, receivers].some((nodes) => nodes.some((node) => this.identifierWaits(node))) ||
        [members, receivingMembers].some((nodes) => nodes.some(isWaitingMember)),
      parts:
        takesParts ||
        values.some((node) => this.isNamespace(node)) ||
        members.some(({ name }) => this.environment.harness.isPart(name)) ||
        picked.some((key) => this.environment.harness.isPart(key)),
    };
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
