import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A `harn` block of a page, with what it must print when a `text` block follows it. */
export interface Example {
  readonly page: string;
  /** One-based line of the opening fence. */
  readonly line: number;
  readonly source: string;
  /** Undefined when the page does not show the output: the program only has to run. */
  readonly output: string | undefined;
  /** True for ` ```harn error `: the program must fail, and `output` is what standard error must hold. */
  readonly mustFail: boolean;
}

interface Block {
  readonly line: number;
  readonly info: string;
  readonly text: string;
  /** Lines of prose between the block before it and this one. */
  readonly gap: number;
}

/** All fenced blocks of a page that start at the margin. */
function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  const lines = markdown.split('\n');
  let lastEnd = -1;
  for (let index = 0; index < lines.length; index++) {
    const fence = /^```(.*)$/.exec(lines[index] ?? '');
    if (!fence) continue;
    const start = index;
    while (++index < lines.length && lines[index] !== '```') {}
    const gap = lines.slice(lastEnd + 1, start).filter((line) => line.trim() !== '').length;
    blocks.push({ line: start + 1, info: (fence[1] ?? '').trim(), text: lines.slice(start + 1, index).join('\n'), gap });
    lastEnd = index;
  }
  return blocks;
}

/** The `harn` blocks of a page; a `text` block directly behind one (no prose between) is its output. */
export function examplesOf(page: string, markdown: string): Example[] {
  const blocks = blocksOf(markdown);
  return blocks.flatMap((block, index) => {
    const [language, ...flags] = block.info.split(' ');
    if (language !== 'harn') return [];
    const next = blocks[index + 1];
    const output = next?.info === 'text' && next.gap === 0 ? next.text : undefined;
    return [{ page, line: block.line, source: `${block.text}\n`, output, mustFail: flags.includes('error') }];
  });
}

/** Pages whose examples are promises to users: the README and everything under docs but the decision records. */
export function pages(root: string): string[] {
  const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.startsWith('decisions'))
    .map((name) => join('docs', name));
  return ['README.md', ...docs.sort()];
}

export function readExamples(root: string): Example[] {
  return pages(root).flatMap((page) => examplesOf(page, readFileSync(join(root, page), 'utf8')));
}
