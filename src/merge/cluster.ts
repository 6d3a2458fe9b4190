/**
 * The block of the cluster group: what all ranks did together, joined from the scans' rows. It belongs to no rank and
 * stands behind the prologue.
 */

import { foldRanks } from '../base/ranks.js';
import type { TraceNs } from '../base/time.js';
import { joinCollectives } from '../cluster/join.js';
import type { ClusterComm } from '../cluster/types.js';
import { bound99At } from '../clocks/clock_map.js';
import { domainOfFile, traceTimeOf, type ClockSolution } from '../clocks/domains.js';
import type { WorkEnd } from '../model/work_end.js';
import { BlockWriter } from '../perfetto/block_writer.js';
import type { BlockCounts } from '../perfetto/counts.js';
import { ClippedSink } from '../tracks/clipped_sink.js';
import { drawClocks } from '../tracks/clock_tracks.js';
import { describeCluster, drawCluster } from '../tracks/cluster_tracks.js';
import { type DrawPlan, commKey, isEverything } from '../tracks/selection.js';
import { gpuTimes, type GpuLines } from './gpu_clocks.js';
import { hostClocks } from './host_clocks.js';
import type { RunClocks } from './run_clocks.js';
import type { Run } from './run.js';

export interface ClusterBlock {
  readonly bytes: Uint8Array;
  readonly counts: BlockCounts;
}

/** `ends`, `gpuLines`: by file. */
export function joinRun(
  run: Run,
  clocks: ClockSolution,
  ends: readonly (readonly WorkEnd[])[],
  gpuLines: readonly GpuLines[],
): ClusterComm[] {
  return joinCollectives(
    run.members.map(({ scan }, file) => ({
      communicators: scan.communicators,
      works: scan.works,
      ends: ends[file]!,
      time: traceTimeOf(clocks, file),
      gpuTime: gpuTimes(gpuLines[file]!, domainOfFile(clocks, file).map),
    })),
  );
}

/** Its block comes after those of the files: `blockCount` is theirs and one more. `duration`: of the trace, ns. */
export function clusterBlock(
  run: Run,
  { solution, traffic }: RunClocks,
  comms: readonly ClusterComm[],
  plan: DrawPlan,
  duration: number,
): ClusterBlock {
  const pieces: Uint8Array[] = [];
  const writer = new BlockWriter({
    blockIndex: run.members.length,
    blockCount: run.members.length + 1,
    process: null,
    traceStart: solution.traceStart,
    output: (piece) => void pieces.push(piece),
  });
  const clipped = isEverything(plan) ? null : new ClippedSink(writer, plan.windows);
  const sink = clipped ?? writer;
  const drawn = plan.comms ? comms.filter((comm) => plan.comms?.has(commKey(comm))) : comms;
  const clocks = hostClocks(run, solution, traffic, duration);
  if (drawn.length > 0 || clocks.length > 1) {
    const cluster = describeCluster(sink);
    drawCluster(sink, cluster, drawn, {
      rankOf: (file) => foldRanks(run.members[file]!.ranks) || run.members[file]!.scan.path,
      comparable: onOneAxis(solution),
      clockBound: clockBound(solution),
      worldSize: run.worldSize,
    });
    drawClocks(sink, cluster, clocks, CLOCKS_ORDER);
  }
  clipped?.finish();
  writer.close();
  return { bytes: Buffer.concat(pieces), counts: writer.counts() };
}

/** Below all communicators. */
const CLOCKS_ORDER = 2 ** 30;

/** Ranks of one group of domains are compared, within the bounds of their clocks; between groups no error is known. */
export const onOneAxis =
  (clocks: ClockSolution) =>
  (files: readonly number[]): boolean =>
    new Set(files.map((file) => domainOfFile(clocks, file).group)).size <= 1;

/** Each clock is bounded against its group's reference: between two the bounds add up. */
export function clockBound({ domains, domainOf }: ClockSolution) {
  const bounds = domains.map(({ map }) => bound99At(map));
  return (fileA: number, fileB: number, at: TraceNs): number => {
    const [a, b] = [domainOf[fileA]!, domainOf[fileB]!];
    return a === b ? 0 : bounds[a]!(at) + bounds[b]!(at);
  };
}
