import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Span } from '../../src/diagnostics/span.ts';
import { formatSource } from '../../src/language/format.ts';
import { lex } from '../../src/language/lexer.ts';
import { parse } from '../../src/language/parser.ts';
import { forEachChild, type TreeNode } from '../../src/language/walk.ts';
import { outline } from './outline.ts';
import { commentedProgram, plainProgram } from './program-generator.ts';

const RUNS = { numRuns: 300 };

function messages(text: string): string[] {
  return parse({ path: 'test.harn', text }).diagnostics.map(({ message }) => message);
}

function comments(text: string): string[] {
  return lex(text).comments.map(({ start, end }) => text.slice(start, end).trimEnd());
}

function format(text: string): string {
  const result = formatSource(text);
  return result.kind === 'formatted' ? result.text : `rejected: ${result.diagnostics[0]?.message}`;
}

/** A program with a stretch of it replaced. */
const damagedProgram = fc
  .tuple(commentedProgram, fc.nat(), fc.nat(30), fc.string({ unit: fc.constantFrom(...'{}()[]<>|?.,:;"$\\\n =-@/*xif1'), maxLength: 6 }))
  .map(([text, at, length, patch]) => {
    const start = text.length === 0 ? 0 : at % text.length;
    return text.slice(0, start) + patch + text.slice(start + length);
  });

test('tokens, comments and blanks tile the text', () => {
  fc.assert(
    fc.property(fc.oneof(commentedProgram, damagedProgram), (text) => {
      const { tokens, comments: found, error } = lex(text);
      fc.pre(error === undefined);
      let end = 0;
      for (const span of [...tokens, ...found].sort((a: Span, b: Span) => a.start - b.start || a.end - b.end)) {
        expect(text.slice(end, span.start)).toMatch(/^(?:[ \t\r]|\\\n)*$/);
        end = span.end;
      }
      expect(end).toBe(text.length);
    }),
    RUNS,
  );
});

test('programs of the grammar read without a mistake', () => {
  fc.assert(
    fc.property(commentedProgram, (text) => {
      expect(messages(text)).toEqual([]);
    }),
    RUNS,
  );
});

test('the span of a node holds the spans of its parts', () => {
  const check = (node: TreeNode): void =>
    forEachChild(node, (child) => {
      expect(child.span.start).toBeGreaterThanOrEqual(node.span.start);
      expect(child.span.end).toBeLessThanOrEqual(node.span.end);
      check(child);
    });
  fc.assert(
    fc.property(plainProgram, (text) => {
      for (const item of parse({ path: 'test.harn', text }).program.items) check(item);
    }),
    RUNS,
  );
});

test('lexer and parser never throw', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' }), damagedProgram), (text) => {
      expect(() => parse({ path: 'test.harn', text })).not.toThrow();
    }),
    { numRuns: 1_000 },
  );
});

test('nor do they on arbitrary bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
      expect(() => parse({ path: 'test.harn', text: new TextDecoder().decode(bytes) })).not.toThrow();
    }),
    { numRuns: 500 },
  );
});

test('what was formatted reads as the same tree, with the same comments, and stays as it is', () => {
  fc.assert(
    fc.property(commentedProgram, (text) => {
      const formatted = format(text);
      expect(outline(formatted)).toBe(outline(text));
      expect(comments(formatted)).toEqual(comments(text));
      expect(format(formatted)).toBe(formatted);
    }),
    RUNS,
  );
});

test('the formatter never throws, and refuses exactly what does not read', () => {
  fc.assert(
    fc.property(damagedProgram, (text) => {
      expect(formatSource(text).kind).toBe(messages(text).length === 0 ? 'formatted' : 'rejected');
    }),
    RUNS,
  );
});
