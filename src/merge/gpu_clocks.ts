/** Each file's GPU on its host's clock: the line by which its stamps are moved, and how wrong the moved times can be. */

import { ALIGNMENT_DEFAULTS } from '../clocks/alignment.js';
import { toLocal, type TickScale } from '../clocks/domains.js';
import { gpuBound, USUAL_STEP_NS } from '../clocks/gpu_bound.js';
import { supportLine, type GpuLine } from '../clocks/gpu_clock.js';
import type { RunMember } from './run.js';
import type { RankScan } from './scan.js';

/** What is known of a GPU's times in the trace, beside what is of its host's. */
export interface GpuClockReport {
  readonly rank: number | null;
  /**
   * Hard, the worst of the run, ns: they are late, and early, against the host's clock by no more; null: unbounded, as where several
   * GPUs stamp in one file.
   */
  readonly late: number | null;
  readonly early: number | null;
  /** The steps that the timer is taken to count in, ns. */
  readonly stepNs: number;
}

type Stamped = Pick<RankScan, 'gpuStamps' | 'gpuLaunches' | 'gpuStep'>;

export function gpuLine({ gpuStamps }: Pick<Stamped, 'gpuStamps'>, scale: TickScale): GpuLine | null {
  return supportLine(
    gpuStamps.map(({ noticed, gpu }) => {
      const x = toLocal(scale, noticed);
      return { x, y: x - gpu };
    }),
  );
}

/** Null where no kernel was stamped. */
export function reportGpu(
  { scan, rank, ranks }: Pick<RunMember, 'rank' | 'ranks'> & { readonly scan: Stamped },
  scale: TickScale,
): GpuClockReport | null {
  const line = gpuLine(scan, scale);
  if (line === null) return null;
  const stepNs = Math.max(scan.gpuStep, USUAL_STEP_NS);
  if (ranks.length > 1) return { rank, late: null, early: null, stepNs };
  const { late, early } = gpuBound(
    line,
    scan.gpuStamps.map(({ noticed, gpu }) => ({ host: toLocal(scale, noticed), gpu })),
    scan.gpuLaunches.map(({ launched, gpu }) => ({ host: toLocal(scale, launched), gpu })),
    scan.gpuStep,
    (ALIGNMENT_DEFAULTS.curvaturePpmPerMinute * 1e-6) / 60e9,
  );
  return { rank, late: finite(late), early: finite(early), stepNs };
}

const finite = (ns: number): number | null => (Number.isFinite(ns) ? Math.round(ns) : null);
