import { textArgument } from '../arguments.ts';
import type { Builtin, BuiltinGroup } from '../builtin.ts';
import { CASES, lowercaseFirst, uppercaseFirst, wordsOf } from '../case-words.ts';
import { dictGet, dictHas } from '../dict.ts';
import { display } from '../display.ts';
import { Dict, type Value } from '../value.ts';

/** `{}` takes the values in order; with a dict `{name}` takes its entries. What has no value stays as it is. */
function format(template: string, values: readonly Value[]): string {
  const [named] = values;
  let next = 0;
  return template.replaceAll(/\{([^{}]*)\}/g, (placeholder, name: string) => {
    if (name === '') return next < values.length ? display(values[next++]) : placeholder;
    return named instanceof Dict && dictHas(named, name) ? display(dictGet(named, name)) : placeholder;
  });
}

function conversion(doc: string, convert: (text: string) => string): Builtin {
  return { signature: '(value: any) -> string', doc, call: (_c, _d, value) => convert(textArgument(value)) };
}

function caseConversion(to: keyof typeof CASES): Builtin {
  return conversion(`The identifier in ${to} case.`, (text) => CASES[to](wordsOf(text)));
}

/** Formatting and the case of identifiers (spec/language.md 12.11). */
export const TEXT: BuiltinGroup = {
  name: 'text',
  title: 'Formatting and case',
  builtins: {
    format: {
      signature: '(template: any, ...values: any) -> string',
      doc: 'Fills `{}` with the values in order, and `{name}` from a dict.',
      call: (_c, _d, template, ...values) => format(textArgument(template), values),
    },
    snake_to_camel: caseConversion('camel'),
    snake_to_pascal: caseConversion('pascal'),
    snake_to_kebab: caseConversion('kebab'),
    kebab_to_snake: caseConversion('snake'),
    kebab_to_camel: caseConversion('camel'),
    camel_to_snake: caseConversion('snake'),
    camel_to_kebab: caseConversion('kebab'),
    camel_to_pascal: caseConversion('pascal'),
    pascal_to_snake: caseConversion('snake'),
    pascal_to_camel: caseConversion('camel'),
    title_case: conversion('With the first letter of each word in upper case.', (text) => text.replaceAll(/\S+/gu, uppercaseFirst)),
    uppercase_first: conversion('With the first letter in upper case.', uppercaseFirst),
    lowercase_first: conversion('With the first letter in lower case.', lowercaseFirst),
  },
};
