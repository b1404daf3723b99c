/**
 * Text that is not yet broken into lines: the algebra of Wadler ("A prettier printer") with what a formatter needs
 * besides. A printer says where lines may end and which of them end together (a group); the renderer then breaks the
 * outermost groups that do not fit, and only those.
 *
 * - A group is laid flat when it fits, else all of its own lines end.
 * - A choice takes its first form when that fits up to the first line it must end anyway, else the second; this is how
 *   a closure as last argument stays on the line of its call.
 * - A comment that ends its line has no width: it never pushes code onto a second line.
 */
export type Layout = string | readonly Layout[] | Line | Group | Indented | IfBroken | Choice | Verbatim | Trailing;

interface Line {
  readonly kind: 'line';
  /** What it is when its group is flat; `hard` always ends the line. */
  readonly flat: '' | ' ' | 'hard';
}

export interface Group {
  readonly kind: 'group';
  readonly content: Layout;
  readonly isBroken: boolean;
}

interface Indented {
  readonly kind: 'indented';
  readonly content: Layout;
}

interface IfBroken {
  readonly kind: 'if-broken';
  readonly broken: string;
  readonly flat: string;
}

interface Choice {
  readonly kind: 'choice';
  readonly first: Layout;
  readonly second: Layout;
}

/** Text with line ends of its own, which stay as they are. */
interface Verbatim {
  readonly kind: 'verbatim';
  readonly text: string;
}

interface Trailing {
  readonly kind: 'trailing';
  readonly text: string;
  /** A comment that runs to the end of the line ends the lines of its group. */
  readonly endsLine: boolean;
}

export const line: Line = { kind: 'line', flat: ' ' };
export const softLine: Line = { kind: 'line', flat: '' };
export const hardLine: Line = { kind: 'line', flat: 'hard' };

export function group(content: Layout, options: { readonly isBroken?: boolean } = {}): Group {
  return { kind: 'group', content, isBroken: options.isBroken === true || mustBreak(content) };
}

export function indented(content: Layout): Layout {
  return { kind: 'indented', content };
}

export function ifBroken(broken: string, flat = ''): Layout {
  return { kind: 'if-broken', broken, flat };
}

export function choice(first: Layout, second: Layout): Layout {
  return { kind: 'choice', first, second };
}

export function verbatim(text: string): Layout {
  return text.includes('\n') ? { kind: 'verbatim', text } : text;
}

export function trailing(text: string, options: { readonly endsLine: boolean }): Layout {
  return { kind: 'trailing', text, endsLine: options.endsLine };
}

export function joined(parts: readonly Layout[], separator: Layout): Layout {
  return parts.flatMap((part, index) => (index === 0 ? [part] : [separator, part]));
}

export function isGroup(layout: Layout): layout is Group {
  return typeof layout === 'object' && 'kind' in layout && layout.kind === 'group';
}

export function isChoice(layout: Layout): layout is Choice {
  return typeof layout === 'object' && 'kind' in layout && layout.kind === 'choice';
}

/** Does it hold a line that always ends? A choice settles that within itself. */
export function mustBreak(layout: Layout): boolean {
  if (typeof layout === 'string') return false;
  if (!('kind' in layout)) return layout.some(mustBreak);
  switch (layout.kind) {
    case 'line':
      return layout.flat === 'hard';
    case 'group':
      return layout.isBroken;
    case 'indented':
      return mustBreak(layout.content);
    case 'trailing':
      return layout.endsLine;
    default:
      return false;
  }
}

interface Command {
  readonly layout: Layout;
  readonly indent: number;
  readonly mode: 'flat' | 'broken';
}

const INDENT = 2;

/** Lines of at most `width` code units where that is possible. Lines carry no blanks at their end. */
export function renderLayout(layout: Layout, width: number): string {
  let out = '';
  let column = 0;
  /** Indent owed to the current line, written before its first text. */
  let owed = 0;
  const write = (text: string): void => {
    if (text === '') return;
    out += ' '.repeat(owed) + text;
    owed = 0;
    const lineEnd = text.lastIndexOf('\n');
    column = lineEnd === -1 ? column + text.length : text.length - lineEnd - 1;
  };
  const stack: Command[] = [{ layout, indent: 0, mode: 'broken' }];
  for (let command = stack.pop(); command !== undefined; command = stack.pop()) {
    const { layout: current, indent, mode } = command;
    if (typeof current === 'string') {
      write(current);
    } else if (!('kind' in current)) {
      for (let index = current.length - 1; index >= 0; index--) stack.push({ layout: current[index] ?? '', indent, mode });
    } else if (current.kind === 'line') {
      if (mode === 'flat' && current.flat !== 'hard') {
        write(current.flat);
      } else {
        out += '\n';
        owed = indent;
        column = indent;
      }
    } else if (current.kind === 'group') {
      const flat = { layout: current.content, indent, mode: 'flat' as const };
      const isFlat = !current.isBroken && (mode === 'flat' || fits(flat, stack, width - column));
      stack.push(isFlat ? flat : { ...flat, mode: 'broken' });
    } else if (current.kind === 'choice') {
      const takesFirst = mode === 'flat' || fits({ layout: current.first, indent, mode: 'flat' }, stack, width - column);
      stack.push({ layout: takesFirst ? current.first : current.second, indent, mode });
    } else if (current.kind === 'indented') {
      stack.push({ layout: current.content, indent: indent + INDENT, mode });
    } else {
      write(current.kind === 'if-broken' ? current[mode] : current.text);
    }
  }
  return out;
}

/** Does what comes next fit up to the first line that ends? `rest` is what follows it, the nearest last. */
function fits(next: Command, rest: readonly Command[], room: number): boolean {
  const stack: Command[] = [next];
  let below = rest.length;
  let left = room;
  while (left >= 0) {
    const command = stack.pop() ?? rest[--below];
    if (command === undefined) return true;
    const { layout, indent, mode } = command;
    if (typeof layout === 'string') {
      left -= layout.length;
    } else if (!('kind' in layout)) {
      for (let index = layout.length - 1; index >= 0; index--) stack.push({ layout: layout[index] ?? '', indent, mode });
    } else if (layout.kind === 'line') {
      if (mode === 'broken' || layout.flat === 'hard') return true;
      left -= layout.flat.length;
    } else if (layout.kind === 'group') {
      stack.push({ layout: layout.content, indent, mode: layout.isBroken ? 'broken' : mode });
    } else if (layout.kind === 'choice') {
      stack.push({ layout: layout.first, indent, mode });
    } else if (layout.kind === 'indented') {
      stack.push({ layout: layout.content, indent, mode });
    } else if (layout.kind === 'verbatim') {
      return left >= layout.text.indexOf('\n');
    } else if (layout.kind === 'if-broken') {
      left -= layout[mode].length;
    } else if (layout.endsLine) {
      return true;
    } else {
      left -= layout.text.length;
    }
  }
  return false;
}
