import { assertNever } from '../../base/assert-never.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { compareBytes, renderJson } from '../json-text.ts';
import type { ToolSpec } from '../providers/provider.ts';
import { readObject, skipSpace, ValueFault } from '../text-value.ts';
import type { ToolCall } from '../transcript/message.ts';

/**
 * The text grammar for models without native tools (spec/agents.md 2.5).
 *
 * The parser reads a response from left to right in pieces: a tag with its content, a call outside tags, or stray
 * text up to the next of these. Models bend the grammar in known ways, so it recovers as far as the meaning is
 * clear and reports the rest: `errors` (nothing ran for that piece) and `violations` (it ran, but should have been
 * written otherwise) both go back to the model as feedback.
 */
export interface TextResponse {
  readonly calls: readonly ToolCall[];
  readonly errors: readonly string[];
  readonly violations: readonly string[];
  /** Prose, answers to the user and stray text, in order. */
  readonly prose: readonly string[];
  /** Content of the first non-empty `<done>`. */
  readonly done: string | undefined;
}

export const DEFAULT_SENTINEL = '##DONE##';

const SHOWN_NAMES = 20;

export function parseTextResponse(text: string, toolNames: ReadonlySet<string>): TextResponse {
  const calls: ToolCall[] = [];
  const errors: string[] = [];
  const violations: string[] = [];
  const prose: string[] = [];
  let done: string | undefined;
  let position = skipSpace(text, 0);
  while (position < text.length) {
    const piece = readPiece(text, position, toolNames);
    switch (piece.kind) {
      case 'call':
        calls.push({ id: `tc_${calls.length}`, name: piece.name, arguments: piece.arguments });
        break;
      case 'prose':
        prose.push(piece.text);
        break;
      case 'done':
        done ??= piece.text;
        break;
      case 'skipped':
        break;
      default:
        assertNever(piece);
    }
    if (piece.error !== undefined) errors.push(piece.error);
    if (piece.violation !== undefined) violations.push(piece.violation);
    position = skipSpace(text, Math.max(piece.end, position + 1));
  }
  return { calls, errors, violations, prose, done };
}

type Piece = { readonly end: number; readonly error?: string; readonly violation?: string } & (
  | { readonly kind: 'call'; readonly name: string; readonly arguments: JsonObject }
  | { readonly kind: 'prose'; readonly text: string }
  | { readonly kind: 'done'; readonly text: string }
  | { readonly kind: 'skipped' }
);

function readPiece(text: string, start: number, toolNames: ReadonlySet<string>): Piece {
  const tag = sticky(/<(tool_call|assistant_prose|user_response|done)>/y, text, start);
  if (tag !== undefined) return readTagged(text, start, tag[1] ?? '', toolNames);
  return (
    readWrappedCall(text, start, toolNames) ??
    readLabelledCall(text, start, toolNames) ??
    readBareCall(text, start, toolNames) ??
    readUnknownTag(text, start) ??
    readStrayText(text, start, toolNames)
  );
}

function readTagged(text: string, start: number, tag: string, toolNames: ReadonlySet<string>): Piece {
  const from = start + tag.length + 2;
  if (tag === 'tool_call') return readToolCall(text, from, toolNames);
  const closing = text.indexOf(`</${tag}>`, from);
  const end = closing < 0 ? text.length : closing + tag.length + 3;
  const content = text.slice(from, closing < 0 ? text.length : closing).trim();
  const unclosed = closing < 0 ? { violation: `<${tag}> is not closed; write </${tag}> after its content.` } : {};
  if (tag !== 'done') return { kind: 'prose', text: content, end, ...unclosed };
  if (content === '') return { kind: 'skipped', end, violation: '<done> is empty; write the completion word inside it.' };
  return { kind: 'done', text: content, end, ...unclosed };
}

