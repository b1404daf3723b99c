import { intArgument, textArgument } from '../arguments.ts';
import { dictSize } from '../dict.ts';
import { display } from '../display.ts';
import { isTruthy } from '../equality.ts';
import { stringify, stringifyPretty } from '../json.ts';
import { joinList } from '../methods/methods-list.ts';
import { rangeLength } from '../ranges.ts';
import { setItems } from '../sets.ts';
import { codePointCount } from '../text.ts';
import { Dict, RangeValue, SetValue, type Value } from '../value.ts';

/** A filter of the template language: `value | name: args`. */
export type TemplateFilter = (input: Value, args: readonly Value[]) => Value;

/** Filters by name (spec/language.md 12.7). They display what they cannot take apart. */
export const TEMPLATE_FILTERS: Readonly<Record<string, TemplateFilter>> = {
  upper: (input) => textArgument(input).toUpperCase(),
  lower: (input) => textArgument(input).toLowerCase(),
  trim: (input) => textArgument(input).trim(),
  capitalize: (input) => capitalize(textArgument(input)),
  title: (input) => textArgument(input).replaceAll(/\S+/g, capitalize),
  length: (input) => length(input),
  first: (input) => itemsOf(input).at(0),
  last: (input) => itemsOf(input).at(-1),
  reverse: (input) => (typeof input === 'string' ? [...input].reverse().join('') : itemsOf(input).toReversed()),
  join: (input, [separator]) => joinList(typeof input === 'string' ? [input] : itemsOf(input), textArgument(separator)),
  default: (input, [fallback]) => (isTemplateTruthy(input) ? input : fallback),
  json: (input, [isPretty]) => (isTruthy(isPretty) ? stringifyPretty(input) : stringify(input)),
  indent: (input, [width, alsoFirst]) => indent(textArgument(input), intArgument(width, 0), isTruthy(alsoFirst)),
  lines: (input) => textArgument(input).split('\n'),
  escape_md: (input) => textArgument(input).replaceAll(/[\\`*_{}[\]()#+\-.!|<>]/g, String.raw`\$&`),
  replace: (input, [from, to]) => textArgument(input).replaceAll(textArgument(from), () => textArgument(to)),
};

/** Truth in templates: as in scripts, and a text of blanks only is false. */
export function isTemplateTruthy(value: Value): boolean {
  return typeof value === 'string' ? value.trim() !== '' : isTruthy(value);
}

function capitalize(text: string): string {
  const [first = '', ...rest] = text;
  return first.toUpperCase() + rest.join('').toLowerCase();
}

/** Elements of a list or set, code points of anything else. */
function itemsOf(value: Value): readonly Value[] {
  if (Array.isArray(value)) return value;
  if (value instanceof SetValue) return setItems(value);
  return value === undefined ? [] : [...display(value)];
}

function length(value: Value): number {
  if (Array.isArray(value)) return value.length;
  if (value instanceof SetValue) return value.items.size;
  if (value instanceof Dict) return dictSize(value);
  return value instanceof RangeValue ? rangeLength(value) : codePointCount(textArgument(value));
}

function indent(text: string, width: number, alsoFirst: boolean): string {
  const margin = ' '.repeat(Math.max(0, width));
  const indented = text.replaceAll('\n', `\n${margin}`);
  return alsoFirst ? margin + indented : indented;
}
