import { ERROR_CODES, type ErrorCode } from '../../base/error-codes.ts';
import { nearestName } from '../../base/near-name.ts';
import { CHECKER_CODES } from '../../language/check-codes.ts';
import type { Platform } from '../../platform/platform.ts';
import { writeEnvelope } from '../envelope.ts';
import { EXIT } from '../exit-codes.ts';
import { UsageError } from '../parse-options.ts';
import { wrapText } from '../wrap.ts';

/** Every code that harn may print: of running agents first, then of the checker. */
export const ALL_CODES: readonly ErrorCode[] = [...ERROR_CODES, ...Object.values(CHECKER_CODES)];

export interface ExplainOptions {
  readonly json?: boolean;
}

/** `harn explain CODE`: what a code means and what to do; without a code the list of all. @returns the exit code */
export function explainCommand(platform: Platform, code: string | undefined, options: ExplainOptions): number {
  const entries = code === undefined ? ALL_CODES : [entryOf(code)];
  if (options.json === true) writeEnvelope(platform, { ok: true, data: { codes: entries.map((entry) => ({ ...entry })) } });
  else platform.stdio.out(code === undefined ? listOfCodes() : entries.map(explanation).join(''));
  return EXIT.success;
}

/** However it is written: in any case, and without the word that all codes begin with. */
function entryOf(text: string): ErrorCode {
  const code = text.toUpperCase().replace(/^(?!HARN-)/, 'HARN-');
  const entry = ALL_CODES.find((known) => known.code === code);
  if (entry !== undefined) return entry;
  throw new UsageError(`there is no code ${text}; ${nearCodes(text)}harn explain lists them all`);
}

/** `sus-6` is HARN-SUS-006; of letters alone, or of a number that is not there, all codes of the family are near. */
function nearCodes(code: string): string {
  const [, family, number] = /^(?:HARN[-_ ]?)?([A-Z]{3})[-_ ]?0*(\d*)$/.exec(code.toUpperCase()) ?? [];
  const codes = ALL_CODES.map((known) => known.code);
  const members = codes.filter((known) => known.split('-')[1] === family);
  const near = members.find((known) => Number(known.slice(-3)) === Number(number)) ?? nearestName(code.toUpperCase(), codes);
  if (number !== '' && near !== undefined) return `did you mean ${near}? `;
  return members.length === 0 ? '' : `there are ${members.join(', ')}; `;
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
