import { nearestName } from '../base/near-name.ts';
import type { Element, Expression } from './ast.ts';
import { CHECKER_CODES } from './check-codes.ts';
import type { Signature } from './check-signature.ts';
import type { CheckState } from './check-state.ts';
import { ANY, kindOf, membersOf, renderType, type ShapeField, type Type, withoutNil } from './types.ts';
import { isAssignable } from './types-assignability.ts';

/**
 * Options of builtins. A signature names the shape of a dict of options beside `dict`, which takes every other value; a dict
 * that is written at the call is compared with that shape entry by entry: what would end a run of hours is said before it
 * begins. It is said and not refused, because the builtin refuses it with an error that a script may catch.
 */

type DictNode = Extract<Expression, { kind: 'Dict' }>;
type ShapeType = Extract<Type, { kind: 'shape' }>;

/** A field of this name says that the shape lists not all names: of others only a near miss is doubted. */
const MORE = '_more';

/** @param given types of the arguments */
export function checkOptions(state: CheckState, signature: Signature, args: readonly Element[], given: readonly Type[]): void {
  const spreadAt = args.findIndex(({ kind }) => kind === 'Spread');
  for (const [index, param] of signature.params.entries()) {
    const shape = shapeIn(param.meant ?? param.type);
    if (shape === undefined || (spreadAt !== -1 && spreadAt <= index)) continue;
    doubtPlace(state, signature, index, args);
    const dict = args[index];
    if (dict?.kind === 'Dict') checkEntries(state, signature.name, dict, shape, given[index] ?? ANY);
  }
}

function shapeIn(type: Type): ShapeType | undefined {
  return membersOf(type).find((member) => member.kind === 'shape');
}

const ORDINALS = ['first', 'second', 'third', 'fourth'];

/** `agent_loop(prompt, {…})`: the dict would become the system prompt. */
function doubtPlace(state: CheckState, { name, params }: Signature, index: number, args: readonly Element[]): void {
  const misplaced = args[index - 1];
  if (params[index - 1]?.name !== 'system' || args.length !== index || misplaced?.kind !== 'Dict' || misplaced.entries.length === 0) return;
  const before = params.slice(0, index - 1).map((param) => param.name);
  const help = `the ${ORDINALS[index - 1]} argument is the system prompt: \`${name}(${[...before, 'nil', '{…}'].join(', ')})\``;
  const message = `the options of ${name} are its ${ORDINALS[index]} argument`;
  state.warn(message, misplaced.span, { code: CHECKER_CODES.unknownOption.code, help });
}

/** `place` says of which option this is a part, as `policy.`. */
function checkEntries(state: CheckState, builtin: string, dict: DictNode, shape: ShapeType, given: Type, place = ''): void {
  const names = shape.fields.map(({ name }) => name).filter((name) => name !== MORE);
  const isComplete = names.length === shape.fields.length;
  const isOfService = dict.entries.some((entry) => entry.kind !== 'Spread' && entry.key === 'provider');
  for (const entry of dict.entries) {
    if (entry.kind === 'Spread' || typeof entry.key !== 'string') continue;
    const { key } = entry;
    const field = shape.fields.find(({ name }) => name === key);
    if (field !== undefined) {
      checkValue(state, builtin, field, entry.value, fieldType(given, key), entry.span, place);
      continue;
    }
    // The name of a service stands for what is merged into its requests.
    if (entry.value.kind === 'Dict' && isOfService) continue;
    const near = nearestName(key, names);
    if (near === undefined && !isComplete) continue;
    const help = near === undefined ? 'it means nothing here; leave it out' : `did you mean \`${near}\`?`;
    state.warn(`${builtin} has no option '${place}${key}'`, entry.span, { code: CHECKER_CODES.unknownOption.code, help });
  }
}

function fieldType(type: Type, name: string): Type {
  return type.kind === 'shape' ? (type.fields.find((field) => field.name === name)?.type ?? ANY) : ANY;
}

function checkValue(
  state: CheckState,
  builtin: string,
  field: ShapeField,
  value: Expression,
  given: Type,
  span: Expression['span'],
  place: string,
): void {
  const shape = shapeIn(field.type);
  if (shape !== undefined && value.kind === 'Dict') return checkEntries(state, builtin, value, shape, given, `${place}${field.name}.`);
  const words = membersOf(field.type).flatMap((member) =>
    member.kind === 'literal' && typeof member.value === 'string' ? [member.value] : [],
  );
  const subject = `option '${place}${field.name}' of ${builtin} should be ${rendered(field.type)}`;
  if (value.kind === 'String' && words.length > 0 && words.length === membersOf(field.type).length && !words.includes(value.value)) {
    const near = nearestName(value.value, words);
    const help = near === undefined ? undefined : `did you mean \`"${near}"\`?`;
    return state.warn(`${subject}, got ${JSON.stringify(value.value)}`, span, { code: CHECKER_CODES.unknownOption.code, help });
  }
  if (!isFit(given, field.type)) state.warn(`${subject}, got ${renderType(given)}`, value.span, { code: CHECKER_CODES.unknownOption.code });
}

const NUMBERS: ReadonlySet<string> = new Set(['int', 'float', 'duration']);

/** Passing nil is leaving an option out; a number may be written in any way. */
function isFit(given: Type, wanted: Type): boolean {
  const members = membersOf(withoutNil(given));
  if (members.length === 0 || mentionsParameter(wanted)) return true;
  const takesNumber = membersOf(wanted).some((member) => NUMBERS.has(kindOf(member) ?? ''));
  return members.some((member) => isAssignable(member, wanted) || (takesNumber && NUMBERS.has(kindOf(member) ?? '')));
}

/** Which schema a generic option holds is no matter of kinds. */
function mentionsParameter(type: Type): boolean {
  return membersOf(type).some((member) => member.kind === 'generic' && member.name === 'Schema');
}

/** A shape with all its fields would hide what is wanted. */
export function rendered(type: Type): string {
  return [...new Set(membersOf(type).map((member) => (member.kind === 'shape' ? 'dict' : renderType(member))))].join(' | ');
}
