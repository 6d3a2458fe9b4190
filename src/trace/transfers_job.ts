/** What a worker needs to read all network transfers of a file once more (kernel/host/step_table.ts). */

import { type ClockSolution, domainOfFile } from '../clocks/domains.js';
import type { StepTableTimes } from '../kernel/host/step_table.js';
import { type JobRanks, jobRanksOf } from '../runs/job_ranks.js';
import type { Run } from '../runs/run.js';
import type { Aliases } from '../runs/redact.js';
import { scannedFile, type ScannedFile } from './scanned_file.js';

export interface TransfersJob extends ScannedFile, StepTableTimes {
  readonly jobRanks: JobRanks;
}

/** As a study has it. */
interface StudiedFiles {
  readonly run: Run;
  readonly clocks: { readonly solution: ClockSolution };
  readonly readFrom: readonly string[];
  readonly aliases: Aliases | null;
}

/** `ranks`: of the run. */
export function transfersJob(
  { run, clocks: { solution }, readFrom, aliases }: StudiedFiles,
  file: number,
  ranks: JobRanks,
): TransfersJob {
  const { scan } = run.members[file]!;
  return {
    ...scannedFile(scan, readFrom[file]!, aliases),
    jobRanks: jobRanksOf(ranks, scan.communicators),
    scale: solution.scales[file]!,
    map: domainOfFile(solution, file).map,
    traceStart: solution.traceStart,
  };
}
