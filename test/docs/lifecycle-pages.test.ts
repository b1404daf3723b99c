import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ERROR_CODES } from '../../src/base/error-codes.ts';
import { examplesOf, pages } from './examples.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const LIFECYCLE = 'docs/src/agent-lifecycle.md';
const EDITOR = 'docs/src/protocol-contributions/acp-session-suspend.md';
const AGENTS = 'docs/src/protocol-contributions/a2a-paused-state.md';
const PAGES = [LIFECYCLE, EDITOR, AGENTS];

const read = (page: string): string => readFileSync(join(ROOT, page), 'utf8');
const linksOf = (page: string): string[] =>
  [...read(page).matchAll(/\]\(([^)#:]+)\)/g)].map(([, target]) => normalize(join(dirname(page), String(target))));

describe('the pages on the life of an agent', () => {
  it.each(PAGES)('R95: %s exists and is linked with the two others', (page) => {
    expect(existsSync(join(ROOT, page))).toBe(true);
    expect(linksOf(page)).toEqual(expect.arrayContaining(PAGES.filter((other) => other !== page)));
    for (const target of linksOf(page)) expect(existsSync(join(ROOT, target)), target).toBe(true);
  });

  it('R95: their examples are among those that run (examples.test.ts), and each page has some', () => {
    for (const page of PAGES) {
      expect(pages(ROOT)).toContain(page);
      expect(examplesOf(page, read(page)).length).toBeGreaterThan(0);
    }
  });

  it('R95: every code of the lifecycle is on the first page', () => {
    const codes = ERROR_CODES.map(({ code }) => code).filter((code) => code.startsWith('HARN-SUS-'));
    expect(codes).toHaveLength(10);
    for (const code of codes) expect(read(LIFECYCLE)).toContain(`| ${code} |`);
  });

  const SHAPES: readonly (readonly [string, readonly string[]])[] = [
    [
      EDITOR,
      [
        'session/suspend', 'session/await_resumption', 'session/resume', 'session/update', 'finish_step', 'wait_for_completion',
        'interrupt_immediate', 'resumeWhen', 'suspendedAt', 'continueTranscript', 'hadResumeInput', 'explicit_resume', 'condition_fired',
        'external_event', 'resumedAt', 'supportsSuspend', 'supportsAwaitResumption', 'resumeCauses', '_meta.harn.suspend',
      ],
    ],
    [
      AGENTS,
      [
        'initiatedBy', 'pausedAt', 'pausedUntil', 'resumeToken', 'resumable', 'conditions', 'resumeMode', 'input-required', 'cancelled',
        'previousState', 'hadResumeInput', 'resumedAt', 'metadata.harn.suspend',
      ],
    ],
  ]; // biome-ignore format: lists to be scanned
  it.each(SHAPES)('R95: %s names every part of the proposal', (page, words) => {
    for (const word of words) expect(read(page), word).toContain(word);
  });
});
