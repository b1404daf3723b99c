import type { Span } from '../diagnostics/span.ts';
import type { Block, Expression, ForLoop, IfExpression, Pattern, Statement } from './ast.ts';
import { emitAssignment, isFresh } from './emit-assignment.ts';
import { emitTailCall } from './emit-call.ts';
import { emitSelectHead } from './emit-concurrency.ts';
import { any, boxed, type FunctionState, hasOwnedBit, keep, NOWHERE, ownedBit, reportProblem, type Sink } from './emit-context.ts';
import { emitCondition, emitExpression, emitForEffect, emitValue, needsStatements } from './emit-expression.ts';
import { emitEarly, emitLocalFunction, emitLocalMethod, emitLocalSkill, emitLocalTool } from './emit-function.ts';
import { line, place } from './emit-layout.ts';
import { emitMatchInto } from './emit-match.ts';
import { MAX_LINKS, type Variable } from './scope.ts';
import { ifChain } from './walk.ts';

/** Statements in order; the value of the last one goes to the sink when it is an expression. */
export function emitStatements(fn: FunctionState, statements: readonly Statement[], sink: Sink): string {
  return statements
    .map(
      (statement, index) => `${line(statement.span.line)}${emitStatement(fn, statement, index === statements.length - 1 ? sink : NOWHERE)}`,
    )
    .join(' ');
}

/** `{ … }` in a scope of its own. */
export function emitBlockInto(fn: FunctionState, block: Block, sink: Sink): string {
  return `{ ${emitEarly(fn.module, block)}${emitStatements(fn, block.statements, sink)} }`;
}

function emitStatement(fn: FunctionState, node: Statement, sink: Sink): string {
  switch (node.kind) {
    case 'ExpressionStatement':
      return sink.to === 'nowhere' ? emitForEffect(fn, node.expression) : emitInto(fn, node.expression, sink);
    case 'Binding':
      return emitBinding(fn, node);
    case 'Assignment':
      return emitAssignment(fn, node);
    case 'Return':
      return emitReturn(fn, node.value);
    case 'Throw':
      return fn.statement(() => `throw R.raise(${emitValue(fn, node.value)});`);
    case 'For':
      return emitFor(fn, node);
    case 'While':
      return emitWhile(fn, node.condition, node.body);
    case 'Break':
      return leaveLoop(fn, node);
    case 'Continue':
      return leaveLoop(fn, node);
    case 'Guard':
      return fn.statement(() => `if (!(${emitCondition(fn, node.condition)})) ${emitBlockInto(fn, node.otherwise, NOWHERE)}`);
    case 'Require':
      return fn.statement(() => {
        const condition = emitCondition(fn, node.condition);
        const message = fn.statement(
          () => `throw R.raise(${node.message === undefined ? '"require condition failed"' : emitValue(fn, node.message)});`,
        );
        return `if (!(${condition})) { ${message} }`;
      });
    case 'Mutex':
      return emitMutex(fn, node.body);
    case 'Defer':
      return emitDefer(fn, node.body);
    case 'Select':
      return emitSelect(fn, node, sink);
    case 'Yield':
      reportStrayProducer(fn, node);
      return fn.statement(() => `yield ${node.value === undefined ? 'undefined' : `(${emitValue(fn, node.value)})`};`);
    case 'Emit':
      reportStrayProducer(fn, node);
      return fn.statement(() => `yield (${emitValue(fn, node.value)});`);
    case 'Attributed':
      return emitStatement(fn, node.declaration, sink);
    case 'Function': {
      const variable = fn.module.resolution.declared(node, node.name);
      if (variable.isTopLevel) return redeclaration(fn, node, node.name, node.nameSpan);
      return `${redeclaration(fn, node, node.name, node.nameSpan)}let ${emitLocalFunction(fn, node)}`;
    }
    case 'Tool':
      return fn.module.resolution.declared(node, node.name).isTopLevel
        ? redeclaration(fn, node, node.name, node.nameSpan)
        : emitLocalTool(fn, node);
    case 'Skill':
      return emitLocalSkill(fn, node);
    case 'Impl':
      return node.methods.map((method) => emitLocalMethod(fn, node.name, method)).join(' ');
    case 'EvalPack':
    case 'Struct':
    case 'Enum':
    case 'TypeAlias':
    case 'Interface':
    case 'Import':
    case 'Pipeline':
    case 'Override':
      return '';
  }
}

