import type { Expression, MatchArm } from './ast.ts';
import { any, type FunctionState, keep, type Sink } from './emit-context.ts';
import { emitCondition, emitExpression, emitValue, isEnumName } from './emit-expression.ts';
import { line, place } from './emit-layout.ts';
import { emitOperation } from './emit-operator.ts';

/**
 * `match` (spec/language.md 6.4): a labelled block in which each arm tests, binds, looks at its guard and leaves.
 * An arm whose guard fails simply falls to the next one.
 */
export function emitMatchInto(fn: FunctionState, node: Extract<Expression, { kind: 'Match' }>, sink: Sink): string {
  return fn.statement(() => {
    const code = keep(fn, any(emitValue(fn, node.subject))).code;
    const subject: Subject = { code, variants: keepVariants(fn, code, node.arms) };
    const label = fn.unique('M');
    const arms = node.arms.map((arm) => emitArm(fn, arm, subject, label, sink)).join(' ');
    return `${label}: { ${arms} ${line(node.span.line)}${place(node.subject.span)}R.noMatch(); }`;
  });
}

interface Subject {
  /** The temporary that holds it. */
  readonly code: string;
  /** For enums that several arms ask about: the temporary that holds its variant, undefined for any other value. */
  readonly variants: ReadonlyMap<string, string>;
}

/** With several arms on one enum, what kind of value the subject is gets looked up once. */
function keepVariants(fn: FunctionState, subject: string, arms: readonly MatchArm[]): Map<string, string> {
  const counts = new Map<string, number>();
  for (const pattern of arms.flatMap((arm) => arm.patterns)) {
    const name = enumOf(fn, pattern);
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const variants = new Map<string, string>();
  for (const [name, count] of counts) {
    if (count < 2) continue;
    const isOfEnum = `${subject} instanceof EnumValue && ${subject}.enumName === ${JSON.stringify(name)}`;
    variants.set(name, keep(fn, any(`${isOfEnum} ? ${subject}.variant : undefined`)).code);
  }
  return variants;
}

/** The enum that a pattern names. */
function enumOf(fn: FunctionState, pattern: Expression): string | undefined {
  if (pattern.kind === 'Call') return isResult(pattern.callee.name) ? 'Result' : undefined;
  if (pattern.kind !== 'Property' && pattern.kind !== 'MethodCall') return undefined;
  const { receiver } = pattern;
  return receiver.kind === 'Identifier' && isEnumName(fn, receiver.name) ? receiver.name : undefined;
}

function isResult(callee: string): boolean {
  return callee === 'Ok' || callee === 'Err';
}

function emitArm(fn: FunctionState, arm: MatchArm, subject: Subject, label: string, sink: Sink): string {
  const bindings: string[] = [];
  const tests = arm.patterns.map((pattern) => emitPattern(fn, pattern, subject, bindings, arm.patterns.length > 1));
  const test = tests.map(({ test }) => test).join(' || ');
  const before = tests.map(({ pre }) => pre).join('');
  const body = `${fn.module.parts.blockInto(fn, arm.body, sink)} break ${label};`;
  const { guard } = arm;
  const guarded = guard === undefined ? body : fn.statement(() => `if (${emitCondition(fn, guard)}) { ${body} }`);
  return `${before}if (${test}) { ${bindings.join('')} ${guarded} }`;
}

interface Test {
  readonly test: string;
  /** Statements that compute what the test compares with. */
  readonly pre: string;
}

function emitPattern(fn: FunctionState, pattern: Expression, subject: Subject, bindings: string[], isAlternative: boolean): Test {
  const { resolution } = fn.module;
  const { code: value } = subject;
  const bind = (node: Extract<Expression, { kind: 'Identifier' }>, item: string): void => {
    bindings.push(`const ${resolution.declared(node, node.name).jsName} = ${item};`);
  };
  const equal = (item: string, node: Expression): string => emitOperation(fn, '==', any(item), emitExpression(fn, node), node).code;
  /** A sub-pattern: a name binds, `_` skips, anything else is compared. */
  const part = (node: Expression, item: string, tests: string[]): void => {
    if (node.kind !== 'Identifier') tests.push(equal(item, node));
    else if (node.name !== '_') bind(node, item);
  };
  const payload = (enumName: string, variant: string, args: Extract<Expression, { kind: 'Call' }>['args']): Test => {
    const tests = [variantTest(subject, enumName, variant)];
    args.forEach((arg, index) => {
      if (arg.kind !== 'Spread') part(arg, index < 3 ? `${value}.f${index}` : `${value}.fields[${index}]`, tests);
    });
    return { test: tests.join(' && '), pre: '' };
  };
  const enumName = enumOf(fn, pattern);
  switch (pattern.kind) {
    case 'Identifier':
      if (pattern.name !== '_' && !isAlternative) bind(pattern, value);
      return { test: 'true', pre: '' };
    case 'List': {
      const tests = [`Array.isArray(${value}) && ${value}.length >= ${pattern.items.length}`];
      pattern.items.forEach((item, index) => {
        if (item.kind !== 'Spread') part(item, `${value}[${index}]`, tests);
      });
      return { test: tests.join(' && '), pre: '' };
    }
    case 'Dict': {
      const tests = [`${value} instanceof Dict`];
      for (const entry of pattern.entries) {
        if (entry.kind === 'Entry' && typeof entry.key === 'string')
          part(entry.value, `R.get(${value}, ${JSON.stringify(entry.key)})`, tests);
      }
      return { test: tests.join(' && '), pre: '' };
    }
    case 'Property':
      if (enumName !== undefined) return { test: variantTest(subject, enumName, pattern.name), pre: '' };
      break;
    case 'MethodCall':
      if (enumName !== undefined) return payload(enumName, pattern.name, pattern.args);
      break;
    case 'Call':
      if (enumName !== undefined) return payload(enumName, pattern.callee.name, pattern.args);
      break;
    default:
      break;
  }
  const outer = fn.pre;
  fn.pre = [];
  const test = equal(value, pattern);
  const pre = fn.pre.join('');
  fn.pre = outer;
  return { test, pre };
}

function variantTest({ code, variants }: Subject, enumName: string, variant: string): string {
  const known = variants.get(enumName);
  if (known !== undefined) return `${known} === ${JSON.stringify(variant)}`;
  return `${code} instanceof EnumValue && ${code}.variant === ${JSON.stringify(variant)} && ${code}.enumName === ${JSON.stringify(enumName)}`;
}
