import { dictEntries, dictGet, dictHas, dictOf } from '../dict.ts';
import { display } from '../display.ts';
import { compareValues, equals } from '../equality.ts';
import { thrownText } from '../errors.ts';
import { rangeLength } from '../ranges.ts';
import { setItems } from '../sets.ts';
import { Dict, EnumValue, Pair, RangeValue, SetValue, StructValue, type Value } from '../value.ts';
import { isTemplateTruthy, TEMPLATE_FILTERS } from './template-filters.ts';
import { parseTemplate } from './template-parser.ts';
import { type BinaryOperator, type Expression, type ForNode, type IncludeNode, TemplateFault, type TemplateNode } from './template-tree.ts';

/** How templates find the files they include. */
export interface TemplateFiles {
  /** Absolute path of a file named in a template or a call; `directory` is that of the file which names it. */
  resolve(path: string, directory: string): string;
  read(absolutePath: string): string;
  directoryOf(absolutePath: string): string;
}

export interface TemplateSource {
  /** As shown in messages; empty for a template from a string. */
  readonly name: string;
  readonly text: string;
  /** Includes start here. */
  readonly directory: string;
  /** Absolute path; undefined for a template from a string. */
  readonly path?: string;
}

const MAX_INCLUDES = 32;

/**
 * Fills in a template (spec/language.md 12.7).
 *
 * @throws the string `NAME at LINE:COLUMN: MESSAGE`, without NAME for a template from a string
 */
export function renderTemplate(source: TemplateSource, bindings: Dict, files: TemplateFiles): string {
  return new Renderer(source, files, []).render({ names: bindings, outer: undefined });
}

/** Bindings, innermost first. */
interface Scope {
  readonly names: Dict;
  readonly outer: Scope | undefined;
}

function find(scope: Scope | undefined, name: string): Scope | undefined {
  for (let current = scope; current !== undefined; current = current.outer) if (dictHas(current.names, name)) return current;
  return undefined;
}

/** Renders one file; an included file has a renderer of its own, with the chain of those around it. */
class Renderer {
  readonly #source: TemplateSource;
  readonly #files: TemplateFiles;
  readonly #includedBy: readonly TemplateSource[];

  constructor(source: TemplateSource, files: TemplateFiles, includedBy: readonly TemplateSource[]) {
    this.#source = source;
    this.#files = files;
    this.#includedBy = includedBy;
  }

  render(scope: Scope): string {
    try {
      return this.#nodes(parseTemplate(this.#source.text), scope);
    } catch (error) {
      if (!(error instanceof TemplateFault)) throw error;
      const before = this.#source.text.slice(0, error.at);
      const line = before.split('\n').length;
      const column = [...before.slice(before.lastIndexOf('\n') + 1)].length + 1;
      throw thrownText(`${this.#source.name === '' ? '' : `${this.#source.name} `}at ${line}:${column}: ${error.message}`);
    }
  }

  #nodes(nodes: readonly TemplateNode[], scope: Scope): string {
    let text = '';
    for (const node of nodes) text += this.#node(node, scope);
    return text;
  }

  #node(node: TemplateNode, scope: Scope): string {
    switch (node.kind) {
      case 'text':
        return node.text;
      case 'output':
        return output(node.expression, scope, node.at);
      case 'if': {
        const branch = node.branches.find(({ condition }) => isTemplateTruthy(evaluate(condition, scope, node.at)));
        return this.#nodes(branch?.body ?? node.otherwise, scope);
      }
      case 'for':
        return this.#for(node, scope);
      case 'include':
        return this.#include(node, scope);
    }
  }

  #for(node: ForNode, scope: Scope): string {
    const { count, at } = sequence(evaluate(node.iterable, scope, node.at), node.keyName !== undefined);
    if (count === 0) return this.#nodes(node.otherwise, scope);
    let text = '';
    for (let index = 0; index < count; index++) {
      const [key, item] = at(index);
      const names: [string, Value][] = [
        ['loop', loopFacts(index, count)],
        [node.itemName, item],
      ];
      if (node.keyName !== undefined) names.push([node.keyName, key]);
      text += this.#nodes(node.body, { names: dictOf(names), outer: scope });
    }
    return text;
  }

  #include(node: IncludeNode, scope: Scope): string {
    const path = evaluate(node.path, scope, node.at);
    if (typeof path !== 'string') throw new TemplateFault('include path must be a string', node.at);
    const absolute = this.#files.resolve(path, this.#source.directory);
    const chain = [...this.#includedBy, this.#source];
    if (chain.some((source) => source.path === absolute)) {
      const names = [...chain.map(({ name }) => name), path].filter((name) => name !== '');
      throw new TemplateFault(`circular include detected: ${names.join(' → ')}`, node.at);
    }
    if (chain.length > MAX_INCLUDES) throw new TemplateFault(`includes are nested deeper than ${MAX_INCLUDES} levels`, node.at);
    const source = { name: path, text: this.#read(absolute, path, node), directory: this.#files.directoryOf(absolute), path: absolute };
    const bindings = dictOf(node.bindings.map(([name, value]) => [name, evaluate(value, scope, node.at)]));
    return new Renderer(source, this.#files, chain).render({ names: bindings, outer: scope });
  }

  #read(absolute: string, path: string, node: IncludeNode): string {
    try {
      return this.#files.read(absolute);
    } catch {
      throw new TemplateFault(`failed to read included template ${path}`, node.at);
    }
  }
}