function readToolCall(text: string, from: number, toolNames: ReadonlySet<string>): Piece {
  const start = skipSpace(text, from);
  const closing = text.indexOf('</tool_call>', start);
  const fallbackEnd = closing < 0 ? text.length : closing + '</tool_call>'.length;
  const labelled = readLabelledCall(text, start, toolNames);
  if (labelled !== undefined) return { ...labelled, end: fallbackEnd };
  const name = sticky(/[A-Za-z_][\w.-]*/y, text, start)?.[0];
  if (name === undefined) return { kind: 'skipped', end: fallbackEnd, error: '<tool_call> must hold one call: name({ … }).' };
  if (!toolNames.has(name)) return { kind: 'skipped', end: fallbackEnd, error: unknownTool(name, toolNames) };
  const call = readCall(text, start, name);
  if (call.kind !== 'call') return { ...call, end: fallbackEnd };
  const after = skipSpace(text, call.end);
  if (text.startsWith('</tool_call>', after)) return { ...call, end: after + '</tool_call>'.length };
  const rest = text.indexOf('</tool_call>', after);
  if (rest < 0) return { ...call, end: after, violation: '<tool_call> is not closed; write </tool_call> after the call.' };
  return { ...call, end: rest + '</tool_call>'.length, violation: '<tool_call> must hold exactly one call; the rest of it was ignored.' };
}

