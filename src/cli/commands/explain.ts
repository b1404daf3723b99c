import { ERROR_CODES, type ErrorCode } from '../../base/error-codes.ts';
import { CHECKER_CODES } from '../../language/check-codes.ts';
import type { Platform } from '../../platform/platform.ts';
import { EXIT } from '../exit-codes.ts';
import { UsageError } from '../parse-options.ts';
import { wrapText } from '../wrap.ts';

/** Every code that harn may print: of running agents first, then of the checker. */
export const ALL_CODES: readonly ErrorCode[] = [...ERROR_CODES, ...Object.values(CHECKER_CODES)];

export interface ExplainOptions {
  readonly json?: boolean;
}

/** `harn explain CODE`: what a code means and what to do; without a code the list of all. @returns the exit code */
export function explainCommand({ stdio }: Platform, code: string | undefined, options: ExplainOptions): number {
  if (code === undefined) {
    stdio.out(options.json === true ? `${JSON.stringify(ALL_CODES)}\n` : listOfCodes());
    return EXIT.success;
  }
  const entry = ALL_CODES.find((known) => known.code === code.toUpperCase());
  if (entry === undefined) throw new UsageError(`there is no code ${code}; harn explain lists them all`);
  stdio.out(options.json === true ? `${JSON.stringify(entry)}\n` : explanation(entry));
  return EXIT.success;
}

function listOfCodes(): string {
  return ALL_CODES.map(({ code, title }) => `${code}  ${title}\n`).join('');
}

function fieldLine(field: string): string {
  return wrapText(field, { first: '  ', rest: '    ' });
}

const PARAGRAPH = { first: '', rest: '  ' };

const RETRY: Readonly<Record<ErrorCode['retry'], string>> = {
  never: 'Trying the same again does not help.',
  later: 'Trying again later can help.',
};

function explanation({ code, title, text, cause, fields, example, fix, retry }: ErrorCode): string {
  return [
    `${code}: ${title}`,
    '',
    `  ${text}`,
    '',
    wrapText(`Why: ${cause}`, PARAGRAPH),
    wrapText(`What to do: ${fix} ${RETRY[retry]}`, PARAGRAPH),
    ...(fields === undefined ? [] : [`Fields of the error, beside code and message:\n${fields.map(fieldLine).join('')}`]),
    'How to get it:',
    '',
    ...example.split('\n').map((line) => `  ${line}`),
    '',
  ].join('\n');
}
