/**
 * `merge --with`: files of other tools are drawn beside the ranks of a run. A refused file costs nothing but its own tracks.
 */

import { join } from 'node:path';
import type { Study } from '../../study/study.js';
import { BlockFile } from '../../trace/convert.js';
import { compressionOf } from '../../trace/compression.js';
import type { Windows } from '../../trace/tracks/selection.js';
import type { Admitted, KernelFit } from './door.js';
import { drawForeign, type DrawnForeign } from './draw_foreign.js';
import type { ForeignTrace } from './foreign_trace.js';
import { eachPart, type BesideOptions, type RefusedReport, type WithPart } from './parts.js';
import { Refusal } from './refusal.js';
import { type StepPicture, worstPicture, worstPictures } from './step_picture.js';
import { exposedIn, type ExposedStep } from './training_steps.js';

export { withNetwork } from './network_beside.js';
export { partsOf } from './parts.js';

/** For the report. */
export type ForeignReport = DrawnReport | RefusedReport;

export interface DrawnReport {
  readonly path: string;
  readonly rank: number;
  readonly slices: number;
  readonly instants: number;
  readonly counterSamples: number;
  readonly tracks: number;
  readonly kernels: KernelFit;
  /** The whole file first, then step by step; empty: no kernel of NCCL. */
  readonly exposed: readonly ExposedStep[];
  /** How often something was not drawn, by what it was. */
  readonly leftOut: Readonly<Record<string, number>>;
}

export interface DrawnBeside {
  readonly reports: readonly ForeignReport[];
  readonly drawn: readonly Pick<DrawnForeign, 'counts' | 'arrows' | 'flowEnds'>[];
  readonly blockPaths: readonly string[];
  /** If they are wanted: a training step of each file, of those whose step has the largest exposed share. */
  readonly pictures: readonly StepPicture[];
  /** The run's files that have a file beside them. */
  readonly files: readonly number[];
}

export interface BesidePlace {
  readonly folder: string;
  /** Path of the trace, which decides the compression. */
  readonly output: string;
  readonly blockCount: number;
  /** By file of the run: the drawn window; null: everything; absent: the file is not drawn. */
  readonly windowsOf: (file: number) => Windows | null | undefined;
  /** Whether training steps are wanted as pictures for a page. */
  readonly wantsPictures: boolean;
}

/** Throws Interrupted, and with `strict` Refusal. */
export async function drawBeside(
  parts: readonly WithPart[],
  study: Study,
  place: BesidePlace,
  options: BesideOptions,
): Promise<DrawnBeside> {
  const before: number[] = [];
  const all = await eachPart(
    parts,
    study,
    { ...options, folder: place.folder },
    async (trace, found, index) => {
      const { path } = parts[index]!;
      const one = await drawOne(trace, found, { ...place, path, index, before, study }, options.interrupt);
      before.push(found.file);
      return one;
    },
  );
  const drawn = all.flatMap((one) => ('refused' in one ? [] : [one]));
  return {
    reports: all.map((one) => ('refused' in one ? one : one.report)),
    drawn: drawn.map((one) => one.drawn),
    blockPaths: drawn.map(({ blockPath }) => blockPath),
    pictures: worstPictures(
      drawn.flatMap(({ picture }) => picture ?? []),
      MOST_PICTURES,
    ),
    files: before,
  };
}

/** A page has to stay small. */
const MOST_PICTURES = 6;

interface PartPlace extends BesidePlace {
  readonly path: string;
  readonly index: number;
  /** The run's files of the parts before. */
  readonly before: readonly number[];
  readonly study: Study;
}

async function drawOne(
  trace: ForeignTrace,
  admitted: Admitted,
  { path, index, before, study, folder, output, blockCount, windowsOf, wantsPictures }: PartPlace,
  interrupt: AbortSignal | undefined,
) {
  const { rank, file, kernels } = admitted;
  const windows = windowsOf(file);
  if (windows === undefined)
    throw new Refusal('rank-absent', {
      path,
      what: `rank ${rank} is not drawn`,
      advice: 'draw its rank, too, or leave this file out',
    });
  const blockPath = join(folder, `beside-${index}.block`);
  const out = new BlockFile(blockPath, compressionOf(output));
  try {
    const drawn = await drawForeign(
      trace,
      admitted,
      {
        blockIndex: blockCount - 1 - index,
        blockCount,
        traceStart: study.clocks.solution.traceStart,
        windows,
        output: (chunk) => {
          out.write(chunk);
        },
        number: before.filter((one) => one === file).length,
        from: path,
      },
      interrupt,
    );
    const { slices, instants, counterSamples, tracksWithData: tracks } = drawn.counts;
    const counts = { slices, instants, counterSamples, tracks };
    const exposed = exposedIn(trace, admitted);
    const report = { path, rank, ...counts, kernels, exposed, leftOut: Object.fromEntries(drawn.leftOut) };
    const picture = wantsPictures ? worstPicture(trace, admitted, study) : null;
    return { report, drawn, blockPath, picture };
  } finally {
    out.close();
  }
}
