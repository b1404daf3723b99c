import type { Element, Expression } from './ast.ts';

const PARAMETER = '__pipe';

/**
 * Reads the placeholder of `v |> f(_, x)` (spec/language.md 3.6): when `_` stands among call arguments, receivers,
 * operands, list elements, property or subscript parts, the right side becomes the closure `{ __pipe -> … }`.
 * Closures, dicts, interpolated strings and ternaries are left alone.
 *
 * @returns the closure, or undefined when there is no placeholder
 */
export function replacePlaceholder(right: Expression): Expression | undefined {
  const body = replace(right);
  if (body === right) return undefined;
  const { span } = right;
  return {
    kind: 'Closure',
    params: [{ name: PARAMETER, nameSpan: span, type: undefined, defaultValue: undefined, isRest: false, span }],
    returnType: undefined,
    body: { kind: 'Block', statements: [{ kind: 'ExpressionStatement', expression: body, span }], span },
    form: 'brace',
    span,
  };
}

/** The same node when nothing in it was replaced. */
function replace(node: Expression): Expression {
  switch (node.kind) {
    case 'Identifier':
      return node.name === '_' ? { ...node, name: PARAMETER } : node;
    case 'Call': {
      const args = replaceAll(node.args);
      return args === node.args ? node : { ...node, args };
    }
    case 'MethodCall': {
      const receiver = replace(node.receiver);
      const args = replaceAll(node.args);
      return receiver === node.receiver && args === node.args ? node : { ...node, receiver, args };
    }
    case 'Binary': {
      const left = replace(node.left);
      const right = replace(node.right);
      return left === node.left && right === node.right ? node : { ...node, left, right };
    }
    case 'Unary': {
      const operand = replace(node.operand);
      return operand === node.operand ? node : { ...node, operand };
    }
    case 'List': {
      const items = replaceAll(node.items);
      return items === node.items ? node : { ...node, items };
    }
    case 'Property': {
      const receiver = replace(node.receiver);
      return receiver === node.receiver ? node : { ...node, receiver };
    }
    case 'Subscript': {
      const receiver = replace(node.receiver);
      const index = replace(node.index);
      return receiver === node.receiver && index === node.index ? node : { ...node, receiver, index };
    }
    case 'Slice': {
      const receiver = replace(node.receiver);
      const start = node.start && replace(node.start);
      const end = node.end && replace(node.end);
      return receiver === node.receiver && start === node.start && end === node.end ? node : { ...node, receiver, start, end };
    }
    default:
      return node;
  }
}

function replaceAll(elements: readonly Element[]): readonly Element[] {
  const replaced = elements.map((element): Element => {
    if (element.kind !== 'Spread') return replace(element);
    const value = replace(element.value);
    return value === element.value ? element : { ...element, value };
  });
  return replaced.every((element, index) => element === elements[index]) ? elements : replaced;
}
