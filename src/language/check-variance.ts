import type {
  EnumDeclaration,
  FunctionDeclaration,
  InterfaceDeclaration,
  StructDeclaration,
  TypeAlias,
  TypeNode,
  TypeParameter,
} from './ast.ts';
import type { CheckState } from './check-state.ts';

type Generic = FunctionDeclaration | TypeAlias | EnumDeclaration | StructDeclaration | InterfaceDeclaration;

/** Whether a place gives values out, takes them in, or both. */
type Polarity = 'out' | 'in' | 'both';

const KINDS: Readonly<Record<Generic['kind'], string>> = {
  Function: 'function',
  TypeAlias: 'type alias',
  Enum: 'enum',
  Struct: 'struct',
  Interface: 'interface',
};

/** A parameter declared `out` must not be taken in, one declared `in` must not be given out (spec/language.md 8.5). */
export function checkVariance(state: CheckState, node: Generic): void {
  const declared = new Map(node.typeParams.flatMap((param) => (param.variance === undefined ? [] : [[param.name, param] as const])));
  if (declared.size === 0) return;
  const reported = new Set<TypeParameter>();
  const visit = (type: TypeNode | undefined, polarity: Polarity): void => {
    if (type !== undefined)
      walk(state, type, polarity, (name, place) => {
        const param = declared.get(name);
        if (param === undefined || place === 'both' || place === param.variance || reported.has(param)) return;
        reported.add(param);
        state.error(message(param, KINDS[node.kind], node.name), node.span);
      });
  };
  switch (node.kind) {
    case 'Function':
      for (const param of node.params) visit(param.type, 'in');
      return visit(node.returnType, 'out');
    case 'TypeAlias':
      return visit(node.type, 'out');
    case 'Enum':
      for (const variant of node.variants) for (const param of variant.params) visit(param.type, 'out');
      return;
    case 'Struct':
      for (const field of node.fields) visit(field.type, 'out');
      return;
    case 'Interface':
      for (const method of node.methods) {
        for (const param of method.params) visit(param.type, 'in');
        visit(method.returnType, 'out');
      }
  }
}

function message(param: TypeParameter, kind: string, name: string): string {
  const [declared, place] = param.variance === 'out' ? ["'out' (covariant)", 'contravariant'] : ["'in' (contravariant)", 'covariant'];
  return `type parameter '${param.name}' is declared ${declared} but appears in a ${place} position in ${kind} '${name}'`;
}

const FLIPPED: Readonly<Record<Polarity, Polarity>> = { out: 'in', in: 'out', both: 'both' };

function walk(state: CheckState, type: TypeNode, polarity: Polarity, found: (name: string, polarity: Polarity) => void): void {
  const inner = (part: TypeNode, place: Polarity): void => walk(state, part, place, found);
  switch (type.kind) {
    case 'NamedType': {
      found(type.name, polarity);
      const variances = argumentVariances(state, type.name);
      for (const [index, arg] of type.args.entries()) {
        const variance = variances === 'covariant' ? 'out' : variances[index];
        inner(arg, variance === 'out' ? polarity : variance === 'in' ? FLIPPED[polarity] : 'both');
      }
      return;
    }
    case 'ShapeType':
      for (const field of type.fields) inner(field.type, polarity);
      return;
    case 'FunctionType':
      for (const param of type.params) inner(param, FLIPPED[polarity]);
      return inner(type.result, polarity);
    case 'UnionType':
    case 'IntersectionType':
      for (const member of type.members) inner(member, polarity);
      return;
    case 'LiteralType':
      return;
  }
}

const COVARIANT: ReadonlySet<string> = new Set([
  'iter',
  'Iter',
  'generator',
  'Generator',
  'stream',
  'Stream',
  'Schema',
  'pair',
  'Pair',
  'Result',
]);

function argumentVariances(state: CheckState, name: string): 'covariant' | readonly ('in' | 'out' | undefined)[] {
  const meaning = state.scope.type(name);
  if (meaning?.kind === 'declared') return meaning.node.typeParams.map(({ variance }) => variance);
  return COVARIANT.has(name) ? 'covariant' : [];
}
