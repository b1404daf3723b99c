import type { Expression, MatchArm } from './ast.ts';
import { any, type FunctionState, type Sink } from './emit-context.ts';
import { emitCondition, emitValue, isEnumName, keep } from './emit-expression.ts';
import { line } from './emit-layout.ts';

/**
 * `match` (spec/language.md 6.4): a labelled block in which each arm tests, binds, looks at its guard and leaves.
 * An arm whose guard fails simply falls to the next one.
 */
export function emitMatchInto(fn: FunctionState, node: Extract<Expression, { kind: 'Match' }>, sink: Sink): string {
  return fn.statement(() => {
    const subject = keep(fn, any(emitValue(fn, node.subject))).code;
    const label = fn.unique('M');
    const arms = node.arms.map((arm) => emitArm(fn, arm, subject, label, sink)).join(' ');
    return `${label}: { ${arms} ${line(node.span.line)}R.noMatch(); }`;
  });
}

function emitArm(fn: FunctionState, arm: MatchArm, subject: string, label: string, sink: Sink): string {
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

function emitPattern(fn: FunctionState, pattern: Expression, subject: string, bindings: string[], isAlternative: boolean): Test {
  const { resolution } = fn.module;
  const bind = (node: Extract<Expression, { kind: 'Identifier' }>, value: string): void => {
    bindings.push(`const ${resolution.declared(node, node.name).jsName} = ${value};`);
  };
  /** A sub-pattern: a name binds, `_` skips, anything else is compared. */
  const part = (node: Expression, value: string, tests: string[]): void => {
    if (node.kind === 'Identifier') {
      if (node.name !== '_') bind(node, value);
    } else {
      tests.push(`R.equals(${value}, ${emitValue(fn, node)})`);
    }
  };
  switch (pattern.kind) {
    case 'Identifier':
      if (pattern.name !== '_' && !isAlternative) bind(pattern, subject);
      return { test: 'true', pre: '' };
    case 'List': {
      const tests = [`Array.isArray(${subject}) && ${subject}.length >= ${pattern.items.length}`];
      pattern.items.forEach((item, index) => {
        if (item.kind !== 'Spread') part(item, `${subject}[${index}]`, tests);
      });
      return { test: tests.join(' && '), pre: '' };
    }
    case 'Dict': {
      const tests = [`${subject} instanceof Dict`];
      for (const entry of pattern.entries) {
        if (entry.kind === 'Entry' && typeof entry.key === 'string')
          part(entry.value, `R.get(${subject}, ${JSON.stringify(entry.key)})`, tests);
      }
      return { test: tests.join(' && '), pre: '' };
    }
    case 'Property':
      if (pattern.receiver.kind === 'Identifier' && isEnumName(fn, pattern.receiver.name))
        return { test: variantTest(subject, pattern.receiver.name, pattern.name), pre: '' };
      break;
    case 'MethodCall':
      if (pattern.receiver.kind === 'Identifier' && isEnumName(fn, pattern.receiver.name)) {
        return payload(pattern.receiver.name, pattern.name, pattern.args);
      }
      break;
    case 'Call':
      if (pattern.callee.name === 'Ok' || pattern.callee.name === 'Err') return payload('Result', pattern.callee.name, pattern.args);
      break;
    case 'Nil':
      return { test: `${subject} === undefined`, pre: '' };
    case 'String':
      return { test: `R.equals(${subject}, ${JSON.stringify(pattern.value)})`, pre: '' };
    default:
      break;
  }
  const outer = fn.pre;
  fn.pre = [];
  const value = emitValue(fn, pattern);
  const pre = fn.pre.join('');
  fn.pre = outer;
  return { test: `R.equals(${subject}, ${value})`, pre };

  function payload(enumName: string, variant: string, args: Extract<Expression, { kind: 'Call' }>['args']): Test {
    const tests = [variantTest(subject, enumName, variant)];
    args.forEach((arg, index) => {
      if (arg.kind !== 'Spread') part(arg, `${subject}.fields[${index}]`, tests);
    });
    return { test: tests.join(' && '), pre: '' };
  }
}

function variantTest(subject: string, enumName: string, variant: string): string {
  return `${subject} instanceof EnumValue && ${subject}.variant === ${JSON.stringify(variant)} && ${subject}.enumName === ${JSON.stringify(enumName)}`;
}
