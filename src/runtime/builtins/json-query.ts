import { textArgument } from '../arguments.ts';
import type { BuiltinGroup } from '../builtin.ts';
import { dictGet } from '../dict.ts';
import { thrownText } from '../errors.ts';
import { runJq } from '../formats/jq.ts';
import { extractJson } from '../formats/json-extract.ts';
import { pointerDelete, pointerGet, pointerSet, pointerTokens } from '../formats/json-pointer.ts';
import { Dict, typeOf, type Value } from '../value.ts';

function extract(text: Value, key: Value): Value {
  const found = extractJson(textArgument(text));
  if (key === undefined) return found;
  if (!(found instanceof Dict)) throw thrownText(`json_extract: expected an object, got ${typeOf(found)}`);
  return dictGet(found, textArgument(key));
}

/** Questions to JSON values (spec/language.md 12.11). */
export const JSON_QUERY: BuiltinGroup = {
  name: 'json-query',
  title: 'JSON queries',
  errors: [
    { text: 'json_extract: failed to parse JSON', when: 'no JSON in the text' },
    { text: 'json_extract: expected an object, got T', when: 'a key was given, but the value is no dict' },
    { text: 'json_pointer_set: nothing at P', when: 'the parent does not exist' },
    { text: 'jq: …', when: 'the program cannot be read, or meets a value that it cannot work on' },
  ],
  builtins: {
    json_extract: {
      signature: '(text: any, key: any = nil) -> any',
      doc: 'The first JSON value in a text, without code fences and prose around it; with a key, that entry of it.',
      call: (_c, _d, text, key) => extract(text, key),
    },
    json_pointer: {
      signature: '(value: any, pointer: any) -> any',
      doc: 'What is at a JSON pointer such as `/users/0/name`; nil when nothing is.',
      call: (_c, _d, value, pointer) => pointerGet(value, pointerTokens('json_pointer', textArgument(pointer))),
    },
    json_pointer_set: {
      signature: '(value: any, pointer: any, replacement: any) -> any',
      doc: 'A copy with another value at the pointer, whose parent must exist. `-` appends to a list.',
      call: (_c, _d, value, pointer, replacement) =>
        pointerSet(value, pointerTokens('json_pointer_set', textArgument(pointer)), replacement),
    },
    json_pointer_delete: {
      signature: '(value: any, pointer: any) -> any',
      doc: 'A copy without what is at the pointer.',
      call: (_c, _d, value, pointer) => pointerDelete(value, pointerTokens('json_pointer_delete', textArgument(pointer))),
    },
    jq: {
      signature: '(value: any, program: any) -> list',
      doc: 'Everything that a jq program emits. A subset: paths, iteration, slices, pipes, commas, comparisons, objects, `select`, `map` and the like.',
      call: (_c, _d, value, program) => runJq(value, textArgument(program, '.')),
    },
    jq_first: {
      signature: '(value: any, program: any) -> any',
      doc: 'The first value that a jq program emits, nil when there is none.',
      call: (_c, _d, value, program) => runJq(value, textArgument(program, '.'))[0],
    },
  },
};
