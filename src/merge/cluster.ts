/**
 * The block of the cluster group: what all ranks did together, joined from the scans' rows. It belongs to no rank and
 * stands behind the prologue.
 */

import { joinCollectives } from '../cluster/join.js';
import type { ClusterComm } from '../cluster/types.js';
import { toTrace } from '../clocks/clock_map.js';
import { toLocal, type ClockSolution } from '../clocks/domains.js';
import { gpuTime } from '../clocks/gpu_clock.js';
import { BlockWriter } from '../perfetto/block_writer.js';
import type { BlockCounts } from '../perfetto/counts.js';
import { drawCluster } from '../tracks/cluster_tracks.js';
import type { ConvertJob } from './convert.js';
import type { Run } from './run.js';

export interface ClusterBlock {
  readonly comms: readonly ClusterComm[];
  readonly bytes: Uint8Array;
  readonly counts: BlockCounts;
}

/** Its block comes after those of the files: `blockCount` is theirs and one more. */
export function clusterBlock(run: Run, clocks: ClockSolution, jobs: readonly ConvertJob[]): ClusterBlock {
  const comms = joinCollectives(
    run.members.map(({ scan }, file) => {
      const { map } = clocks.domains[clocks.domainOf[file]!]!;
      const scale = clocks.scales[file]!;
      return {
        communicators: scan.communicators,
        works: scan.works,
        ends: jobs[file]!.workEnds,
        time: (at) => toTrace(map, toLocal(scale, at)),
        gpuTime: gpuTime(jobs[file]!.gpuLine, map),
      };
    }),
  );
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
    comparable: (files) =>
      new Set(files.map((file) => clocks.domains[clocks.domainOf[file]!]!.group)).size === 1,
  });
  writer.close();
  return { comms, bytes: Buffer.concat(pieces), counts: writer.counts() };
}