/** An unknown bare name is written back, so that a template may be filled in steps. */
function output(expression: Expression, scope: Scope, at: number): string {
  if (expression.kind === 'name' && find(scope, expression.name) === undefined) return `{{${expression.name}}}`;
  const value = evaluate(expression, scope, at);
  return value === undefined ? '' : display(value);
}

function evaluate(expression: Expression, scope: Scope, at: number): Value {
  switch (expression.kind) {
    case 'literal':
      return expression.value;
    case 'name': {
      const owner = find(scope, expression.name);
      return owner === undefined ? undefined : dictGet(owner.names, expression.name);
    }
    case 'member':
      return member(evaluate(expression.object, scope, at), evaluate(expression.key, scope, at));
    case 'not':
      return !isTemplateTruthy(evaluate(expression.operand, scope, at));
    case 'binary':
      return binary(expression.operator, expression.left, expression.right, scope, at);
    case 'filter': {
      const filter = Object.hasOwn(TEMPLATE_FILTERS, expression.name) ? TEMPLATE_FILTERS[expression.name] : undefined;
      if (filter === undefined) throw new TemplateFault(`unknown filter \`${expression.name}\``, at);
      return filter(
        evaluate(expression.input, scope, at),
        expression.args.map((arg) => evaluate(arg, scope, at)),
      );
    }
  }
}

function binary(operator: BinaryOperator, left: Expression, right: Expression, scope: Scope, at: number): boolean {
  const a = evaluate(left, scope, at);
  if (operator === 'and') return isTemplateTruthy(a) && isTemplateTruthy(evaluate(right, scope, at));
  if (operator === 'or') return isTemplateTruthy(a) || isTemplateTruthy(evaluate(right, scope, at));
  const b = evaluate(right, scope, at);
  switch (operator) {
    case '==':
      return equals(a, b);
    case '!=':
      return !equals(a, b);
    case '<':
      return compareValues(a, b) < 0;
    case '<=':
      return compareValues(a, b) <= 0;
    case '>':
      return compareValues(a, b) > 0;
    case '>=':
      return compareValues(a, b) >= 0;
  }
}

/** A part of a value; nil when it has none of that name. */
function member(object: Value, key: Value): Value {
  if (object instanceof Dict) return dictGet(object, display(key));
  if (object instanceof StructValue) return dictGet(object.fields, display(key));
  if (Array.isArray(object)) {
    const index = typeof key === 'string' ? Number(key) : key;
    return typeof index === 'number' ? (object as Value[]).at(index) : undefined;
  }
  if (object instanceof Pair) return key === 'first' ? object.first : key === 'second' ? object.second : undefined;
  if (object instanceof EnumValue) return key === 'variant' ? object.variant : key === 'fields' ? object.fields : undefined;
  return undefined;
}

interface Sequence {
  readonly count: number;
  /** Key or position, and element. */
  at(index: number): readonly [Value, Value];
}

/** What a loop goes through; nothing for anything that is not iterable. With one name, a dict gives its entries. */
function sequence(value: Value, isKeyed: boolean): Sequence {
  if (value instanceof Dict) {
    const entries = dictEntries(value);
    return { count: entries.length, at: (index) => entryAt(entries[index] as [string, Value], isKeyed) };
  }
  if (value instanceof RangeValue) return { count: rangeLength(value), at: (index) => [index, value.start + index] };
  const items: readonly Value[] = Array.isArray(value) ? value : value instanceof SetValue ? setItems(value) : [];
  return { count: items.length, at: (index) => [index, items[index]] };
}

function entryAt([key, value]: readonly [string, Value], isKeyed: boolean): readonly [Value, Value] {
  if (isKeyed) return [key, value];
  const entry = dictOf([
    ['key', key],
    ['value', value],
  ]);
  return [key, entry];
}

function loopFacts(index: number, count: number): Dict {
  return dictOf([
    ['index', index + 1],
    ['index0', index],
    ['first', index === 0],
    ['last', index === count - 1],
    ['length', count],
  ]);
}
