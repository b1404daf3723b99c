import { isJsonObject, type Json } from '../../base/json.ts';

/** A credential found in a text. Its own text is never part of the finding. */
export interface SecretFinding {
  readonly detector: string;
  readonly title: string;
  /** Both from 1. */
  readonly line: number;
  readonly column: number;
  readonly redacted: string;
}

interface Detector {
  readonly name: string;
  readonly title: string;
  readonly pattern: RegExp;
}

/** Only forms that hardly anything else has: a false alarm in every diff would be ignored like all others. */
const DETECTORS: readonly Detector[] = [
  { name: 'aws_access_key_id', title: 'AWS access key', pattern: /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g },
  { name: 'github_token', title: 'GitHub token', pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})\b/g },
  { name: 'gitlab_token', title: 'GitLab token', pattern: /\bglpat-[A-Za-z0-9_-]{20,}\b/g },
  { name: 'anthropic_api_key', title: 'Anthropic API key', pattern: /\bsk-ant-[A-Za-z0-9_-]{20,}/g },
  { name: 'openai_api_key', title: 'OpenAI API key', pattern: /\bsk-(?!ant-)(?:proj-)?[A-Za-z0-9_-]{20,}/g },
  { name: 'google_api_key', title: 'Google API key', pattern: /\bAIza[0-9A-Za-z_-]{35}/g },
  { name: 'slack_token', title: 'Slack token', pattern: /\bxox[abprs]-[A-Za-z0-9-]{10,}/g },
  { name: 'slack_webhook', title: 'Slack webhook', pattern: /https:\/\/hooks\.slack\.com\/services\/[A-Z0-9]+\/[A-Z0-9]+\/[A-Za-z0-9]+/g },
  { name: 'stripe_secret_key', title: 'Stripe secret key', pattern: /\b[rs]k_live_[A-Za-z0-9]{16,}\b/g },
  { name: 'npm_token', title: 'npm token', pattern: /\bnpm_[A-Za-z0-9]{36}\b/g },
  { name: 'private_key', title: 'Private key', pattern: /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----/g },
  { name: 'jwt', title: 'JSON web token', pattern: /\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/g },
];

const SHOWN = 4;
const REDACTED = '[redacted]';

/** Credentials in a text, in the order they stand in. */
export function scanSecrets(text: string): SecretFinding[] {
  const findings = text.split('\n').flatMap((line, index) =>
    DETECTORS.flatMap(({ name, title, pattern }) =>
      [...line.matchAll(pattern)].map(({ 0: secret, index: at }) => ({
        detector: name,
        title,
        line: index + 1,
        column: [...line.slice(0, at)].length + 1,
        redacted: secret.startsWith('-----') ? secret : `${secret.slice(0, SHOWN)}…[redacted]`,
      })),
    ),
  );
  return findings.sort((a, b) => a.line - b.line || a.column - b.column);
}

/** What every detected form contains: most texts are let through by one look. */
const HINT = /AKIA|ASIA|gh[pousr]_|github_pat_|glpat-|sk-|AIza|xox|hooks\.slack|k_live_|npm_|PRIVATE KEY|eyJ/;
const PRIVATE_KEY_BODY = /-----BEGIN ((?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?)-----[\s\S]*?(?:-----END \1-----|$)/g;

/** The text with `[redacted]` in place of each credential, as results of tools are kept (spec/agents.md 4.7 and 13.2). */
export function redactSecrets(text: string): string {
  if (!HINT.test(text)) return text;
  const withoutKeys = text.replaceAll(PRIVATE_KEY_BODY, REDACTED);
  return DETECTORS.reduce((current, { pattern }) => current.replaceAll(pattern, REDACTED), withoutKeys);
}

/** The same of each string of a value, keys as well: what a result keeps that is not told as one text. */
export function redactJson(value: Json): Json {
  if (typeof value === 'string') return redactSecrets(value);
  if (Array.isArray(value)) return value.map(redactJson);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, part]) => (part === undefined ? [] : [[redactSecrets(key), redactJson(part)]])),
  );
}
