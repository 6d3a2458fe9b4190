/**
 * The block of the cluster group: what all ranks did together, joined from the scans' rows. It belongs to no rank and
 * stands behind the prologue.
 */

import { joinCollectives } from '../cluster/join.js';
import type { ClusterComm } from '../cluster/types.js';
import { toTrace } from '../clocks/clock_map.js';
import { toLocal, type ClockSolution } from '../clocks/domains.js';
import { gpuTime, type GpuLine } from '../clocks/gpu_clock.js';
import type { WorkEnd } from '../model/work_end.js';
import { BlockWriter } from '../perfetto/block_writer.js';
import type { BlockCounts } from '../perfetto/counts.js';
import { drawCluster } from '../tracks/cluster_tracks.js';
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
  gpuLines: readonly (GpuLine | null)[],
): ClusterComm[] {
  return joinCollectives(
    run.members.map(({ scan }, file) => {
      const { map } = clocks.domains[clocks.domainOf[file]!]!;
      const scale = clocks.scales[file]!;
      return {
        communicators: scan.communicators,
        works: scan.works,
        ends: ends[file]!,
        time: (at) => toTrace(map, toLocal(scale, at)),
        gpuTime: gpuTime(gpuLines[file]!, map),
      };
    }),
  );
}

/** Its block comes after those of the files: `blockCount` is theirs and one more. */
export function clusterBlock(run: Run, clocks: ClockSolution, comms: readonly ClusterComm[]): ClusterBlock {
  const pieces: Uint8Array[] = [];
  const writer = new BlockWriter({
    blockIndex: run.members.length,
    blockCount: run.members.length + 1,
    process: null,
    traceStart: clocks.traceStart,
    output: (piece) => void pieces.push(piece),
  });
  drawCluster(writer, comms, {
    rankOf: (file) => String(run.members[file]!.rank ?? run.members[file]!.scan.path),
    comparable: onOneAxis(clocks),
  });
  writer.close();
  return { bytes: Buffer.concat(pieces), counts: writer.counts() };
}

/** Ranks of one group of domains are compared, within the bounds of their clocks; between groups no error is known. */
export const onOneAxis =
  ({ domains, domainOf }: ClockSolution) =>
  (files: readonly number[]): boolean =>
    new Set(files.map((file) => domains[domainOf[file]!]!.group)).size <= 1;