/** A value can only be handed out by the function that the loop over it has called. */
function reportStrayProducer(fn: FunctionState, { kind, span }: Extract<Statement, { kind: 'Yield' | 'Emit' }>): void {
  if (fn.producer !== undefined && !fn.isDeferred) return;
  const word = kind === 'Yield' ? 'yield' : 'emit';
  const where = fn.isDeferred ? `${word} inside defer` : `${word} outside of a named function`;
  reportProblem(fn.module, `Compile error at line ${span.line}: ${where}`, span);
}

function leaveLoop(fn: FunctionState, node: Extract<Statement, { kind: 'Break' | 'Continue' }>): string {
  const word = node.kind === 'Break' ? 'break' : 'continue';
  const label = fn.loops.at(-1);
  if (label !== undefined) return `${word} ${label};`;
  reportProblem(fn.module, `Compile error at line ${node.span.line}: ${word} outside of loop`, node.span);
  return '';
}

function redeclaration(fn: FunctionState, node: { readonly span: Span }, name: string, at = node.span): string {
  return fn.module.resolution.isRedeclaration(node, name) ? `${place(at)}R.redeclared(${JSON.stringify(name)});` : '';
}

/** Puts the value of an expression where the sink says. */
export function emitInto(fn: FunctionState, node: Expression, sink: Sink): string {
  switch (node.kind) {
    case 'If':
      return emitIfChain(fn, node, sink);
    case 'Match':
      return emitMatchInto(fn, node, sink);
    case 'Try':
      return emitTryInto(fn, node, sink);
    case 'Retry':
      return emitRetry(fn, node, sink);
    case 'Deadline':
      return emitDeadlineInto(fn, node, sink);
    default:
      if (sink.to === 'nowhere') return emitForEffect(fn, node);
      return fn.statement(() => `${sink.to === 'return' ? 'return (' : `${sink.name} = (`}${emitValue(fn, node)});`);
  }
}

/** Beyond a few links a chain becomes a labelled block of tests, each of which leaves it. */
function emitIfChain(fn: FunctionState, node: IfExpression, sink: Sink): string {
  const { links, otherwise } = ifChain(node);
  if (links.length <= MAX_LINKS) return fn.statement(() => emitIfInto(fn, node.condition, node.then, node.otherwise, sink));
  const label = fn.unique('F');
  const tests = links.map(({ condition, then }) => {
    const test = fn.statement(() => `if (${emitCondition(fn, condition)})`);
    return `${line(condition.span.line)}${test} { ${emitBlockInto(fn, then, sink)} break ${label}; }`;
  });
  const last = otherwise === undefined ? (sink.to === 'return' ? 'return undefined;' : '') : emitBlockInto(fn, otherwise, sink);
  return `${label}: { ${tests.join(' ')} ${last} }`;
}

export function emitIfInto(fn: FunctionState, condition: Expression, then: Block, otherwise: Block | undefined, sink: Sink): string {
  const test = emitCondition(fn, condition);
  const rest =
    otherwise === undefined ? (sink.to === 'return' ? ' else return undefined;' : '') : ` else ${emitBlockInto(fn, otherwise, sink)}`;
  return `if (${test}) ${emitBlockInto(fn, then, sink)}${rest}`;
}

function emitReturn(fn: FunctionState, value: Expression | undefined): string {
  if (value === undefined) return 'return undefined;';
  return fn.statement(() => {
    const tail = emitTailCall(fn, value);
    if (tail !== undefined) return tail;
    return emitInto(fn, value, { to: 'return' });
  });
}

// ---- bindings ----

function emitBinding(fn: FunctionState, node: Extract<Statement, { kind: 'Binding' }>): string {
  return fn.statement(() => {
    const { pattern } = node;
    if (pattern.kind !== 'NamePattern') {
      const source = keep(fn, any(emitValue(fn, node.value))).code;
      return emitPatternBindings(fn, pattern, source);
    }
    if (pattern.name === '_') return `${emitExpression(fn, node.value, 'peek').code};`;
    const variable = fn.module.resolution.declared(pattern, pattern.name);
    const value = emitExpression(fn, node.value);
    const code = fn.module.kinds.ofVariable(variable) === 'float' ? value.code : boxed(value);
    return `${redeclaration(fn, pattern, pattern.name)}${declare(variable)}${variable.jsName} = (${code});${bitAfter(variable, isFresh(node.value))}`;
  });
}

/** `let ` unless the variable is declared elsewhere: early in its block, or with the file. */
function declare(variable: Variable): string {
  return variable.isEarly || variable.isTopLevel ? '' : 'let ';
}

function bitAfter(variable: Variable, isOwned: boolean): string {
  if (!hasOwnedBit(variable)) return '';
  return ` ${variable.isTopLevel ? '' : variable.isEarly ? 'var ' : 'let '}${ownedBit(variable)} = ${isOwned};`;
}

/** Destructuring (spec/language.md 6.12). */
function emitPatternBindings(fn: FunctionState, pattern: Exclude<Pattern, { kind: 'NamePattern' }>, source: string): string {
  const { resolution } = fn.module;
  const parts: string[] = [];
  const bind = (node: { readonly span: Span }, target: string, value: string, defaultValue: Expression | undefined): void => {
    if (target === '_') return;
    const variable = resolution.declared(node, target);
    parts.push(`${redeclaration(fn, node, target)}${declare(variable)}${variable.jsName} = ${value};${bitAfter(variable, false)}`);
    if (defaultValue === undefined) return;
    parts.push(`if (${variable.jsName} === undefined) { ${fn.statement(() => `${variable.jsName} = ${emitValue(fn, defaultValue)};`)} }`);
  };
  if (pattern.kind === 'DictPattern') {
    parts.push(`${place(pattern.span)}R.assertDict(${source});`);
    for (const field of pattern.fields) bind(field, field.target, `R.get(${source}, ${JSON.stringify(field.key)})`, field.defaultValue);
    const keys = pattern.fields.map((field) => field.key);
    if (pattern.rest !== undefined) bind(pattern, pattern.rest, `R.dictWithout(${source}, ${JSON.stringify(keys)})`, undefined);
  } else {
    parts.push(`${place(pattern.span)}R.assertList(${source});`);
    pattern.items.forEach((item, index) => {
      bind(item, item.target, `${source}[${index}]`, item.defaultValue);
    });
    if (pattern.rest !== undefined) bind(pattern, pattern.rest, `${source}.slice(${pattern.items.length})`, undefined);
  }
  return parts.join(' ');
}

// ---- loops ----

/** The check at a loop's back edge: a plain read of shared memory that deadlines and cancels set. */
function backEdge(fn: FunctionState): string {
  return `if (I[0] === 0) R.interrupt(${fn.context});`;
}

function emitLoopBody(fn: FunctionState, label: string, body: Block): string {
  fn.loops.push(label);
  const code = emitBlockInto(fn, body, NOWHERE);
  fn.loops.pop();
  return code;
}

function emitWhile(fn: FunctionState, condition: Expression, body: Block): string {
  const label = fn.unique('L');
  if (!needsStatements(fn.module, condition)) {
    const test = emitCondition(fn, condition);
    return `${label}: while (${test}) { ${backEdge(fn)} ${emitLoopBody(fn, label, body)} }`;
  }
  const test = fn.statement(() => `if (!(${emitCondition(fn, condition)})) break;`);
  return `${label}: for (;;) { ${backEdge(fn)} ${test} ${emitLoopBody(fn, label, body)} }`;
}

function emitFor(fn: FunctionState, node: ForLoop): string {
  return fn.statement(() => (node.iterable.kind === 'Range' ? emitRangeLoop(fn, node, node.iterable) : emitGeneralLoop(fn, node)));
}

function emitRangeLoop(fn: FunctionState, node: ForLoop, range: Extract<Expression, { kind: 'Range' }>): string {
  const label = fn.unique('L');
  const index = fn.unique('i');
  const end = fn.unique('e');
  const from = emitBound(fn, range.start);
  const to = emitBound(fn, range.end);
  const head = `for (let ${index} = ${from}, ${end} = ${to}; ${index} ${range.isExclusive ? '<' : '<='} ${end}; ${index}++)`;
  const { pattern } = node;
  let bind: string;
  if (pattern.kind === 'NamePattern') {
    if (pattern.name === '_') bind = '';
    else {
      const variable = fn.module.resolution.declared(pattern, pattern.name);
      bind = `${variable.isEarly ? '' : 'let '}${variable.jsName} = ${index};${bitAfter(variable, false)}`;
    }
  } else {
    bind = emitLoopPattern(fn, pattern, index);
  }
  return `${label}: ${head} { ${backEdge(fn)} ${bind} ${emitLoopBody(fn, label, node.body)} }`;
}

/** A bound of a range loop as a JavaScript number. */
function emitBound(fn: FunctionState, node: Expression): string {
  const value = emitExpression(fn, node, 'peek');
  if (value.kind === 'num') return /^[$\w]+$/.test(value.code) ? value.code : keep(fn, value).code;
  return keep(fn, { code: `R.bound(${boxed(value)})`, kind: 'num' }).code;
}

/**
 * Any other iterable: lists are walked by index, everything else is pulled. One body serves both, since emitting it
 * twice would double every nested loop.
 */
function emitGeneralLoop(fn: FunctionState, node: ForLoop): string {
  const label = fn.unique('L');
  const source = fn.unique('s');
  const isList = fn.unique('a');
  const index = fn.unique('i');
  const item = fn.unique('x');
  // The loop sees the value at its start: the body may only write to the variable itself when it has let go of it.
  const iterable = emitValue(fn, node.iterable, writesRoot(fn, node) ? 'keep' : 'read');
  const waits = fn.isAsync && fn.module.environment.asyncIterables;
  fn.makesCalls = true;
  const pull = `${item} = ${source}.pull(${fn.context}, d); ${waits ? `if (${item} instanceof Promise) ${item} = await ${item};` : ''} if (${item} === R.END) break;`;
  const bind = emitLoopPattern(fn, node.pattern, item);
  const next = `let ${item}; if (${isList}) { if (${index} >= ${source}.length) break; ${item} = ${source}[${index}++]; } else { ${pull} }`;
  const cleansUp = fn.module.environment.asyncIterables;
  if (cleansUp) fn.guarded++;
  const loop = `${label}: for (;;) { ${backEdge(fn)} ${next} ${bind} ${emitLoopBody(fn, label, node.body)} }`;
  if (cleansUp) fn.guarded--;
  const open = `const ${source} = R.forSource(${iterable}); const ${isList} = Array.isArray(${source}); let ${index} = 0;`;
  if (!cleansUp) return `{ ${open} ${loop} }`;
  return `{ ${open} try { ${loop} } finally { if (!${isList}) ${fn.isAsync ? 'await ' : ''}R.abandon(${source}); } }`;
}

function writesRoot(fn: FunctionState, { iterable, body }: ForLoop): boolean {
  if (iterable.kind !== 'Identifier') return true;
  return fn.scope.assigned.some(({ name, span }) => name === iterable.name && span.start >= body.span.start && span.start < body.span.end);
}

function emitLoopPattern(fn: FunctionState, pattern: ForLoop['pattern'], item: string): string {
  const { resolution } = fn.module;
  if (pattern.kind === 'PairPattern') {
    const one = (name: string, key: string): string => {
      if (name === '_') return '';
      const variable = resolution.declared(pattern, name);
      return `let ${variable.jsName} = ${place(pattern.span)}R.property(${item}, "${key}");${bitAfter(variable, false)}`;
    };
    return `${one(pattern.first, 'first')} ${one(pattern.second, 'second')}`;
  }
  if (pattern.kind !== 'NamePattern') return emitPatternBindings(fn, pattern, item);
  if (pattern.name === '_') return '';
  const variable = resolution.declared(pattern, pattern.name);
  return `${variable.isEarly ? '' : 'let '}${variable.jsName} = ${item};${bitAfter(variable, false)}`;
}

// ---- errors ----

/** All forms of `try` (spec/language.md 6.6, 6.7). */
function emitTryInto(fn: FunctionState, node: Extract<Expression, { kind: 'Try' }>, sink: Sink): string {
  const isExpression = node.catchClause === undefined && node.finallyBlock === undefined;
  fn.guarded++;
  const caught = fn.unique('x');
  let code: string;
  if (isExpression) {
    const result = fn.temp();
    const body = emitBlockInto(fn, node.body, { to: 'temp', name: result });
    code = `${result} = undefined; try { ${body} ${result} = R.okOf(${result}); } catch (${caught}) { ${result} = R.errOf(${caught}); } ${deliver(sink, result)}`;
  } else {
    // A value cannot be returned from inside: `finally` and the catch clause of this very statement come first.
    const inner: Sink = sink.to === 'return' ? { to: 'temp', name: fn.temp() } : sink;
    const clause = node.catchClause;
    const body = emitBlockInto(fn, node.body, inner);
    const handler = clause === undefined ? '' : ` catch (${caught}) { ${emitCatch(fn, clause, caught, inner)} }`;
    const cleanup = node.finallyBlock === undefined ? '' : ` finally ${emitCleanup(fn, node.finallyBlock)}`;
    const start = inner.to === 'temp' ? `${inner.name} = undefined; ` : '';
    code = `${start}try ${body}${handler}${cleanup} ${inner !== sink && inner.to === 'temp' ? deliver(sink, inner.name) : ''}`;
  }
  fn.guarded--;
  return code;
}

/** A block that runs also when the task is being cancelled: its own waits and loops must not end with the task. */
function emitCleanup(fn: FunctionState, body: Block): string {
  const outer = fn.context;
  fn.context = fn.unique('c');
  const code = `{ const ${fn.context} = R.cleanupContext(${outer}); ${emitBlockInto(fn, body, NOWHERE)} }`;
  fn.context = outer;
  return code;
}

function deliver(sink: Sink, value: string): string {
  if (sink.to === 'nowhere') return '';
  return sink.to === 'return' ? `return ${value};` : `${sink.name} = ${value};`;
}

function emitCatch(
  fn: FunctionState,
  clause: NonNullable<Extract<Expression, { kind: 'Try' }>['catchClause']>,
  caught: string,
  sink: Sink,
): string {
  const value = fn.unique('v');
  const enumName = clause.type?.kind === 'NamedType' && fn.module.enums.has(clause.type.name) ? clause.type.name : undefined;
  const filter =
    enumName === undefined
      ? ''
      : `if (!(${value} instanceof EnumValue && ${value}.enumName === ${JSON.stringify(enumName)})) throw ${caught};`;
  const name = clause.variable;
  const bind = name === undefined || name === '_' ? '' : `const ${fn.module.resolution.declared(clause, name).jsName} = ${value};`;
  return `const ${value} = R.caught(${caught}); ${filter} ${bind} ${emitEarly(fn.module, clause)}${emitStatements(fn, clause.body.statements, sink)}`;
}

function emitRetry(fn: FunctionState, node: Extract<Expression, { kind: 'Retry' }>, sink: Sink): string {
  return fn.statement(() => {
    const left = fn.unique('n');
    const caught = fn.unique('x');
    const label = fn.unique('R');
    const count = keep(fn, any(`R.retryCount(${emitValue(fn, node.count)})`)).code;
    fn.guarded++;
    const body = emitBlockInto(fn, node.body, NOWHERE);
    fn.guarded--;
    const loop = `${label}: for (let ${left} = ${count}; ; ${left}--) { ${backEdge(fn)} try { ${body} break ${label}; } catch (${caught}) { R.caught(${caught}); if (${left} <= 1) throw ${caught}; } }`;
    return `${loop} ${deliver(sink, 'undefined')}`;
  });
}

// ---- concurrency ----

function emitDeadlineInto(fn: FunctionState, node: Extract<Expression, { kind: 'Deadline' }>, sink: Sink): string {
  return fn.statement(() => {
    const block = fn.unique('w');
    const context = fn.unique('c');
    const duration = keep(fn, any(emitValue(fn, node.duration))).code;
    const outer = fn.context;
    const inner: Sink = sink.to === 'return' ? { to: 'temp', name: fn.temp() } : sink;
    fn.context = context;
    fn.guarded++;
    const body = emitBlockInto(fn, node.body, inner);
    fn.guarded--;
    fn.context = outer;
    const start = inner.to === 'temp' ? `${inner.name} = undefined; ` : '';
    const enter = `const ${block} = R.enterDeadline(${outer}, ${duration}), ${context} = ${block}.context;`;
    const code = `${start}${enter} try { if (I[0] === 0) R.interrupt(${context}); ${body} } finally { ${block}.leave(); }`;
    return `{ ${code} ${inner !== sink && inner.to === 'temp' ? deliver(sink, inner.name) : ''} }`;
  });
}

function emitMutex(fn: FunctionState, body: Block): string {
  const permit = fn.unique('p');
  fn.guarded++;
  const inner = emitBlockInto(fn, body, NOWHERE);
  fn.guarded--;
  return `{ const ${permit} = await R.enterMutex(${fn.context}); try ${inner} finally { R.leaveMutex(${fn.context}, ${permit}); } }`;
}

/** Deferred blocks see the variables as they are when the function leaves: plain JavaScript closures. */
function emitDefer(fn: FunctionState, body: Block): string {
  // It runs when the loops around it have been left and the producer has handed out its last value.
  const loops = fn.loops.splice(0);
  fn.isDeferred = true;
  const code = emitCleanup(fn, body);
  fn.isDeferred = false;
  fn.loops.push(...loops);
  return `defers.push(${fn.isAsync ? 'async ' : ''}() => ${code});`;
}

function emitSelect(fn: FunctionState, node: Extract<Statement, { kind: 'Select' }>, sink: Sink): string {
  return fn.statement(() => {
    const chosen = fn.unique('q');
    const channels = node.cases.map((item) => item.channel);
    const head = emitSelectHead(fn, channels, node.timeout?.duration, node.otherwise !== undefined);
    const cases = node.cases.map((item, index) => {
      const bind = item.variable === '_' ? '' : `const ${fn.module.resolution.declared(item, item.variable).jsName} = ${chosen}.value;`;
      return `if (${chosen}.index === ${index}) { ${bind} ${emitEarly(fn.module, item)}${emitStatements(fn, item.body.statements, sink)} }`;
    });
    const other = node.timeout?.body ?? node.otherwise;
    if (other !== undefined) cases.push(emitBlockInto(fn, other, sink));
    return `{ const ${chosen} = ${head}; ${cases.join(' else ')} }`;
  });
}
