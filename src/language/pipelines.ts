import type { FunctionDeclaration, Override, Pipeline, Program, Statement } from './ast.ts';
import { bareDeclaration } from './walk.ts';

/**
 * `pipeline child() extends parent` (spec/language.md 5.8): the bodies of all ancestors run first, in one scope with
 * the child's. An `override` replaces the function of that name in an ancestor's body. Done on the tree, so that
 * name resolution and emission know nothing of inheritance.
 */
export function mergePipelines(program: Program): Program {
  const pipelines = new Map<string, Pipeline>();
  for (const item of program.items) {
    const node = bareDeclaration(item);
    if (node.kind === 'Pipeline') pipelines.set(node.name, node);
  }
  if (![...pipelines.values()].some((pipeline) => pipeline.parent !== undefined)) return program;
  const merge = (item: Statement): Statement => {
    if (item.kind === 'Attributed') return { ...item, declaration: merge(item.declaration) };
    return item.kind === 'Pipeline' && item.parent !== undefined ? merged(item, pipelines) : item;
  };
  return { ...program, items: program.items.map(merge) };
}

function merged(pipeline: Pipeline, pipelines: ReadonlyMap<string, Pipeline>): Pipeline {
  const chain: Pipeline[] = [];
  for (
    let current: Pipeline | undefined = pipeline;
    current !== undefined && !chain.includes(current);
    current = current.parent && pipelines.get(current.parent.text)
  ) {
    chain.unshift(current);
  }
  const overrides = new Map<string, Override>();
  for (const link of chain) {
    for (const statement of link.body.statements) if (statement.kind === 'Override') overrides.set(statement.name, statement);
  }
  const statements = chain.flatMap((link) =>
    link.body.statements.filter((statement) => statement.kind !== 'Override').map((statement) => replaced(statement, overrides)),
  );
  // Nodes are identities to later passes, so an ancestor's statements are copied.
  const own = new Set<Statement>(pipeline.body.statements);
  const body = {
    ...pipeline.body,
    statements: statements.map((statement) => (own.has(statement) ? statement : structuredClone(statement))),
  };
  const params = [...pipeline.params];
  for (const link of chain)
    for (const param of link.params) if (!params.some(({ name }) => name === param.name)) params.push(structuredClone(param));
  return { ...pipeline, params, body };
}

function replaced(statement: Statement, overrides: ReadonlyMap<string, Override>): Statement {
  if (statement.kind !== 'Function') return statement;
  const override = overrides.get(statement.name);
  if (override === undefined) return statement;
  const replacement: FunctionDeclaration = { ...statement, params: override.params, body: override.body, yields: override.yields };
  return replacement;
}
