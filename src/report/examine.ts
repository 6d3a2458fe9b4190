/** A report without a trace: one study that collects its data. */

import type { Peaks } from '../analysis/allowed_rate.js';
import { causeNumbers, runNumbers, type RunNumbers } from '../analysis/run_numbers.js';
import type { BesideOptions } from '../foreign/beside/parts.js';
import { refuseRedacted, type WithFile } from '../foreign/beside/with_file.js';
import type { FoundDumps } from '../pytorch/dump_files.js';
import { dumpsFor } from '../pytorch/flight_report.js';
import { findRankFiles } from '../rankfile/index.js';
import { study, type Study } from '../study/study.js';
import { withWorkers } from '../study/workers.js';
import { mannerText, type RunArgs } from '../trace/commands.js';
import { suggestDrawing } from '../trace/drawing.js';
import type { ClockOptions } from '../clocks/evidence/run_clocks.js';
import { diagnosisOf, type DiagnosisOptions } from './diagnosis.js';
import { type Beside, NOTHING_BESIDE, runReport, type RunReport } from './run_report.js';

export interface WithOption {
  /** Files of other tools, for their training steps. */
  readonly with?: readonly WithFile[] | undefined;
}

export interface Examined {
  readonly report: RunReport;
  readonly numbers: RunNumbers;
}

/** Throws NoUsableInput, UsageError. */
export async function examine(
  inputs: readonly string[],
  options: DiagnosisOptions & ClockOptions & WithOption & { readonly peaks?: Peaks | undefined } = {},
): Promise<Examined> {
  refuseRedacted(options.with ?? [], options.redact);
  const dumps = dumpsFor(options);
  const { files } = findRankFiles(inputs);
  return withWorkers(files, options, async (workers, folder) => {
    const studied = await study(workers, files, folder, options);
    const beside = await stepsBeside(studied, folder, options);
    return examineStudied(studied, { ...options, inputs }, dumps, beside);
  });
}

/** The readers of other tools' files are loaded when there is such a file. `folder`: for work. Throws Interrupted. */
export async function stepsBeside(
  studied: Study,
  folder: string,
  options: WithOption & BesideOptions,
): Promise<Beside> {
  if (options.with === undefined || options.with.length === 0) return NOTHING_BESIDE;
  const { trainingSteps } = await import('../foreign/beside/training_steps.js');
  const { steps, refused } = await trainingSteps(options.with, studied, folder, options);
  return { steps, refused: refused.map(({ why }) => why) };
}

export function examineStudied(
  studied: Study,
  options: RunArgs & { readonly peaks?: Peaks | undefined },
  dumps: FoundDumps | null = null,
  beside: Beside = NOTHING_BESIDE,
): Examined {
  const seen = causeNumbers(studied);
  const diagnosis = diagnosisOf(studied, suggestDrawing(studied, options), dumps, seen);
  const numbers = runNumbers(studied, seen, options.peaks);
  return { report: runReport(studied, diagnosis, mannerText(options), numbers, beside), numbers };
}
