import { basename } from 'node:path';
import type { Palette } from '../../diagnostics/render.ts';
import { snapshotPathOfTarget } from '../../lifecycle/resume-subject.ts';
import type { Platform } from '../../platform/platform.ts';
import { operatorTarget } from '../../runtime/agents/agent-resume.ts';
import { type Finding, findingJson, type Verified, verifyWorker } from '../../runtime/agents/verify-worker.ts';
import { displayPath } from '../../store/state-root.ts';
import { readWorkerFolder, type WorkerFileSet, workerFileSet } from '../../store/worker-folder.ts';
import { counted } from '../counted.ts';
import { EXIT } from '../exit-codes.ts';
import { type Operator, runAsOperator } from '../operator.ts';
import { paletteFor } from '../palette.ts';
import { printable } from '../table.ts';
import { wrapText } from '../wrap.ts';

export interface VerifyOptions {
  readonly json?: string | true | undefined;
  readonly quiet?: string | true | undefined;
}

interface Report extends Verified {
  readonly path: string;
}

/** `harn workers verify`: the files of some workers, or of all. @returns the exit code: 1 when there is an error */
export function verifyCommand(platform: Platform, workers: readonly string[], options: VerifyOptions): Promise<number> {
  return runAsOperator(platform, options, async (operator) => {
    const reports = workers.length === 0 ? await verifyFolder(operator) : await verifyNamed(operator, workers);
    const palette = await paletteFor(platform, 'stdout');
    const counts = {
      checked: reports.length,
      with_errors: reports.filter((report) => worst(report) === 'error').length,
      with_warnings: reports.filter((report) => worst(report) === 'warning').length,
    };
    const isSound = counts.with_errors === 0;
    return {
      exitCode: isSound ? EXIT.success : EXIT.failure,
      text: reports.map((report) => reportText(report, options.quiet === true, palette)).join(''),
      notes: `${counted(counts.checked, 'file')} checked: ${counts.with_errors} with errors, ${counts.with_warnings} with warnings\n`,
      data: { ...counts, workers: reports.map((report) => reportJson(operator, report)) },
      error: isSound ? undefined : { code: 'verify', message: `${counted(counts.with_errors, 'file')} with errors`, details: {} },
    };
  });
}

async function verifyFolder(operator: Operator): Promise<Report[]> {
  const folder = readWorkerFolder(operator.platform.files, operator.lifecycle.locations.workers);
  const reports = await verifyAll(operator, folder.workers);
  const foreign = folder.foreign.map(
    (path): Report => ({
      path,
      id: undefined,
      status: undefined,
      findings: [{ severity: 'warning', check: 'snapshot', message: 'not a file of harn; it can be moved away' }],
    }),
  );
  return [...reports, ...foreign];
}

function verifyNamed(operator: Operator, workers: readonly string[]): Promise<Report[]> {
  const sets = workers.map((worker) => namedFiles(operator, worker));
  return verifyAll(operator, sets);
}

/** A file that is too damaged to name its worker can still be named by its path. */
function namedFiles({ platform, host, lifecycle }: Operator, worker: string): WorkerFileSet {
  return workerFileSet(platform.files, snapshotPathOfTarget(lifecycle, operatorTarget(host, worker)));
}

async function verifyAll({ host }: Operator, sets: readonly WorkerFileSet[]): Promise<Report[]> {
  const reports: Report[] = [];
  for (const found of sets) reports.push({ ...(await verifyWorker(host, found)), path: found.snapshotPath });
  return reports;
}

function worst({ findings }: Verified): Finding['severity'] | undefined {
  return (['error', 'warning', 'note'] as const).find((severity) => findings.some((finding) => finding.severity === severity));
}

function reportText(report: Report, isQuiet: boolean, palette: Palette): string {
  const grade = worst(report);
  if (isQuiet && grade !== 'error' && grade !== 'warning') return '';
  const paint = { error: palette.error, warning: palette.warning, note: palette.gutter };
  const mild = report.id === undefined ? 'foreign' : 'usable';
  const verdict = grade === 'error' ? palette.error('damaged') : grade === 'warning' ? palette.warning(mild) : 'ok';
  const lines = report.findings.map(({ severity, check, message }) =>
    wrapText(`${paint[severity](severity)} ${check}: ${printable(message)}`, { first: '  ', rest: '    ' }),
  );
  return `${report.id ?? basename(report.path)} ${verdict}${report.status === undefined ? '' : ` (${report.status})`}\n${lines.join('')}`;
}

function reportJson({ platform }: Operator, report: Report) {
  return {
    id: report.id ?? null,
    path: displayPath(platform.files.cwd(), report.path),
    status: report.status ?? null,
    ok: worst(report) !== 'error',
    findings: report.findings.map(findingJson),
  };
}
