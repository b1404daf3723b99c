import type { Expression } from './ast.ts';
import { boxed, type Code, type FunctionState } from './emit-context.ts';
import { emitOperands, emitValue } from './emit-expression.ts';
import { emitTaskBody } from './emit-function.ts';
import { line } from './emit-layout.ts';

/** `parallel` in its four forms; the run-time part is runtime/concurrency/tasks.ts. */
export function emitParallel(fn: FunctionState, node: Extract<Expression, { kind: 'Parallel' }>): string {
  const operands = node.maxConcurrent === undefined ? [node.operand] : [node.operand, node.maxConcurrent];
  const [operand, limit] = emitOperands(fn, operands) as [Code, Code | undefined];
  const params = node.variable === undefined ? [] : [fn.module.resolution.declared(node, node.variable)];
  const body = emitTaskBody(fn, node, node.body, params);
  fn.makesCalls = true;
  const form = node.asStream
    ? 'parallelStream'
    : node.form === 'count'
      ? 'parallelCount'
      : node.form === 'each'
        ? 'parallelEach'
        : 'parallelSettle';
  const call = `${line(node.span.line)}R.${form}(${fn.context}, d, ${boxed(operand)}, ${limit === undefined ? 'undefined' : boxed(limit)}, ${body})`;
  return node.asStream ? call : `(await ${call})`;
}

export function emitSpawn(fn: FunctionState, node: Extract<Expression, { kind: 'Spawn' }>): string {
  fn.makesCalls = true;
  return `R.spawnTask(${fn.context}, d, ${emitTaskBody(fn, node, node.body, [])})`;
}

/** Channels of a `select`, and what it waits for besides. */
export function emitSelectHead(
  fn: FunctionState,
  channels: readonly Expression[],
  timeout: Expression | undefined,
  hasDefault: boolean,
): string {
  const codes = emitOperands(fn, channels).map(boxed);
  const duration = timeout === undefined ? 'undefined' : emitValue(fn, timeout);
  return `await R.selectCases(${fn.context}, [${codes.join(', ')}], ${duration}, ${hasDefault})`;
}
