/** The verdict without a trace: the result of `inspect` for a directory, within seconds. */

import type { OnProgress } from '../base/progress.js';
import { causeNumbers, type CauseNumbers } from '../analysis/run_numbers.js';
import { findRankFiles } from '../rankfile/index.js';
import { causeText } from './cause_text.js';
import { findingLine } from './finding_text.js';
import { toldFlight } from './flight_text.js';
import type { Diagnosis } from './diagnosed.js';
import { reportClocks, reportTraffic } from './clock_report.js';
import { type SizedCommand, suggestDrawing } from '../trace/drawing.js';
import { diagnosedRank } from './rank_report.js';
import { communicatorsOf, kindsOf } from '../runs/communicators.js';
import { dumpsFor, flightReport, type FlightOptions } from '../pytorch/flight_report.js';
import type { FoundDumps } from '../pytorch/dump_files.js';
import type { RunOptions } from '../runs/find_runs.js';
import type { ReadManner } from '../study/read_windows.js';
import type { ScanOptions } from '../study/scanned_run.js';
import { study, type Study } from '../study/study.js';
import type { VerdictOptions } from '../verdict/facts/run_verdict.js';
import { withWorkers } from '../study/workers.js';
import { stallOf } from '../verdict/facts/suspects.js';

export type { Diagnosis } from './diagnosed.js';

export interface DiagnosisOptions
  extends RunOptions, VerdictOptions, FlightOptions, ReadManner, Pick<ScanOptions, 'select'> {
  /** Called once if the diagnosis waits for a second look at ranks that may be alive. */
  readonly onWait?: ((text: string) => void) | undefined;
  /** Worker threads; by default as many as are useful. */
  readonly jobs?: number | undefined;
  readonly onProgress?: OnProgress | undefined;
  /** For numbers that are not in a diagnosis. */
  readonly onStudied?: ((studied: Study, numbers: CauseNumbers) => void) | undefined;
  /** Ends the diagnosis with `Interrupted` and leaves nothing behind. */
  readonly interrupt?: AbortSignal | undefined;
}

/** Throws NoUsableInput, UsageError. */
export async function diagnose(
  inputs: readonly string[],
  options: DiagnosisOptions = {},
): Promise<Diagnosis> {
  const dumps = dumpsFor(options);
  const { files } = findRankFiles(inputs);
  return withWorkers(files, options, async (workers, folder) => {
    const studied = await study(workers, files, folder, options);
    const numbers = causeNumbers(studied);
    options.onStudied?.(studied, numbers);
    return diagnosisOf(studied, suggestDrawing(studied, { ...options, inputs }), dumps, numbers);
  });
}

export function diagnosisOf(
  studied: Study,
  suggestion: SizedCommand | null,
  dumps: FoundDumps | null = null,
  numbers: CauseNumbers = causeNumbers(studied),
): Diagnosis {
  const { run, clocks, verdict, unusable } = studied;
  const traceStart = String(clocks.solution.traceStart);
  const communicators = communicatorsOf(run.members);
  const untold = {
    verdict,
    traceStart,
    worldSize: run.worldSize,
    missingRanks: run.missing,
    unusable,
    otherRuns: run.others,
    ranks: run.members.map(diagnosedRank),
    communicators,
    clocks: reportClocks(clocks, run),
    traffic: reportTraffic(clocks),
    suggestion,
    causes: numbers.causes.map((one) => ({ ...one, says: causeText(one, clocks.solution.traceStart) })),
    flightRecorder:
      dumps &&
      toldFlight(
        flightReport(dumps, {
          ranks: run.members.map(({ rank }) => rank),
          ...{ traceStart, hang: stallOf(verdict), kindOf: kindsOf(communicators) },
        }),
      ),
  };
  const findings = verdict.findings.map((one) => ({ ...one, says: findingLine(one, untold) }));
  const problems = [...unusable, ...run.problems, ...(dumps?.problems ?? [])];
  return { ...untold, verdict: { ...verdict, findings }, problems };
}
