import type { Instant } from '../../base/instant.ts';
import type { Palette } from '../../diagnostics/render.ts';
import { listWorkers } from '../../lifecycle/list-workers.ts';
import type { WorkerHead, WorkerListing } from '../../lifecycle/worker-head.ts';
import type { Platform } from '../../platform/platform.ts';
import { INLINE } from '../../runtime/program/project-root.ts';
import { displayPath, locateState } from '../../store/state-root.ts';
import { STATUSES } from '../../store/worker-status.ts';
import { counted } from '../counted.ts';
import { writeEnvelope } from '../envelope.ts';
import { EXIT } from '../exit-codes.ts';
import { paletteFor } from '../palette.ts';
import { UsageError } from '../parse-options.ts';
import { stateRootFor } from '../state-root.ts';
import { type Cell, type Column, renderTable } from '../table.ts';
import { listingJson } from '../worker-json.ts';
import { ageText, nextWakeText, ownerText } from '../worker-text.ts';

type ListOptions = Readonly<Partial<Record<string, string | true>>>;

/** A row with the next tick of its schedule, where it has one. */
interface Row {
  readonly listing: WorkerListing;
  readonly scheduledAt: Instant | undefined;
}

/** `harn workers list`: heads only, whatever else lies in the folder. @returns the exit code */
export async function listCommand(platform: Platform, options: ListOptions): Promise<number> {
  try {
    return await list(platform, options);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { reportFailure } = await import('../command-failure.ts');
    return reportFailure(platform, error, { json: options.json === true });
  }
}

async function list(platform: Platform, options: ListOptions): Promise<number> {
  const locations = locateState(platform.env, stateRootFor(platform, INLINE));
  const found = await withTicks(platform, await listWorkers(platform, locations));
  const rows = sorted(found.filter(filterOf(options)), options.sort);
  const hiddenCount = isUnfiltered(options) ? found.length - rows.length : 0;
  if (options.json === true) {
    const workers = rows.map(({ listing, scheduledAt }) => listingJson(platform, listing, scheduledAt));
    const data = { state_root: locations.workers, workers, hidden: hiddenCount };
    writeEnvelope(platform, { ok: true, data });
    return EXIT.success;
  }
  if (rows.length === 0) {
    platform.stdio.err(`harn: ${nothingShown(hiddenCount, options, displayPath(platform.files.cwd(), locations.workers))}\n`);
    return EXIT.success;
  }
  platform.stdio.out(await table(platform, rows, shortestPrefix(found)));
  for (const note of notes(rows, hiddenCount)) platform.stdio.err(`harn: ${note}\n`);
  return EXIT.success;
}

/** Ticks of schedules need a library, which is loaded only when there is a schedule. */
async function withTicks(platform: Platform, listings: readonly WorkerListing[]): Promise<Row[]> {
  const isScheduled = listings.some((listing) => scheduleOf(listing) !== undefined);
  if (!isScheduled) return listings.map((listing) => ({ listing, scheduledAt: undefined }));
  const { nextTick, scheduleProblem } = await import('../../lifecycle/cron.ts');
  return listings.map((listing) => {
    const schedule = scheduleOf(listing);
    const isUsable = schedule !== undefined && scheduleProblem(schedule) === undefined;
    return { listing, scheduledAt: isUsable ? nextTick(schedule, platform.clock.now()) : undefined };
  });
}

function scheduleOf(listing: WorkerListing): { readonly expression: string; readonly timezone: string | undefined } | undefined {
  const trigger = listing.kind === 'worker' ? listing.suspension?.trigger : undefined;
  if (trigger?.isArmed !== true || trigger.schedule === undefined) return undefined;
  return { expression: trigger.schedule, timezone: trigger.timezone };
}

const WORDS: ReadonlySet<string> = new Set([...STATUSES, 'done', 'closed', 'damaged', 'foreign']);

function filterOf(options: ListOptions): (row: Row) => boolean {
  const states = typeof options.state === 'string' ? statesIn(options.state) : undefined;
  return ({ listing }) => {
    if (options.stuck === true && !isStuck(listing)) return false;
    if (states !== undefined) return wordsOf(listing).some((word) => states.has(word));
    return options.all === true || options.stuck === true || !hasEnded(listing);
  };
}

function statesIn(text: string): ReadonlySet<string> {
  const states = new Set(text.split(',').map((word) => word.trim()));
  for (const state of states) {
    if (!WORDS.has(state)) throw new UsageError(`--state: ${state || 'an empty word'} is no state; there are ${[...WORDS].join(', ')}`);
  }
  return states;
}

function nothingShown(hiddenCount: number, options: ListOptions, folder: string): string {
  if (hiddenCount === 0) return `no ${isUnfiltered(options) ? '' : 'such '}workers in ${folder}`;
  const shows = hiddenCount === 1 ? 'it is done or closed; --all shows it' : 'all are done or closed; --all shows them';
  return `${counted(hiddenCount, 'worker')} in ${folder}: ${shows}`;
}

