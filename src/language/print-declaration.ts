import type {
  Attributed,
  EnumDeclaration,
  EvalPack,
  FunctionDeclaration,
  ImplDeclaration,
  Import,
  InterfaceDeclaration,
  InterfaceMethod,
  Override,
  Pipeline,
  SkillDeclaration,
  Statement,
  StructDeclaration,
  ToolDeclaration,
  TypeNode,
} from './ast.ts';
import { group, type Layout, verbatim } from './layout.ts';
import { printBlock, printHeaded, printParams } from './print-block.ts';
import { printBraces, printLines, printList } from './print-row.ts';
import type { Item, PrintSource } from './print-source.ts';
import { printBounds, printType, printTypeParams } from './print-type.ts';
import type { Printing } from './printing.ts';

type Declaration = Extract<
  Statement,
  {
    kind:
      | 'Import'
      | 'Attributed'
      | 'Pipeline'
      | 'Override'
      | 'Function'
      | 'Tool'
      | 'Skill'
      | 'EvalPack'
      | 'Struct'
      | 'Enum'
      | 'TypeAlias'
      | 'Interface'
      | 'Impl';
  }
>;

export function printDeclaration(printing: Printing, node: Declaration): Layout {
  const { source } = printing;
  switch (node.kind) {
    case 'Import':
      return printImport(source, node);
    case 'Attributed':
      return printAttributed(printing, node);
    case 'Pipeline':
      return printPipeline(printing, node);
    case 'Override':
      return printOverride(printing, node);
    case 'Function':
      return printFunction(printing, node);
    case 'Tool':
      return printTool(printing, node);
    case 'Skill':
      return printSkill(printing, node);
    case 'EvalPack':
      return printEvalPack(printing, node);
    case 'Struct':
      return printStruct(source, node);
    case 'Enum':
      return printEnum(printing, node);
    case 'TypeAlias':
      return [visibility(node), 'type ', node.name, printTypeParams(node.typeParams), ' = ', printType(source, node.type)];
    case 'Interface':
      return printInterface(printing, node);
    case 'Impl':
      return printImpl(printing, node);
  }
}

function visibility({ isPublic }: { readonly isPublic: boolean }): string {
  return isPublic ? 'pub ' : '';
}

function printReturnType(source: PrintSource, type: TypeNode | undefined): Layout {
  return type === undefined ? '' : [' -> ', printType(source, type)];
}

/** A body in braces, on one line only when it was written so. */
function printBody(source: PrintSource, head: Layout, items: readonly Item[], end: number, flatSeparator = ';'): Layout {
  const from = source.openerOf(end);
  const layout = source.hasLineBreak(from, end) ? 'lines' : 'flat';
  return group([head, ' ', printBraces('{', source.rows(items, from, end - 1), layout, flatSeparator)]);
}

// ---- imports and attributes ----

function printImport(source: PrintSource, node: Import): Layout {
  const head = `${visibility(node)}import`;
  const isPath = node.spelling === 'path';
  const path = isPath ? node.path.replaceAll('/', '::') : source.slice(node.pathSpan);
  if (node.names === undefined) return `${head} ${path}`;
  const items = node.names.map(({ text, span }) => ({ span, print: () => text }));
  const { start, end } = source.bracketsAfter(node.span.start, '{');
  const names = printList(source, { open: '{', close: '}', from: start, to: end, items, isSpaced: !isPath });
  return isPath ? [head, ' ', path, '::', names] : [head, ' ', names, ' from ', path];
}

function printAttributed(printing: Printing, node: Attributed): Layout {
  const { source } = printing;
  const items: Item[] = node.attributes.map(({ span }) => ({ span, print: () => printAttribute(source, span) }));
  items.push({ span: node.declaration.span, print: () => printing.statement(node.declaration) });
  return printLines(source.rows(items, node.span.start, node.span.end).rows);
}

function printAttribute(source: PrintSource, span: Attributed['span']): Layout {
  source.place(span);
  return verbatim(source.slice(span));
}

// ---- functions ----

function printFunction(printing: Printing, node: FunctionDeclaration): Layout {
  const { source } = printing;
  const keyword = node.isStream ? 'gen fn' : 'fn';
  const head = [
    `${visibility(node)}${keyword} ${node.name}`,
    printTypeParams(node.typeParams),
    printParams(printing, node.params, node.nameSpan.end),
    printReturnType(source, node.returnType),
    printBounds(source, node.bounds),
  ];
  return printHeaded(printing, head, node.body);
}

