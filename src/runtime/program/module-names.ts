import { nearestName } from '../../base/near-name.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Import, Statement, TypeNode } from '../../language/ast.ts';
import { bareDeclaration } from '../../language/walk.ts';
import type { SourceModule } from './source-graph.ts';

/** What a module declares and what it lets others see (spec/language.md 9.2). */
export interface ModuleNames {
  readonly values: ReadonlyMap<string, Exported>;
  readonly enums: ReadonlySet<string>;
  readonly structs: ReadonlySet<string>;
  readonly interfaces: ReadonlySet<string>;
  readonly aliases: ReadonlyMap<string, TypeNode>;
}

export interface Exported {
  readonly name: string;
  /** Module that declares it, also through re-exports. */
  readonly home: SourceModule;
  readonly declaration: Statement;
  readonly isPublic: boolean;
}

/** A failure of an import, found before anything runs. */
export class ImportFailure extends Error {
  readonly diagnostic: Diagnostic;
  constructor(message: string, module: SourceModule, node: Import, help?: string) {
    super(message);
    this.diagnostic = { severity: 'error', stage: 'import', message, help, path: module.path, span: node.span };
  }
}

/** Top-level declarations of a module itself. */
export function declaredNames(module: SourceModule): ModuleNames {
  const values = new Map<string, Exported>();
  const enums = new Set<string>();
  const structs = new Set<string>();
  const interfaces = new Set<string>();
  const aliases = new Map<string, TypeNode>();
  for (const item of module.program.items) {
    const node = bareDeclaration(item);
    switch (node.kind) {
      case 'Function':
      case 'Tool':
      case 'Skill':
      case 'EvalPack':
        values.set(node.name, { name: node.name, home: module, declaration: node, isPublic: node.isPublic });
        break;
      case 'Enum':
        enums.add(node.name);
        break;
      case 'Struct':
        structs.add(node.name);
        break;
      case 'Interface':
        interfaces.add(node.name);
        break;
      case 'TypeAlias':
        aliases.set(node.name, node.type);
        break;
      default:
        break;
    }
  }
  return { values, enums, structs, interfaces, aliases };
}

/** Names that importing the module whole brings in, re-exports included. */
export function exportedNames(module: SourceModule, seen: ReadonlySet<SourceModule> = new Set()): ModuleNames {
  const own = declaredNames(module);
  const all = [...own.values.values()];
  const hasPublic = all.some(({ isPublic }) => isPublic) || module.imports.some(({ node }) => node.isPublic);
  const values = new Map(all.filter(({ isPublic }) => isPublic || !hasPublic).map((item) => [item.name, item]));
  const types = {
    enums: new Set(own.enums),
    structs: new Set(own.structs),
    interfaces: new Set(own.interfaces),
    aliases: new Map(own.aliases),
  };
  if (seen.has(module)) return { values, ...types };
  for (const { node, module: target } of module.imports) {
    if (!node.isPublic || target === undefined) continue;
    const inner = exportedNames(target, new Set([...seen, module]));
    for (const [name, item] of visibleThrough(
      node.names?.map(({ text }) => text),
      inner,
      target,
    )) {
      const clash = values.get(name);
      if (clash !== undefined && clash.declaration !== item.declaration) {
        throw new ImportFailure(clash.home === module ? definedHere(name, node.path) : collision(name, node.path), module, node);
      }
      values.set(name, item);
    }
    if (node.names !== undefined) {
      for (const { text } of node.names) {
        if (!isKnown(text, inner, target)) throw new ImportFailure(notExported(text, node.path), module, node);
      }
    }
    addTypes(types, inner);
  }
  return { values, ...types };
}

function addTypes(
  types: { enums: Set<string>; structs: Set<string>; interfaces: Set<string>; aliases: Map<string, TypeNode> },
  more: ModuleNames,
): void {
  for (const name of more.enums) types.enums.add(name);
  for (const name of more.structs) types.structs.add(name);
  for (const name of more.interfaces) types.interfaces.add(name);
  for (const [name, type] of more.aliases) types.aliases.set(name, type);
}

function isKnown(name: string, exported: ModuleNames, target: SourceModule): boolean {
  return (
    exported.values.has(name) ||
    declaredNames(target).values.has(name) ||
    exported.enums.has(name) ||
    exported.structs.has(name) ||
    exported.interfaces.has(name) ||
    exported.aliases.has(name)
  );
}

function visibleThrough(names: readonly string[] | undefined, exported: ModuleNames, target: SourceModule): Map<string, Exported> {
  if (names === undefined) return new Map(exported.values);
  const own = declaredNames(target).values;
  const found = new Map<string, Exported>();
  for (const name of names) {
    const item = exported.values.get(name) ?? own.get(name);
    if (item !== undefined) found.set(name, item);
  }
  return found;
}

function collision(name: string, from: string): string {
  return `Import collision: '${name}' is already defined when importing ${from}. Use selective imports to disambiguate: import { ${name} } from "..."`;
}

function definedHere(name: string, from: string): string {
  return `Re-export collision: '${name}' is defined here and also re-exported from '${from}'`;
}

function notExported(name: string, from: string): string {
  return `Re-export error: '${name}' is not exported by '${from}'`;
}

function namesOf(node: Import): readonly string[] | undefined {
  return node.names?.map(({ text }) => text);
}

function nameHelp(name: string, exported: ModuleNames): string | undefined {
  const { values, enums, structs, interfaces, aliases } = exported;
  const near = nearestName(name, [...values.keys(), ...enums, ...structs, ...interfaces, ...aliases.keys()]);
  return near === undefined ? undefined : `did you mean \`${near}\`?`;
}

/** Everything that the imports of a module make visible in it. */
export function importedNames(module: SourceModule): ModuleNames {
  const values = new Map<string, Exported>();
  const types = {
    enums: new Set<string>(),
    structs: new Set<string>(),
    interfaces: new Set<string>(),
    aliases: new Map<string, TypeNode>(),
  };
  const local = declaredNames(module).values;
  for (const { node, module: target, isPrelude } of module.imports) {
    if (target === undefined) continue;
    const exported = exportedNames(target);
    if (isPrelude) {
      for (const [name, item] of visibleThrough(namesOf(node), exported, target)) if (!values.has(name)) values.set(name, item);
      continue;
    }
    const names = namesOf(node);
    for (const name of names ?? []) {
      if (isKnown(name, exported, target)) continue;
      throw new ImportFailure(
        node.isPublic ? notExported(name, node.path) : `Import error: '${name}' is not defined in ${node.path}`,
        module,
        node,
        nameHelp(name, exported),
      );
    }
    for (const [name, item] of visibleThrough(names, exported, target)) {
      // A selective import next to a local function of that name is a shadow, not an accident.
      const own = names === undefined || node.isPublic ? local.get(name) : undefined;
      const clash = values.get(name) ?? own;
      if (clash !== undefined && clash.declaration !== item.declaration) {
        const text = node.isPublic && clash === own ? definedHere(name, node.path) : collision(name, node.path);
        throw new ImportFailure(text, module, node);
      }
      values.set(name, item);
    }
    addTypes(types, exported);
  }
  return { values, ...types };
}