function isUnfiltered(options: ListOptions): boolean {
  return options.state === undefined && options.stuck === undefined;
}

function wordsOf(listing: WorkerListing): readonly string[] {
  return listing.kind === 'worker' ? [listing.status, listing.lifecycleState] : [listing.kind];
}

function hasEnded(listing: WorkerListing): boolean {
  return listing.kind === 'worker' && (listing.lifecycleState === 'done' || listing.lifecycleState === 'closed');
}

function isStuck(listing: WorkerListing): boolean {
  return listing.kind === 'worker' && listing.suspension?.attendance === 'unattended';
}

/** Rows come in the order of creation, which every other order keeps among equals. */
function sorted(rows: readonly Row[], key: string | true | undefined): Row[] {
  const last = Number.POSITIVE_INFINITY;
  const keys: Readonly<Record<string, (row: Row) => number | string>> = {
    created: () => 0,
    age: ({ listing }) => (listing.kind === 'worker' ? (listing.since ?? last) : last),
    state: ({ listing }) => wordsOf(listing)[0] ?? '',
    wake: (row) => wakeAt(row) ?? last,
  };
  const keyOf = keys[key === undefined ? 'created' : String(key)];
  if (keyOf === undefined) throw new UsageError(`--sort: ${String(key)} is no key; there are ${Object.keys(keys).join(', ')}`);
  return rows.toSorted((a, b) => compare(keyOf(a), keyOf(b)));
}

function compare(a: number | string, b: number | string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function wakeAt({ listing, scheduledAt }: Row): Instant | undefined {
  const deadlineAt = listing.kind === 'worker' ? listing.suspension?.timeout?.deadlineAt : undefined;
  return scheduledAt === undefined || (deadlineAt !== undefined && deadlineAt < scheduledAt) ? deadlineAt : scheduledAt;
}

/** Names are left out on a terminal: most are the same, and the reason needs the room. */
async function table(platform: Platform, rows: readonly Row[], idLength: number): Promise<string> {
  const { stdio } = platform;
  const width = stdio.isTty('stdout') ? stdio.columns() : undefined;
  const palette = await paletteFor(platform, 'stdout');
  const columns: Column[] = [
    { title: 'WORKER', limit: 30 },
    { title: 'STATE' },
    { title: 'AGE' },
    { title: 'OWNER', limit: 14 },
    { title: 'WAKE', limit: 18 },
    ...(width === undefined ? [{ title: 'NAME' }] : []),
    { title: 'REASON' },
  ];
  const cells = rows.map((row) => {
    const { listing } = row;
    const shown =
      listing.kind === 'worker'
        ? workerCells(platform, listing, row, palette, width === undefined ? undefined : idLength)
        : fileCells(listing, palette);
    return width === undefined ? shown : shown.toSpliced(5, 1);
  });
  return renderTable(columns, cells, { width, paintTitle: palette.bold });
}

function workerCells(platform: Platform, head: WorkerHead, { scheduledAt }: Row, palette: Palette, idLength: number | undefined): Cell[] {
  const now = platform.clock.now();
  const isBad = head.status === 'failed' || isStuck(head);
  const paint = isBad ? palette.error : head.status === 'interrupted' ? palette.warning : undefined;
  return [
    { text: head.id.slice(0, idLength) },
    { text: head.status, paint: isStuck(head) ? undefined : paint },
    { text: ageText(head.since, now) },
    { text: ownerText(head, platform.system.hostname) },
    { text: nextWakeText(head, scheduledAt, now), paint: isStuck(head) ? paint : undefined },
    { text: head.name },
    { text: head.reason ?? '' },
  ];
}

function fileCells({ kind, path, problem }: Exclude<WorkerListing, WorkerHead>, palette: Palette): Cell[] {
  const dash = { text: '-' };
  return [
    { text: path.slice(path.lastIndexOf('/') + 1) },
    { text: kind, paint: kind === 'damaged' ? palette.error : palette.warning },
    dash,
    dash,
    dash,
    dash,
    { text: problem },
  ];
}

const SHORTEST = 12;

/** How much of the ids of all workers tells them apart; `--resume` takes such a beginning for the whole id. */
function shortestPrefix(rows: readonly Row[]): number {
  const ids = rows.flatMap(({ listing }) => (listing.kind === 'worker' ? [listing.id] : [])).sort();
  const lengths = ids.map((id, index) => commonLength(id, ids[index + 1] ?? '') + 1);
  return Math.max(SHORTEST, ...lengths);
}

function commonLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
}

function notes(rows: readonly Row[], hiddenCount: number): string[] {
  const stuckCount = rows.filter(({ listing }) => isStuck(listing)).length;
  return [
    ...(stuckCount === 0
      ? []
      : [
          `${counted(stuckCount, 'worker')} ${stuckCount === 1 ? 'waits' : 'wait'} for a process that is gone; harn workers why WORKER says more`,
        ]),
    ...(hiddenCount === 0 ? [] : [`${counted(hiddenCount, 'worker')} not shown, done or closed; --all shows them`]),
  ];
}
