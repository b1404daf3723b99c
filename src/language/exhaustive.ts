import type { Expression, MatchArm } from './ast.ts';
import { isNil, kindOf, membersOf, renderType, type Type } from './types.ts';

/**
 * Which cases the arms of a match leave out (spec/language.md 8.6). Only closed subjects are judged: enums, literal
 * unions, tagged unions of shapes and unions of base types. Arms with a guard cover nothing.
 *
 * @param subject the value of the expression after `match`
 * @param receiver for `x.tag`, the type of `x`
 */
export function missingCases(node: Expression, subject: Type, receiver: Type | undefined, arms: readonly MatchArm[]): string | undefined {
  const patterns = arms.filter((arm) => arm.guard === undefined).flatMap((arm) => arm.patterns);
  if (patterns.some(({ kind }) => kind === 'Identifier')) return undefined;
  if (subject.kind === 'enum') return missingVariants(subject, coveredVariants(patterns));
  if (node.kind === 'Property' && node.name === 'variant' && receiver?.kind === 'enum') {
    return missingVariants(receiver, literals(patterns));
  }
  if (node.kind === 'Property' && receiver?.kind === 'union') {
    const tags = receiver.members.map((member) => tagOf(member, node.name));
    return missingTags(tags, literals(patterns));
  }
  if (subject.kind !== 'union') return undefined;
  const tag = commonTag(subject.members);
  if (tag !== undefined) return missingShapes(subject.members, tag, patterns);
  if (subject.members.every(({ kind }) => kind === 'literal')) {
    const covered = literals(patterns);
    const missing = subject.members.filter((member) => member.kind === 'literal' && !covered.has(member.value));
    return report('literal union: missing', missing.map(renderType));
  }
  return missingKinds(subject.members, patterns);
}

function report(what: string, missing: readonly string[]): string | undefined {
  return missing.length === 0 ? undefined : `Non-exhaustive match on ${what} ${missing.join(', ')}`;
}

function quoted(text: string | bigint): string {
  return typeof text === 'string' ? JSON.stringify(text) : String(text);
}

function literals(patterns: readonly Expression[]): ReadonlySet<string | bigint> {
  const values = new Set<string | bigint>();
  for (const pattern of patterns) {
    const value = literalOf(pattern);
    if (value !== undefined) values.add(value);
  }
  return values;
}

function literalOf(pattern: Expression): string | bigint | undefined {
  if (pattern.kind === 'String' || pattern.kind === 'Int') return pattern.value;
  return pattern.kind === 'Unary' && pattern.operator === '-' && pattern.operand.kind === 'Int' ? -pattern.operand.value : undefined;
}

function coveredVariants(patterns: readonly Expression[]): ReadonlySet<string | bigint> {
  return new Set(patterns.flatMap((pattern) => (pattern.kind === 'Property' || pattern.kind === 'MethodCall' ? [pattern.name] : [])));
}

function missingVariants(type: Extract<Type, { kind: 'enum' }>, covered: ReadonlySet<string | bigint>): string | undefined {
  const { node } = type.declaration;
  const missing = node.variants.filter(({ name }) => !covered.has(name)).map(({ name }) => quoted(name));
  return report(`enum ${node.name}: missing variants`, missing);
}

/** The literal that a shape has in this field; undefined when it has none. */
function tagOf(member: Type, field: string): string | bigint | undefined {
  const found = member.kind === 'shape' ? member.fields.find(({ name, isOptional }) => name === field && !isOptional) : undefined;
  return found?.type.kind === 'literal' ? found.type.value : undefined;
}

function missingTags(tags: readonly (string | bigint | undefined)[], covered: ReadonlySet<string | bigint>): string | undefined {
  const known = tags.filter((tag) => tag !== undefined);
  if (known.length < tags.length) return undefined;
  const missing = [...new Set(known)].filter((tag) => !covered.has(tag));
  return report('tagged shape union: missing variants', missing.map(quoted));
}

/** The first field that holds a literal of its own in every member. */
function commonTag(members: readonly Type[]): string | undefined {
  const [first] = members;
  if (first?.kind !== 'shape') return undefined;
  return first.fields.find(({ name }) => {
    const tags = members.map((member) => tagOf(member, name));
    return tags.every((tag) => tag !== undefined) && new Set(tags).size === tags.length;
  })?.name;
}

function missingShapes(members: readonly Type[], tag: string, patterns: readonly Expression[]): string | undefined {
  const covered = new Set<string | bigint>();
  for (const pattern of patterns) {
    if (pattern.kind !== 'Dict') return undefined;
    const entry = pattern.entries.find((candidate) => candidate.kind === 'Entry' && candidate.key === tag);
    const value = entry && literalOf(entry.value);
    // A pattern that leaves the tag open may match any member.
    if (value === undefined) return undefined;
    covered.add(value);
  }
  return missingTags(
    members.map((member) => tagOf(member, tag)),
    covered,
  );
}

const BASES: ReadonlySet<string> = new Set(['int', 'float', 'string', 'bool', 'nil']);

/** A literal of a kind counts as an arm for that kind: which values it leaves out cannot be listed. */
function missingKinds(members: readonly Type[], patterns: readonly Expression[]): string | undefined {
  if (!members.every((member) => BASES.has(kindOf(member) ?? ''))) return undefined;
  const kinds = new Set(patterns.map(patternKind));
  if (kinds.has(undefined)) return undefined;
  const missing = members.filter((member) => (isNil(member) ? !kinds.has('nil') : !kinds.has(kindOf(member))));
  return report('union type: missing', missing.flatMap(membersOf).map(renderType));
}

/** The kind of value that a literal pattern matches; undefined for any other pattern. */
export function patternKind(pattern: Expression): string | undefined {
  switch (pattern.kind) {
    case 'Int':
      return 'int';
    case 'Float':
      return 'float';
    case 'String':
      return 'string';
    case 'Bool':
      return 'bool';
    case 'Nil':
      return 'nil';
    case 'Unary':
      return pattern.operator === '-' ? patternKind(pattern.operand) : undefined;
    default:
      return undefined;
  }
}
