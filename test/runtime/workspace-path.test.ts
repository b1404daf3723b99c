import { expect, test } from 'vitest';
import { createNodePlatform } from '../../src/platform/node-platform.ts';
import { classifyPath } from '../../src/runtime/workspace-path.ts';

const ROOT = '/w/space';
const PRESENT = new Set(['/w/space/src/a.ts', '/etc/hosts']);
const files = Object.assign(Object.create(createNodePlatform().files), { exists: (path: string) => PRESENT.has(path) }) as ReturnType<
  typeof createNodePlatform
>['files'];

const ROWS: readonly (readonly [path: string, found: object])[] = [
  ['src/./b.ts', { kind: 'workspace_relative', workspacePath: 'src/b.ts', recoveredRootDrift: false }],
  ['src\\b.ts', { kind: 'workspace_relative', workspacePath: 'src/b.ts' }],
  ['a/../..', { kind: 'invalid', reason: 'the path leaves the workspace' }],
  ['..a/b', { kind: 'workspace_relative', workspacePath: '..a/b' }],
  ['  ', { kind: 'invalid', reason: 'the path is empty' }],
  ['/w/space/x', { kind: 'host_absolute', workspacePath: 'x' }],
  ['/w/spaces/x', { kind: 'host_absolute', workspacePath: undefined }],
  ['/src/a.ts', { kind: 'workspace_relative', workspacePath: 'src/a.ts', recoveredRootDrift: true }],
  ['/etc/hosts', { kind: 'host_absolute', workspacePath: undefined }],
  ['/nowhere', { kind: 'host_absolute', workspacePath: undefined }],
];

test.each(ROWS)('%j in a workspace', (path, found) => {
  expect(classifyPath(files, ROOT, path)).toMatchObject(found);
});