/** Reads `name ( { … } )` where `name` is known to stand at `start`. */
function readCall(text: string, start: number, name: string): Piece {
  const open = sticky(/\s*\(\s*(?=\{)/y, text, start + name.length);
  if (open === undefined) {
    return { kind: 'skipped', end: start + name.length, error: `Tool \`${name}\` needs one object of arguments: ${name}({ … }).` };
  }
  try {
    const object = readObject(text, start + name.length + open[0].length);
    const end = skipSpace(text, object.end);
    if (text[end] === ')') return { kind: 'call', name, arguments: object.value, end: end + 1 };
    return { kind: 'skipped', end, error: `The call of \`${name}\` is not closed with \`)\`.` };
  } catch (fault) {
    if (!(fault instanceof ValueFault)) throw fault;
    return { kind: 'skipped', end: fault.offset, error: `The arguments of \`${name}\` cannot be read: ${fault.message}.` };
  }
}

/** `<name({ … })>`: runs, with a violation. */
function readWrappedCall(text: string, start: number, toolNames: ReadonlySet<string>): Piece | undefined {
  const name = sticky(/<([A-Za-z_][\w.-]*)\s*\(/y, text, start)?.[1];
  if (name === undefined || !toolNames.has(name)) return undefined;
  const call = readCall(text, start + 1, name);
  if (call.kind !== 'call') return call;
  const close = sticky(/\s*\/?>/y, text, call.end);
  return { ...call, end: call.end + (close?.[0].length ?? 0), violation: outsideTags(name) };
}

/** `name({ … })` at the start of a line: runs, with a violation. */
function readBareCall(text: string, start: number, toolNames: ReadonlySet<string>): Piece | undefined {
  const name = sticky(/([A-Za-z_][\w.-]*)\s*\(/y, text, start)?.[1];
  if (name === undefined || !toolNames.has(name) || !isLineStart(text, start)) return undefined;
  const call = readCall(text, start, name);
  return call.kind === 'call' ? { ...call, violation: outsideTags(name) } : call;
}

/** `python: name(…)`: nothing runs, because it is unclear whether this was meant as a call or as code. */
function readLabelledCall(text: string, start: number, toolNames: ReadonlySet<string>): Piece | undefined {
  const found = sticky(/([A-Za-z][\w+#-]*)\s*:\s*([A-Za-z_][\w.-]*)\s*\(/y, text, start);
  const [match, label, name] = found ?? [];
  if (match === undefined || name === undefined || !toolNames.has(name) || !isLineStart(text, start)) return undefined;
  const call = readCall(text, start + match.lastIndexOf(name), name);
  return { kind: 'skipped', end: call.end, error: `Remove the label \`${label}:\` before ${name}(…); nothing was run.` };
}

function readUnknownTag(text: string, start: number): Piece | undefined {
  const tag = sticky(/<\/?([A-Za-z_][\w-]*)[^<>]*>/y, text, start);
  if (tag === undefined) return undefined;
  return { kind: 'skipped', end: start + tag[0].length, violation: `Unknown tag ${tag[0]}.` };
}

function readStrayText(text: string, start: number, toolNames: ReadonlySet<string>): Piece {
  const boundary = /<\/?[A-Za-z_][\w-]*(?:[^<>]*>|\s*\()|\n/g;
  boundary.lastIndex = start + 1;
  let end = text.length;
  for (let found = boundary.exec(text); found !== null; found = boundary.exec(text)) {
    if (found[0] !== '\n' || startsCall(text, found.index + 1, toolNames)) {
      end = found.index;
      break;
    }
  }
  return { kind: 'prose', text: text.slice(start, end).trim(), end, violation: 'Text outside tags; put prose into <assistant_prose>.' };
}

function startsCall(text: string, lineStart: number, toolNames: ReadonlySet<string>): boolean {
  const start = skipSpace(text, lineStart);
  return (readLabelledCall(text, start, toolNames) ?? readBareCall(text, start, toolNames)) !== undefined;
}

function isLineStart(text: string, start: number): boolean {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const before = text.slice(lineStart, start).trim();
  return before === '' || before.endsWith('>');
}

function sticky(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

function unknownTool(name: string, toolNames: ReadonlySet<string>): string {
  const known = [...toolNames].sort(compareBytes);
  const shown = known.slice(0, SHOWN_NAMES).join(', ');
  return `Unknown tool \`${name}\`. Known tools: ${shown === '' ? '(none)' : shown}${known.length > SHOWN_NAMES ? ', …' : ''}.`;
}

function outsideTags(name: string): string {
  return `The call of \`${name}\` stood outside <tool_call> tags.`;
}

/** A message of the runtime to the model. */
export function renderFeedback(kind: string, content: string): string {
  return `<runtime_feedback kind="${kind}">\n${content}\n</runtime_feedback>`;
}

/** One result as part of the `tool_results` feedback of a turn. */
export function renderTextResult(name: string, result: string): string {
  return `[result of ${name}]\n${result}\n[end of ${name} result]`;
}

/** The text without calls, tags, reasoning and completion word. */
export function visibleText(text: string, sentinel: string = DEFAULT_SENTINEL): string {
  const visible = text
    .replace(/<(thinking|think)>[\s\S]*?<\/\1>/g, '')
    .replace(/<tool_call>[\s\S]*?(?:<\/tool_call>|$)/g, '')
    .replace(/<done>[\s\S]*?(?:<\/done>|$)/g, '')
    .replace(/<\/?(?:assistant_prose|user_response)>/g, '');
  const stripped = sentinel === '' ? visible : visible.replaceAll(sentinel, '');
  return stripped === text ? text : stripped.trim();
}

/** What the system prompt of a text-grammar loop says about tools and about ending. */
export function renderToolContract(tools: readonly ToolSpec[], sentinel: string | undefined): string {
  const parts = [
    '## How to answer',
    'Write only the following tags at the top level, with nothing but white space between them.',
    '- `<tool_call>NAME({ key: value })</tool_call>` uses one tool. Long texts may be written as `<<END`, the lines, and `END` at the start of a line.',
    '- `<assistant_prose>…</assistant_prose>` is for your notes, `<user_response>…</user_response>` for the final answer.',
    ...(sentinel === undefined ? [] : [`- \`<done>${sentinel}</done>\` ends the work. Write it only when everything is finished.`]),
  ];
  return tools.length === 0 ? parts.join('\n') : `${parts.join('\n')}\n\n${renderToolList(tools)}`;
}

/** Names, descriptions and parameters of tools as text. */
export function renderToolList(tools: readonly ToolSpec[]): string {
  return ['## Available Tools', ...tools.map(renderTool)].join('\n');
}

function renderTool(tool: ToolSpec): string {
  const properties = isJsonObject(tool.parameters.properties) ? tool.parameters.properties : {};
  const required = new Set(Array.isArray(tool.parameters.required) ? tool.parameters.required : []);
  const lines = Object.entries(properties).map(([name, schema]) => {
    const facts = isJsonObject(schema) ? schema : {};
    const description = typeof facts.description === 'string' ? `: ${facts.description}` : '';
    const choices = Array.isArray(facts.enum) ? `, one of ${facts.enum.map((choice) => renderJson(choice)).join(' ')}` : '';
    return `  - ${name} (${String(facts.type ?? 'any')}${required.has(name) ? '' : ', optional'}${choices})${description}`;
  });
  return [`- ${tool.name}: ${tool.description}`, ...lines].join('\n');
}
