import { dirname } from 'node:path';
import { errorText } from '../base/harn-error.ts';
import type { Platform } from '../platform/platform.ts';
import { readArmers } from '../store/armers.ts';
import { readClosedIds } from '../store/closed-index.ts';
import type { StateLocations } from '../store/state-root.ts';
import { readWorkerFolder, type WorkerFileSet } from '../store/worker-folder.ts';
import type { SeenProcess } from './suspension-head.ts';
import { type FolderFacts, readWorkerHead, type WorkerListing } from './worker-head.ts';

/**
 * Everything that lies in the folder of workers, by name, which for worker ids is the order of their creation. Reads
 * no transcript and throws for no file in it.
 */
export async function listWorkers(platform: Platform, locations: StateLocations): Promise<WorkerListing[]> {
  const { workers, foreign } = readWorkerFolder(platform.files, locations.workers);
  const facts = await folderFacts(platform, locations, workers);
  return [
    ...workers.map((found) => headOrProblem(platform, found, facts)),
    ...foreign.map((path) => ({ kind: 'foreign' as const, path, problem: 'not a file of harn' })),
  ];
}

/** A file that cannot be read at all is a row like any other. */
function headOrProblem(platform: Platform, found: WorkerFileSet, facts: FolderFacts): WorkerListing {
  try {
    return readWorkerHead(platform, found, facts);
  } catch (error) {
    return { kind: 'damaged', path: found.snapshotPath, problem: errorText(error) };
  }
}

export async function folderFacts(platform: Platform, locations: StateLocations, workers: readonly WorkerFileSet[]): Promise<FolderFacts> {
  return {
    armers: readArmers(platform.files, locations.waiters),
    closedIds: closedIds(platform, locations, workers),
    runnerOf: await runnerReader(platform, workers),
  };
}

/** A copy that lies elsewhere was closed when the state root says so (spec/agents.md 13.57). */
function closedIds({ files }: Platform, locations: StateLocations, workers: readonly WorkerFileSet[]): ReadonlySet<string> {
  const folders = new Set([locations.workers, ...workers.map(({ snapshotPath }) => dirname(snapshotPath))]);
  return new Set([...folders].flatMap((folder) => [...readClosedIds(files, folder)]));
}

/** Most folders hold no claim, and the reader of claims brings a library with it. */
async function runnerReader(
  platform: Platform,
  workers: readonly WorkerFileSet[],
): Promise<(snapshotPath: string) => SeenProcess | undefined> {
  if (!workers.some(({ hasClaim }) => hasClaim)) return () => undefined;
  const { claimOwner } = await import('./claim-owner.ts');
  return (snapshotPath) => claimOwner({ ...platform, realClock: platform.clock }, snapshotPath);
}
