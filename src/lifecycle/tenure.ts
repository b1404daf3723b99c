import { errorText } from '../base/harn-error.ts';
import type { JsonObject } from '../base/json.ts';
import { isJsonObject } from '../base/json.ts';
import type { Files } from '../platform/platform.ts';
import { removeDurably, unlinkIfPresent } from '../store/atomic-file.ts';
import { type Claim, claimPathOf, readClaim } from '../store/claim-file.ts';
import { type JournalWriter, journalPathOf, readJournal, readJournalOpen } from '../store/journal-file.ts';
import { readSnapshotHead } from '../store/snapshot-head.ts';
import { fencedError } from './sus-errors.ts';

/**
 * The ownership of a worker by this process during one activation: its claim, its journal and its generation
 * (spec/agents.md 5.14). A paused process may have lost all three without knowing, so every write asks first.
 */
export class Tenure {
  readonly workerId: string;
  readonly snapshotPath: string;
  readonly generation: number;
  readonly suspensionId: string | null;
  /** Undefined in a directory that cannot be written: such a worker runs without durability. */
  readonly claim: Claim | undefined;
  readonly #files: Files;
  readonly #abort = new AbortController();
  #journal: JournalWriter | undefined;
  /** Says when a record could not be written: from then on only parks and ends are durable. */
  readonly #onReduced: (text: string) => void;
  readonly #onlyParks: boolean;
  isOver = false;

  constructor(options: {
    readonly files: Files;
    readonly workerId: string;
    readonly snapshotPath: string;
    readonly generation: number;
    readonly suspensionId: string | null;
    readonly claim: Claim | undefined;
    readonly journal: JournalWriter | undefined;
    /** `durability: "park"` and `persist_state: false`. */
    readonly onlyParks: boolean;
    readonly onReduced: (text: string) => void;
  }) {
    this.#files = options.files;
    this.workerId = options.workerId;
    this.snapshotPath = options.snapshotPath;
    this.generation = options.generation;
    this.suspensionId = options.suspensionId;
    this.claim = options.claim;
    this.#journal = options.journal;
    this.#onlyParks = options.onlyParks;
    this.#onReduced = options.onReduced;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get recordCount(): number {
    return this.#journal?.recordCount ?? 0;
  }

  abort(reason: Error): void {
    this.#abort.abort(reason);
  }

  /**
   * Makes sure that nobody has taken over.
   * @throws HarnError `HARN-SUS-006` for an owner that was replaced
   */
  assertOwner(): void {
    if (this.claim === undefined || this.claim.isHeld()) return;
    const found = generationOnDisk(this.#files, this.snapshotPath);
    if (found > this.generation) throw fencedError(this.workerId, this.generation, found, this.suspensionId);
  }

  /**
   * Appends one record to the journal; it is on disk when this returns. A disk that refuses is reported once and
   * does not stop the loop.
   * @throws HarnError `HARN-SUS-006` for an owner that was replaced
   */
  append(record: JsonObject): void {
    this.assertOwner();
    if (this.#journal === undefined || this.#onlyParks) return;
    try {
      this.#journal.append(record);
    } catch (error) {
      this.#journal.close();
      this.#journal = undefined;
      this.#onReduced(`harn: the journal cannot be written (${errorText(error)}); from now on only parks and ends are durable`);
    }
  }

  /** What was recorded so far, read back from the disk. */
  readRecords(): readonly JsonObject[] {
    if (this.#journal === undefined) return [];
    const path = journalPathOf(this.snapshotPath);
    return readJournal(this.#files, path, { target: this.workerId, path })?.records ?? [];
  }

  /**
   * Removes the journal: all that it held is in the snapshot now. The removal itself need not be durable, since a journal
   * that came back after a power cut is of no higher generation and does not count (spec/agents.md 4.7).
   */
  dropJournal(): void {
    this.#closeJournal();
    unlinkIfPresent(this.#files, journalPathOf(this.snapshotPath));
  }

  #closeJournal(): void {
    this.#journal?.close();
    this.#journal = undefined;
  }

  /** Ends the ownership: what the journal held is in the snapshot now. */
  finish(): void {
    this.isOver = true;
    this.dropJournal();
    this.claim?.release();
  }

  /**
   * Ends the activation of a worker that waits for its next cycle. The claim stays: only this process can start that
   * cycle, and others see by the claim whether it still lives (decision 018).
   */
  rest(): Claim | undefined {
    this.isOver = true;
    this.dropJournal();
    return this.claim;
  }

  /** Ends the ownership of a worker that leaves no snapshot: its journal alone would be an interrupted one. */
  finishWithoutSnapshot(): void {
    this.isOver = true;
    this.#closeJournal();
    removeDurably(this.#files, journalPathOf(this.snapshotPath));
    this.claim?.release();
  }

  /** Ends the ownership without touching a file: they belong to the new owner, or tell a recovery what was done. */
  abandon(): void {
    this.isOver = true;
    this.#closeJournal();
    this.claim?.release();
  }
}

/** The highest generation that claim, journal and snapshot know of. */
function generationOnDisk(files: Files, snapshotPath: string): number {
  return Math.max(standOnDisk(files, snapshotPath).generation, readClaim(files, claimPathOf(snapshotPath))?.generation ?? 0);
}

/** What a cheap look at snapshot and journal says, to see whether anything changed since they were read. */
export interface StandOnDisk {
  readonly exists: boolean;
  readonly generation: number;
  readonly status: string | undefined;
  readonly suspensionId: string | undefined;
  /** Names the journal that counts; undefined without one. */
  readonly journalToken: string | undefined;
}

export function standOnDisk(files: Files, snapshotPath: string): StandOnDisk {
  const head = readSnapshotHead(files, snapshotPath, ['status', 'resume', 'suspension']);
  const open = readJournalOpen(files, journalPathOf(snapshotPath));
  const inSnapshot = isJsonObject(head?.resume) && typeof head.resume.generation === 'number' ? head.resume.generation : 0;
  return {
    exists: head !== undefined || open !== undefined,
    generation: Math.max(inSnapshot, open?.generation ?? 0),
    journalToken: open !== undefined && open.generation > inSnapshot ? open.claim_token : undefined,
    status: typeof head?.status === 'string' ? head.status : undefined,
    suspensionId:
      isJsonObject(head?.suspension) && typeof head.suspension.suspension_id === 'string' ? head.suspension.suspension_id : undefined,
  };
}
