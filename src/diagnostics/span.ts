/**
 * A stretch of source text.
 * `start` and `end` are UTF-16 offsets into the source (end exclusive); `line` and `column` are one-based and
 * columns count Unicode scalar values (spec/language.md 1.1).
 */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly column: number;
}

/** The text a span points into. `path` is what messages show. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}
