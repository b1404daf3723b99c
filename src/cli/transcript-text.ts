import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { cellsOf } from '../diagnostics/cell-width.ts';
import type { Palette } from '../diagnostics/render.ts';
import { counted } from './counted.ts';

/**
 * A transcript for people: one block a message, with its calls and results. Long texts are cut to their beginning
 * unless everything is asked for. The messages come from a file that may be of any age or damaged in part, so nothing
 * is taken for granted about them.
 */
export interface TranscriptStyle {
  /** Of the first message; one-based. */
  readonly firstNumber: number;
  readonly palette: Palette;
  readonly isFull: boolean;
}

const SHOWN_LINES = 8;
const SHOWN_CHARACTERS = 600;
const ARGUMENT_CHARACTERS = 160;

export function renderMessages(messages: readonly Json[], style: TranscriptStyle): string {
  return messages.map((message, index) => renderMessage(message, style.firstNumber + index, style)).join('');
}

function renderMessage(message: Json, number: number, style: TranscriptStyle): string {
  const { palette } = style;
  if (!isJsonObject(message)) return `\n${palette.warning(`-- ${number} not a message`)}\n`;
  const lines = [...contentLines(message.content, style), ...callLines(message.tool_calls, style)];
  return `\n${palette.bold(`-- ${number} ${titleOf(message)}`)}\n${lines.map((line) => `${line}\n`).join('')}`;
}

function titleOf({ role, name, tool_call_id }: JsonObject): string {
  const who = typeof role === 'string' ? role : 'unknown';
  const tool = typeof name === 'string' ? ` ${name}` : '';
  const call = typeof tool_call_id === 'string' ? ` (${tool_call_id})` : '';
  return visible(`${who}${tool}${call}`);
}

function contentLines(content: Json | undefined, style: TranscriptStyle): string[] {
  if (typeof content === 'string') return textLines(content, style);
  return Array.isArray(content) ? content.flatMap((block) => blockLines(block, style)) : [];
}

function blockLines(block: Json, style: TranscriptStyle): string[] {
  if (!isJsonObject(block)) return [];
  switch (block.type) {
    case 'text':
      return textLines(asText(block.text), style);
    case 'reasoning':
      return ['[reasoning]', ...textLines(asText(block.text), style)];
    case 'image':
      return [`[image ${asText(block.media_type)}${block.url === undefined ? '' : ` ${asText(block.url)}`}]`];
    case 'tool_use':
      return [callLine(asText(block.name), block.input, block.id, style)];
    case 'tool_result':
      return [`[result of ${asText(block.tool_use_id)}]`, ...contentLines(block.content, style)];
    default:
      return [`[${asText(block.type)}]`];
  }
}

function callLines(calls: Json | undefined, style: TranscriptStyle): string[] {
  if (!Array.isArray(calls)) return [];
  return calls.filter(isJsonObject).map(({ id, name, arguments: given }) => callLine(asText(name), given, id, style));
}

function callLine(name: string, given: Json | undefined, id: Json | undefined, { isFull, palette }: TranscriptStyle): string {
  const text = isJsonObject(given)
    ? Object.entries(given)
        .map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
        .join(', ')
    : asText(given);
  const shown = isFull ? text : cut(text, ARGUMENT_CHARACTERS);
  return `${palette.gutter('->')} ${visible(`${name}(${shown})`)}${typeof id === 'string' ? palette.gutter(` ${visible(id)}`) : ''}`;
}

function textLines(text: string, { isFull, palette }: TranscriptStyle): string[] {
  if (text.trim() === '') return [];
  const lines = text.trimEnd().split(/\r?\n/).map(visible);
  if (isFull) return lines;
  const kept: string[] = [];
  let characters = 0;
  for (const line of lines) {
    if (kept.length === SHOWN_LINES || characters >= SHOWN_CHARACTERS) break;
    const shown = cut(line, SHOWN_CHARACTERS - characters);
    characters += cellsOf(line);
    kept.push(shown);
  }
  const left = lines.length - kept.length;
  return left === 0 ? kept : [...kept, palette.gutter(`[${counted(left, 'more line')}; --full shows everything]`)];
}

function cut(text: string, limit: number): string {
  const characters = [...text];
  if (characters.length <= limit) return text;
  return `${characters.slice(0, limit).join('')}… [${characters.length - limit} more characters]`;
}

/** Without characters that a terminal would act on; a tab stays. */
function visible(line: string): string {
  return line.replaceAll(/[^\P{Cc}\t]|[\u202a-\u202e\u2066-\u2069]/gu, '');
}

function asText(value: Json | undefined): string {
  return typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);
}
