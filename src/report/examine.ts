/** A report without a trace: one study that collects its data. */

import { tmpdir } from 'node:os';
import { collectiveRows, type CollectiveRow } from '../analysis/collectives.js';
import { comparableBy } from '../analysis/comparable.js';
import { rankWords } from '../analysis/rank_words.js';
import { findRankFiles } from '../rankfile/index.js';
import { withWorkFolder } from '../output/work_folder.js';
import { study } from '../study/study.js';
import { startWorkers } from '../study/workers.js';
import { mannerWords } from '../trace/commands.js';
import { suggestDrawing } from '../trace/drawing.js';
import type { ClockOptions } from '../clocks/evidence/run_clocks.js';
import { diagnosisOf, type DiagnosisOptions } from './diagnosis.js';
import { runReport, type RunReport } from './run_report.js';

export interface Examined {
  readonly report: RunReport;
  /** All of the run, in order of time. */
  readonly collectives: readonly CollectiveRow[];
}

/** Throws NoUsableInput, UsageError. */
export async function examine(
  inputs: readonly string[],
  options: DiagnosisOptions & ClockOptions = {},
): Promise<Examined> {
  const { files } = findRankFiles(inputs);
  const workers = startWorkers(options.jobs, files, options.interrupt);
  try {
    return await withWorkFolder(tmpdir(), options.interrupt, async (folder) => {
      const studied = await study(workers, files, folder, { ...options, forReport: true });
      const diagnosis = diagnosisOf(studied, suggestDrawing(studied, { ...options, inputs }));
      const { run, clocks, comms } = studied;
      return {
        report: runReport(studied, diagnosis, mannerWords(options)),
        collectives: collectiveRows(comms, rankWords(run), comparableBy(clocks.solution)),
      };
    });
  } finally {
    await workers.close();
  }
}
