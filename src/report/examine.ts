/** A report without a trace: one study that collects its data. */

import type { Peaks } from '../analysis/allowed_rate.js';
import { causeNumbers, runNumbers, type RunNumbers } from '../analysis/run_numbers.js';
import type { FoundDumps } from '../pytorch/dump_files.js';
import { dumpsFor } from '../pytorch/flight_report.js';
import { findRankFiles } from '../rankfile/index.js';
import { study, type Study } from '../study/study.js';
import { withWorkers } from '../study/workers.js';
import { mannerText, type RunArgs } from '../trace/commands.js';
import { suggestDrawing } from '../trace/drawing.js';
import type { ClockOptions } from '../clocks/evidence/run_clocks.js';
import { diagnosisOf, type DiagnosisOptions } from './diagnosis.js';
import { runReport, type RunReport } from './run_report.js';

export interface Examined {
  readonly report: RunReport;
  readonly numbers: RunNumbers;
}

/** Throws NoUsableInput, UsageError. */
export async function examine(
  inputs: readonly string[],
  options: DiagnosisOptions & ClockOptions & { readonly peaks?: Peaks | undefined } = {},
): Promise<Examined> {
  const dumps = dumpsFor(options);
  const { files } = findRankFiles(inputs);
  return withWorkers(files, options, async (workers, folder) => {
    const studied = await study(workers, files, folder, options);
    return examineStudied(studied, { ...options, inputs }, dumps);
  });
}

export function examineStudied(
  studied: Study,
  options: RunArgs & { readonly peaks?: Peaks | undefined },
  dumps: FoundDumps | null = null,
): Examined {
  const seen = causeNumbers(studied);
  const diagnosis = diagnosisOf(studied, suggestDrawing(studied, options), dumps, seen);
  const numbers = runNumbers(studied, seen, options.peaks);
  return { report: runReport(studied, diagnosis, mannerText(options), numbers), numbers };
}
