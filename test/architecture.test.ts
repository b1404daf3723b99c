import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const SRC = resolve(import.meta.dirname, '../src');

/** Which folders a folder may import from; itself is always allowed. `language` knows only base and diagnostics. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  base: [],
  platform: ['base'],
  diagnostics: ['base'],
  language: ['base', 'diagnostics'],
  tasks: ['base', 'platform'],
  store: ['base', 'platform'],
  lifecycle: ['base', 'platform', 'tasks', 'store'],
  agent: ['base', 'platform', 'tasks', 'lifecycle'],
  stdlib: ['base'],
  runtime: ['base', 'platform', 'diagnostics', 'language', 'tasks', 'store', 'lifecycle', 'agent', 'stdlib'],
  servers: ['base', 'platform', 'diagnostics', 'language', 'tasks', 'store', 'lifecycle', 'agent', 'stdlib', 'runtime'],
  cli: ['base', 'platform', 'diagnostics', 'language', 'tasks', 'store', 'lifecycle', 'agent', 'stdlib', 'runtime', 'servers'],
};

interface Import {
  readonly from: string;
  readonly to: string;
  /** `import type`, or only names marked `type`: gone at run time. */
  readonly isType: boolean;
  readonly isDynamic: boolean;
}

function sources(): string[] {
  return readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(SRC, file), 'utf8');
  const found: Import[] = [];
  const add = (specifier: string, isType: boolean, isDynamic: boolean): void => {
    if (specifier.startsWith('.')) found.push({ from: file, to: relative(SRC, resolve(SRC, dirname(file), specifier)), isType, isDynamic });
  };
  for (const [, type, names, specifier] of text.matchAll(/^(?:import|export)\s+(type\s+)?(?:([\s\S]*?)\s+from\s+)?'([^']+)'/gm)) {
    const list = /^\{([\s\S]*)\}$/.exec((names ?? '').trim())?.[1];
    const onlyTypes =
      list
        ?.split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '')
        .every((name) => name.startsWith('type ')) ?? false;
    add(specifier as string, type !== undefined || onlyTypes, false);
  }
  for (const [, specifier] of text.matchAll(/\bimport\('([^']+)'\)/g)) add(specifier as string, false, true);
  return found;
}

const folderOf = (file: string): string => file.split('/')[0] as string;

describe('the arrows between folders', () => {
  const imports = sources().flatMap(importsOf);

  test('an import points up the table of layers, never down or sideways', () => {
    const wrong = imports.filter(({ from, to }) => {
      const [source, target] = [folderOf(from), folderOf(to)];
      // package.json is data, not a layer.
      return !to.startsWith('..') && source !== target && MAY_IMPORT[source]?.includes(target) !== true;
    });
    expect(wrong.map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
  });

  test('every folder of src is in the table', () => {
    expect([...new Set(sources().map(folderOf))].filter((folder) => !(folder in MAY_IMPORT))).toEqual([]);
  });

  test('values are never imported in a circle', () => {
    const graph = new Map<string, string[]>();
    for (const { from, to, isType, isDynamic } of imports) {
      if (isType || isDynamic) continue;
      graph.set(from, [...(graph.get(from) ?? []), to]);
    }
    expect(findCycles(graph)).toEqual([]);
  });

  test('nothing names parts of zod that bring its languages into every start', () => {
    const users = sources().filter((file) => /\bz\.(?:core|locales)\b/.test(readFileSync(join(SRC, file), 'utf8')));
    expect(users).toEqual([]);
  });

  test('whoever says what a schema refused decodes without the texts that zod has for the whole process', () => {
    const wrong = sources().filter((file) => {
      const text = readFileSync(join(SRC, file), 'utf8');
      return /\bdecodeProblem\(/.test(text) && /\.safeParse\((?!\w+, OWN_TEXTS_ONLY\))/.test(text);
    });
    expect(wrong).toEqual([]);
  });

  test('a module keeps no state, but for two caches', () => {
    const stateful = sources().filter((file) =>
      /^(?:export )?(?:let |const \w+(?:: [^=]+)? = new (?:Map|Set|WeakMap|WeakSet|Array)(?:<[^;]*>)?\(\);)/m.test(
        readFileSync(join(SRC, file), 'utf8'),
      ),
    );
    expect(stateful.sort()).toEqual(['agent/transcript/transcript.ts', 'runtime/equality.ts']);
  });

  test('a file re-exports nothing of another file', () => {
    const barrels = sources().filter((file) => /^export\s+(?:\*|\{[^}]*\})\s+from\s/m.test(readFileSync(join(SRC, file), 'utf8')));
    expect(barrels).toEqual([]);
  });
});

/** Cycles as texts, found by depth-first search. */
function findCycles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const state = new Map<string, 'open' | 'done'>();
  const path: string[] = [];
  const cycles: string[] = [];
  const visit = (file: string): void => {
    if (state.get(file) === 'done') return;
    if (state.get(file) === 'open') {
      cycles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
      return;
    }
    state.set(file, 'open');
    path.push(file);
    for (const next of graph.get(file) ?? []) visit(next);
    path.pop();
    state.set(file, 'done');
  };
  for (const file of graph.keys()) visit(file);
  return cycles;
}
