import { EnumValue, enumValue, type Value } from './value.ts';

/** `Ok(value)`. */
export function okResult(value: Value): EnumValue {
  return enumValue('Result', 'Ok', [value]);
}

/** `Err(value)`. */
export function errResult(value: Value): EnumValue {
  return enumValue('Result', 'Err', [value]);
}

export function isErr(value: Value): boolean {
  return value instanceof EnumValue && value.enumName === 'Result' && value.variant === 'Err';
}

/** The payload of a Result, any other value as it is. */
export function payloadOf(value: Value): Value {
  return value instanceof EnumValue && value.enumName === 'Result' ? value.fields[0] : value;
}
