import type { Span } from './span.ts';

/** A mistake in a user's program: a value that is collected, never thrown. */
export interface Diagnostic {
  readonly severity: 'error' | 'warning';
  /** Stage that found it (spec/language.md 11.1). */
  readonly stage: 'lexer' | 'parser' | 'checker' | 'compiler' | 'import' | 'run';
  /** Printed in brackets after the severity, e.g. `HARN-OWN-001`; absent for most. */
  readonly code?: string | undefined;
  /** Word for word as spec/language.md 8.5, 8.7 and 11 give it. */
  readonly message: string;
  /** File the span belongs to, as shown to people. */
  readonly path?: string | undefined;
  readonly span?: Span | undefined;
  /** Short text behind the carets. */
  readonly label?: string | undefined;
  readonly help?: string | undefined;
  readonly notes?: readonly string[] | undefined;
}
