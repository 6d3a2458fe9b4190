/** Each collective of a run once: the rows of all scans, joined on the trace's axis. */

import { domainOfFile, traceTimeOf, type ClockSolution } from '../clocks/domains.js';
import { gpuErrors, gpuTimes, type GpuLines } from '../clocks/evidence/gpu_clocks.js';
import type { WorkEndTable } from '../model/work_end_table.js';
import type { Run } from '../runs/run.js';
import { callsWithoutWork } from './rank_walk.js';
import { joinCollectives, type Heard } from './join.js';
import type { ClusterMember } from './collective_types.js';
import type { ClusterComm } from './collective_view.js';

/** `ends`, `gpuLines`: by file. `heard`: called for each rank's part. */
export function joinRun(
  run: Run,
  clocks: ClockSolution,
  ends: readonly WorkEndTable[],
  gpuLines: readonly GpuLines[],
  heard: Heard | null = null,
): ClusterComm[] {
  return joinCollectives(clusterMembers(run, clocks, ends, gpuLines), heard);
}

export const clusterMembers = (
  run: Run,
  clocks: ClockSolution,
  ends: readonly WorkEndTable[],
  gpuLines: readonly GpuLines[],
): ClusterMember[] =>
  run.members.map(({ scan }, file) => ({
    communicators: scan.communicators,
    works: scan.works,
    ends: ends[file]!,
    time: traceTimeOf(clocks, file),
    gpuTime: gpuTimes(gpuLines[file]!, domainOfFile(clocks, file).map),
    calledWithoutWork: callsWithoutWork(scan.calls),
    gpuError: gpuErrors(scan, clocks.scales[file]!),
  }));
