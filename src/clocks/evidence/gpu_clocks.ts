/** Each GPU of a file on its host's clock: the line that converts its stamps, and how wrong the converted times can be. */

import { hex64 } from '../../base/hex.js';
import { ALIGNMENT_DEFAULTS, perNs } from '../alignment.js';
import type { ClockMap } from '../clock_map.js';
import { toLocal, type TickScale } from '../domains.js';
import { gpuBound, type GpuMoment, USUAL_STEP_NS } from '../gpu_bound.js';
import { gpuTime, supportLine, type GpuLine } from '../gpu_clock.js';
import { ONLY_GPU, type StampedGpu } from '../../scan/gpu_stamps.js';
import type { RunMember } from '../../runs/run.js';
import type { RankScan } from '../../scan/scan.js';

/** The facts about a GPU's times in the trace, in addition to those about its host's times. */
export interface GpuClockReport {
  /** Rank of the file; with `commId` its rank in that communicator. */
  readonly rank: number | null;
  /** 0x and 16 digits. Only for a process with several GPUs, because there each rank of each communicator has a line of its own. */
  readonly commId?: string;
  /** Hard bounds, the worst of the run, ns: how late and how early the GPU's times can be against the host's clock. null: unbounded. */
  readonly late: number | null;
  readonly early: number | null;
  /** The steps in which the timer is assumed to count, ns. */
  readonly stepNs: number;
}

/** The lines of one file, by number of the communicator, or ONLY_GPU. Plain data. */
export type GpuLines = ReadonlyMap<number, GpuLine>;

export function gpuLines({ gpus }: Pick<RankScan, 'gpus'>, scale: TickScale): GpuLines {
  const lines = new Map<number, GpuLine>();
  for (const gpu of gpus) {
    const line = lineOf(gpu, scale);
    if (line !== null) lines.set(gpu.comm, line);
  }
  return lines;
}

/** GPU timestamps of a communicator's kernels (number in the file, -1: not known) on the trace's axis. null: there is no evidence. */
export function gpuTimes(lines: GpuLines, map: ClockMap): (comm: number) => ReturnType<typeof gpuTime> {
  const times = new Map([...lines].map(([comm, line]) => [comm, gpuTime(line, map)]));
  const only = times.get(ONLY_GPU);
  return (comm) => only ?? times.get(comm) ?? null;
}

/** How late and how early those times can be, hard, ns; Infinity: unbounded. */
export function gpuErrors(
  { gpus }: Pick<RankScan, 'gpus'>,
  scale: TickScale,
): (comm: number) => { late: number; early: number } {
  const errors = new Map(
    gpus.map((gpu) => {
      const bound = boundOf(gpu, scale);
      return [gpu.comm, { late: bound?.late ?? Infinity, early: bound?.early ?? Infinity }];
    }),
  );
  return (comm) => errors.get(ONLY_GPU) ?? errors.get(comm) ?? { late: Infinity, early: Infinity };
}

/** Reports the GPUs whose kernels were stamped. */
export function reportGpus(
  { scan, rank }: Pick<RunMember, 'rank'> & { readonly scan: Pick<RankScan, 'gpus' | 'communicators'> },
  scale: TickScale,
): GpuClockReport[] {
  return scan.gpus.flatMap((gpu) => {
    const bound = boundOf(gpu, scale);
    if (bound === null) return [];
    const comm = scan.communicators.find(({ number }) => number === gpu.comm);
    if (gpu.comm === ONLY_GPU || !comm) return [{ rank, ...bound }];
    return [{ rank: comm.rank < 0 ? null : comm.rank, commId: hex64(comm.commId), ...bound }];
  });
}

type Bound = Pick<GpuClockReport, 'late' | 'early' | 'stepNs'> | null;

/** The verdict and the report both need it, and it takes long if a GPU's stamps are far apart. */
const known = new WeakMap<StampedGpu, { readonly scale: TickScale; readonly bound: Bound }>();

function boundOf(gpu: StampedGpu, scale: TickScale): Bound {
  const before = known.get(gpu);
  if (before?.scale === scale) return before.bound;
  const bound = computedBound(gpu, scale);
  known.set(gpu, { scale, bound });
  return bound;
}

function computedBound(gpu: StampedGpu, scale: TickScale): Bound {
  const line = lineOf(gpu, scale);
  if (line === null) return null;
  const { late, early } = gpuBound(
    line,
    momentsOf(gpu.notices, scale),
    momentsOf(gpu.launches, scale),
    gpu.step,
    perNs(ALIGNMENT_DEFAULTS.wanderPpmPerMinute),
  );
  return { late: finite(late), early: finite(early), stepNs: Math.max(gpu.step, USUAL_STEP_NS) };
}

const momentsOf = (stamps: StampedGpu['notices'], scale: TickScale): GpuMoment[] =>
  stamps.map(({ tick, gpu }) => ({ host: toLocal(scale, tick), gpu }));

const lineOf = ({ notices }: StampedGpu, scale: TickScale): GpuLine | null =>
  supportLine(momentsOf(notices, scale).flatMap(({ host, gpu }) => [host, host - gpu]));

const finite = (ns: number): number | null => (Number.isFinite(ns) ? Math.round(ns) : null);
