/** How much of NCCL's time no other kernel covers: in each file of `--with`, and in each training step in it. */

import type { Study } from '../../study/study.js';
import type { Admitted } from './door.js';
import { exposureOf, type Exposure, type Spans } from './exposed.js';
import type { ForeignTrace } from './foreign_trace.js';
import { type BesideOptions, eachPart, partsOf, type RefusedReport } from './parts.js';
import type { WithFile } from './with_file.js';

/** NCCL's time in a training step, or in the whole file. */
export interface ExposedStep extends Exposure {
  readonly rank: number;
  /** As the file names it; null: the whole file. */
  readonly step: string | null;
  /** TraceNs. */
  readonly start: number;
  /** ns */
  readonly duration: number;
}

/** Of files that are not drawn. Throws Interrupted, and with `strict` Refusal. */
export async function trainingSteps(
  files: readonly WithFile[],
  study: Study,
  folder: string,
  options: BesideOptions,
): Promise<{ readonly steps: ExposedStep[]; readonly refused: RefusedReport[] }> {
  const parts = partsOf(files, study, folder);
  const all = await eachPart(parts, study, { ...options, folder }, exposedIn);
  return {
    steps: all.flatMap((one) => ('refused' in one ? [] : one)),
    refused: all.flatMap((one) => ('refused' in one ? [one] : [])),
  };
}

export function exposedIn(trace: ForeignTrace, { rank, time }: Admitted): ExposedStep[] {
  const { gpu, span, steps } = trace;
  if (gpu.nccl.length === 0) return [];
  const exposure = exposureOf(spansOf(trace, 'nccl'), spansOf(trace, 'compute'));
  return [{ name: null, start: span.from, end: span.to }, ...steps].map(({ name: step, start, end }) => ({
    ...{ rank, step, start: time(start), duration: end - start },
    ...exposure(start, end),
  }));
}

/** When the kernels of a kind ran. */
export function spansOf({ events, gpu }: ForeignTrace, kind: keyof ForeignTrace['gpu']): Spans {
  const spans = new Float64Array(2 * gpu[kind].length);
  gpu[kind].forEach((row, i) => {
    spans[2 * i] = events.start(row);
    spans[2 * i + 1] = events.start(row) + events.duration(row);
  });
  return spans;
}
