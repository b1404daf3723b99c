import type { Bound, TypeNode, TypeParameter } from './ast.ts';
import { joined, type Layout } from './layout.ts';
import { printList } from './print-row.ts';
import type { PrintSource } from './print-source.ts';

/** A type as it was written: `[T]` stays `[T]` and `T?` stays `T?`, though the tree holds what they stand for. */
export function printType(source: PrintSource, node: TypeNode): Layout {
  switch (node.kind) {
    case 'NamedType':
      return printNamed(source, node);
    case 'LiteralType':
      return source.slice(node.span);
    case 'ShapeType':
      return printList(source, {
        open: '{',
        close: '}',
        from: node.span.start + 1,
        to: node.span.end - 1,
        items: node.fields.map((field) => ({
          span: field.span,
          print: () => [source.tokenText(field.span.start), field.isOptional ? '?' : '', ': ', printType(source, field.type)],
        })),
      });
    case 'FunctionType':
      return ['fn(', joined(printAll(source, node.params), ', '), ') -> ', printType(source, node.result)];
    case 'UnionType': {
      const [first, second] = node.members;
      if (first !== undefined && second?.span === node.span) return [printType(source, first), '?'];
      return joined(printAll(source, node.members), ' | ');
    }
    case 'IntersectionType':
      return joined(printAll(source, node.members), ' & ');
  }
}

function printNamed(source: PrintSource, node: Extract<TypeNode, { kind: 'NamedType' }>): Layout {
  const args = joined(printAll(source, node.args), ', ');
  if (source.text[node.span.start] === '[') return ['[', args, ']'];
  return node.args.length === 0 ? source.slice(node.span) : [node.name, '<', args, '>'];
}

export function printTypeArgs(source: PrintSource, args: readonly TypeNode[]): Layout {
  return args.length === 0 ? '' : ['<', joined(printAll(source, args), ', '), '>'];
}

function printAll(source: PrintSource, nodes: readonly TypeNode[]): Layout[] {
  return nodes.map((node) => printType(source, node));
}

export function printTypeParams(params: readonly TypeParameter[]): Layout {
  if (params.length === 0) return '';
  return `<${params.map(({ name, variance }) => (variance === undefined ? name : `${variance} ${name}`)).join(', ')}>`;
}

export function printBounds(source: PrintSource, bounds: readonly Bound[]): Layout {
  if (bounds.length === 0) return '';
  const one = ({ parameter, interfaces }: Bound): Layout => [parameter, ': ', joined(printAll(source, interfaces), ' + ')];
  return [' where ', joined(bounds.map(one), ', ')];
}
