import { settle } from '../call.ts';
import type { Context } from '../context.ts';
import { dictGet } from '../dict.ts';
import { typeError } from '../errors.ts';
import { iterOf } from '../iterate.ts';
import type { MaybeAsync } from '../maybe-async.ts';
import { CALL, Dict, Iter, isCallable, Producer, RangeValue, SetValue, textOf, type Value } from '../value.ts';
import { ITER_METHODS, PRODUCER_METHODS } from './iterate-methods.ts';
import { DICT_METHODS } from './methods-dict.ts';
import { LIST_METHODS } from './methods-list.ts';
import { RANGE_METHODS } from './methods-range.ts';
import { SET_METHODS } from './methods-set.ts';
import { STRING_METHODS } from './methods-string.ts';

/** A method of a built-in kind. Missing arguments are undefined. */
export type Method<T> = (context: Context, depth: number, receiver: T, args: readonly Value[]) => MaybeAsync<Value>;
export type MethodTable<T> = Readonly<Record<string, Method<T>>>;

/** A handle with methods of its own (the harness): an unknown one is an error, never nil. */
interface WithMethods {
  callMethod(context: Context, depth: number, name: string, args: readonly Value[]): MaybeAsync<Value>;
}

/**
 * `receiver.name(args)` on any kind but a struct (spec/language.md chapter 7). A method that the kind does not have
 * answers nil.
 */
export function callMethod(context: Context, depth: number, receiver: Value, name: string, args: readonly Value[]): MaybeAsync<Value> {
  if (typeof receiver === 'string') return own(STRING_METHODS, name)?.(context, depth, receiver, args);
  if (typeof receiver !== 'object') return undefined;
  if (Array.isArray(receiver)) return own(LIST_METHODS, name)?.(context, depth, receiver, args);
  if (receiver instanceof Dict) return callOnDict(context, depth, receiver, name, args);
  if (receiver instanceof SetValue) return own(SET_METHODS, name)?.(context, depth, receiver, args);
  if (receiver instanceof RangeValue) return callOnRange(context, depth, receiver, name, args);
  if (receiver instanceof Iter) return own(ITER_METHODS, name)?.(context, depth, receiver, args);
  if (receiver instanceof Producer) return own(PRODUCER_METHODS, name)?.(context, depth, receiver, args);
  if (hasMethods(receiver)) return receiver.callMethod(context, depth, name, args);
  return undefined;
}

/** Tables are plain objects: `constructor` and the like are not methods. */
function own<T>(table: MethodTable<T>, name: string): Method<T> | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

function callOnDict(context: Context, depth: number, receiver: Dict, name: string, args: readonly Value[]): MaybeAsync<Value> {
  const method = own(DICT_METHODS, name);
  if (method !== undefined) return method(context, depth, receiver, args);
  const entry = dictGet(receiver, name);
  if (isCallable(entry)) return settle(context, depth, entry(context, depth + CALL, ...args));
  const text = textOf(receiver);
  return text === undefined ? undefined : own(STRING_METHODS, name)?.(context, depth, text, args);
}

/** A range has a few methods of its own; any other works on a lazy iterator over it. */
function callOnRange(context: Context, depth: number, receiver: RangeValue, name: string, args: readonly Value[]): MaybeAsync<Value> {
  const method = own(RANGE_METHODS, name);
  if (method !== undefined) return method(context, depth, receiver, args);
  return own(ITER_METHODS, name)?.(context, depth, iterOf(receiver), args);
}

function hasMethods(value: object): value is WithMethods {
  return typeof (value as Partial<WithMethods>).callMethod === 'function';
}

/** The error of a handle that has no such method. */
export function unknownMethod(kind: string, name: string): Error {
  return typeError(`value of type ${kind} has no method \`${name}\``);
}
