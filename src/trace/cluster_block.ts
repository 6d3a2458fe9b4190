/**
 * The block of the cluster group: what all ranks did together, joined from the scans' rows. It belongs to no rank and follows the prologue.
 */

import type { BlockCounts } from '../kernel/host/drawn_rows.js';
import { comparableBy } from '../clocks/comparable.js';
import { commKey } from '../model/identity.js';
import { foldRanks } from '../base/ranks.js';
import type { ClusterComm } from '../cluster/collective_view.js';
import { type CommExchanges, runExchanges } from '../cluster/exchanges.js';
import type { Study } from '../study/study.js';
import { silentFiles } from '../verdict/facts/suspects.js';
import { BlockWriter } from './perfetto/block_writer.js';
import { drawClocks } from './tracks/clock_tracks.js';
import type { WantedCall } from './tracks/cluster_operation.js';
import { describeCluster, drawCluster, type DrawnComm } from './tracks/cluster_tracks.js';
import { drawVerdict, type VerdictPicture } from './tracks/verdict_track.js';
import { type DrawPlan, isEverything } from './tracks/selection.js';
import { hostClocks } from './host_clocks.js';
import type { Run } from '../runs/run.js';

export interface ClusterBlock {
  readonly bytes: Uint8Array;
  readonly counts: BlockCounts;
}

export interface ClusterPlace {
  /** Its block follows those of the files. */
  readonly blockCount: number;
  /** Title of the group. */
  readonly title: string;
  /** The collective that the verdict names. */
  readonly call: WantedCall | null;
  /** Called when the lanes of that call's communicator are known. */
  readonly verdictOf: (lanes: readonly string[]) => VerdictPicture;
}

/** `duration`: of the trace, ns. */
export function clusterBlock(
  { run, clocks: { solution, traffic }, comms, verdict, ...joined }: Study,
  plan: DrawPlan,
  duration: number,
  place: ClusterPlace,
): ClusterBlock {
  const pieces: Uint8Array[] = [];
  const writer = new BlockWriter({
    blockIndex: run.members.length,
    blockCount: place.blockCount,
    process: null,
    traceStart: solution.traceStart,
    output: (piece) => void pieces.push(piece.slice()),
    windows: isEverything(plan) ? null : plan.windows,
  });
  const all = withExchanges(comms, runExchanges(run, solution, joined.ends, joined.gpuLines));
  const drawn = plan.comms ? all.filter((comm) => plan.comms?.has(commKey(comm))) : all;
  const silent = silentFiles(verdict);
  const clocks = hostClocks(run, solution, traffic, duration);
  const cluster = describeCluster(writer, place.title);
  const labels = {
    rankOf: (file: number, inComm?: number, commId?: bigint) => rankName(run, file, inComm, commId),
    ...comparableBy(solution),
    isSilent: (file: number) => silent[file] === true,
    worldSize: run.worldSize,
  };
  const lanes = drawCluster(writer, cluster, drawn, labels, place.call);
  drawVerdict(writer, cluster, place.verdictOf(lanes));
  drawClocks(writer, cluster, clocks, CLOCKS_ORDER);
  writer.finishPart();
  writer.close();
  return { bytes: Buffer.concat(pieces), counts: writer.counts() };
}

/** Those without a collective follow. */
function withExchanges(comms: readonly ClusterComm[], found: readonly CommExchanges[]): DrawnComm[] {
  const known = new Set(comms.map(({ commId }) => commId));
  const others = found.filter(({ commId, exchanges }) => exchanges.length > 0 && !known.has(commId));
  return [
    ...comms.map((comm) => ({
      ...comm,
      exchanges: found.find(({ commId }) => commId === comm.commId)?.exchanges ?? [],
    })),
    ...others.map((comm) => ({ ...comm, nRanks: comm.size, collectives: [] })),
  ];
}

/** If a process has several GPUs: the rank that is `inComm` in a communicator with all ranks of the job. */
function rankName({ members, worldSize }: Run, file: number, inComm?: number, commId?: bigint): string {
  const { ranks, scan } = members[file]!;
  const comm = scan.communicators.find((one) => one.commId === commId);
  const isWorld = comm?.nRanks === worldSize && inComm !== undefined && ranks.includes(inComm);
  return foldRanks(ranks.length > 1 && isWorld ? [inComm] : ranks) || scan.path;
}

/** Below all communicators. */
const CLOCKS_ORDER = 2 ** 30;
