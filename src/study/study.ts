/**
 * Everything that is known before a packet is written: the run, its clocks, who executed whose sends, what all ranks did
 * together, and the verdict. `merge` goes on from here; `inspect` stops.
 */

import { joinRun } from '../cluster/join_run.js';
import { traceTimeOf } from '../clocks/domains.js';
import type { ClusterComm } from '../cluster/types.js';
import { withElsewhere, type WorkEnd } from '../model/work_end.js';
import type { Verdict } from '../verdict/types.js';
import { gpuLines, type GpuLines } from '../clocks/evidence/gpu_clocks.js';
import { resolveOrigins, type OriginTable } from '../cluster/origins.js';
import type { RankScan } from '../scan/scan.js';
import { scanRun, type ScannedRun, type ScanOptions } from './scanned_run.js';
import { runVerdict, type VerdictOptions } from '../verdict/evidence/run_verdict.js';
import type { Workers } from './workers.js';

export interface Study extends ScannedRun {
  /** By file, as all that follow. */
  readonly origins: readonly OriginTable[];
  readonly ends: readonly (readonly WorkEnd[])[];
  readonly gpuLines: readonly GpuLines[];
  readonly comms: readonly ClusterComm[];
  readonly verdict: Verdict;
}

export interface StudyOptions extends ScanOptions, VerdictOptions {}

/** `folder`: for side files. Throws NoUsableInput. */
export async function study(
  workers: Workers,
  files: readonly string[],
  folder: string,
  options: StudyOptions,
): Promise<Study> {
  const scanned = await scanRun(workers, files, folder, options);
  const {
    run,
    clocks: { solution },
  } = scanned;
  const times = run.members.map((_, file) => traceTimeOf(solution, file));
  const origins = resolveOrigins(run.members, (file, tick) => times[file]!(tick));
  const ends = run.members.map(({ scan }, file) => completeEnds(scan, origins[file]!));
  const lines = run.members.map(({ scan }, file) => gpuLines(scan, solution.scales[file]!));
  const comms = joinRun(run, solution, ends, lines);
  return {
    ...scanned,
    origins,
    ends,
    gpuLines: lines,
    comms,
    verdict: runVerdict(run, solution, ends, origins, comms, options),
  };
}

/** Work is done when its sends are, also those that other processes executed. */
function completeEnds({ workEnds }: RankScan, { elsewhere }: OriginTable): readonly WorkEnd[] {
  if (elsewhere.size === 0) return workEnds;
  return workEnds.map((end, row) => {
    const executed = elsewhere.get(row);
    return executed ? withElsewhere(end, executed) : end;
  });
}