function printPipeline(printing: Printing, node: Pipeline): Layout {
  const head = [
    `${visibility(node)}pipeline ${node.name}`,
    printParams(printing, node.params, node.nameSpan.end),
    printReturnType(printing.source, node.returnType),
    node.parent === undefined ? '' : ` extends ${node.parent.text}`,
  ];
  return printHeaded(printing, head, node.body);
}

function printOverride(printing: Printing, node: Override): Layout {
  return printHeaded(printing, [`override ${node.name}`, printParams(printing, node.params, node.span.start)], node.body);
}

function printTool(printing: Printing, node: ToolDeclaration): Layout {
  const { source } = printing;
  const items: Item[] = node.body.statements.map((child) => ({ span: child.span, print: () => printing.statement(child) }));
  if (node.description !== undefined) {
    const start = source.nextStart(node.body.span.start + 1);
    const text = source.tokenAt(start + 'description'.length);
    const end = text?.end ?? start;
    items.unshift({ span: { start, end }, print: () => ['description ', verbatim(text === undefined ? '' : source.slice(text))] });
  }
  const head = [
    `${visibility(node)}tool ${node.name}`,
    printParams(printing, node.params, node.nameSpan.end),
    printReturnType(source, node.returnType),
  ];
  return printBody(source, head, items, node.span.end);
}

function printSkill({ source, expression }: Printing, node: SkillDeclaration): Layout {
  const items = node.fields.map(({ name, value }) => ({
    span: { start: name.span.start, end: value.span.end },
    print: (): Layout => [name.text, ' ', expression(value)],
  }));
  return printBody(source, `${visibility(node)}skill ${node.name}`, items, node.span.end);
}

function printEvalPack(printing: Printing, node: EvalPack): Layout {
  const { source, expression, statement } = printing;
  const items: Item[] = [
    ...node.fields.map(({ name, value }) => ({
      span: { start: name.span.start, end: value.span.end },
      print: (): Layout => [name.text, ': ', expression(value)],
    })),
    ...node.body.map((child) => ({ span: child.span, print: () => statement(child) })),
  ];
  const { summarize } = node;
  if (summarize !== undefined) {
    const span = { start: source.startOfWord('summarize', summarize.span.start), end: summarize.span.end };
    items.push({ span, print: () => ['summarize ', printBlock(printing, summarize, 'lines')] });
  }
  items.sort((a, b) => a.span.start - b.span.start);
  const open = source.openerOf(node.span.end) - 1;
  return printBody(source, source.slice({ start: node.span.start, end: open }).trim(), items, node.span.end);
}

// ---- types ----

function printStruct(source: PrintSource, node: StructDeclaration): Layout {
  const items = node.fields.map((field) => ({
    span: field.span,
    print: (): Layout => [field.name, field.isOptional ? '?' : '', field.type === undefined ? '' : [': ', printType(source, field.type)]],
  }));
  return printBody(source, [visibility(node), 'struct ', node.name, printTypeParams(node.typeParams)], items, node.span.end, ',');
}

function printEnum(printing: Printing, node: EnumDeclaration): Layout {
  const items = node.variants.map((variant) => ({
    span: variant.span,
    print: (): Layout => [variant.name, variant.params.length === 0 ? '' : printParams(printing, variant.params, variant.span.start)],
  }));
  return printBody(printing.source, [visibility(node), 'enum ', node.name, printTypeParams(node.typeParams)], items, node.span.end, ',');
}

function printInterface(printing: Printing, node: InterfaceDeclaration): Layout {
  const { source } = printing;
  const associated = node.associated.map(({ name, type, span }) => ({
    span: { start: source.startOfWord('type', span.start), end: type?.span.end ?? span.end },
    print: (): Layout => ['type ', name, type === undefined ? '' : [' = ', printType(source, type)]],
  }));
  const methods = node.methods.map((method) => ({ span: method.span, print: () => printMethod(printing, method) }));
  const items: Item[] = [...associated, ...methods].sort((a, b) => a.span.start - b.span.start);
  return printBody(source, ['interface ', node.name, printTypeParams(node.typeParams)], items, node.span.end);
}

function printMethod(printing: Printing, node: InterfaceMethod): Layout {
  const params = printParams(printing, node.params, node.span.start);
  return ['fn ', node.name, printTypeParams(node.typeParams), params, printReturnType(printing.source, node.returnType)];
}

function printImpl(printing: Printing, node: ImplDeclaration): Layout {
  const items = node.methods.map((method) => ({ span: method.span, print: () => printing.statement(method) }));
  return printBody(printing.source, `impl ${node.name}`, items, node.span.end);
}
