/**
 * `--with`: files of other tools beside the ranks of a run. Each is read, admitted or refused, drawn and forgotten before the next, so memory
 * does not grow with their number. A refused file costs nothing but its own tracks.
 */

import { join } from 'node:path';
import { countFiles, type OnProgress } from '../../base/progress.js';
import type { Study } from '../../study/study.js';
import { BlockFile } from '../../trace/convert.js';
import { compressionOf } from '../../trace/compression.js';
import type { Windows } from '../../trace/tracks/selection.js';
import { admit, type Admitted, type KernelFit } from './door.js';
import { drawForeign, type DrawnForeign } from './draw_foreign.js';
import { exposureOf, type Exposure } from './exposed.js';
import type { ForeignTrace } from './foreign_trace.js';
import { readKineto } from './kineto.js';
import type { Operations } from './numbered_work.js';
import { isSqlite, pidOf, processesOf, readNsys } from './nsys.js';
import { Refusal, type RefusalKind } from './refusal.js';

/** One file of `--with`, with what the command line says of its rank. */
export interface WithFile {
  readonly path: string;
  readonly rank: number | null;
}

/** What is read at once: a file, or one process of it. */
export interface WithPart extends WithFile {
  /** As the file names it; null: the whole file. */
  readonly process: bigint | null;
}

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

export interface RefusedReport {
  readonly path: string;
  readonly refused: RefusalKind;
  /** What was expected and found, and what to do. */
  readonly why: string;
}

export interface DrawnBeside {
  readonly reports: readonly ForeignReport[];
  readonly drawn: readonly Pick<DrawnForeign, 'counts' | 'arrows' | 'flowEnds'>[];
  readonly blockPaths: readonly string[];
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
}

export interface BesideOptions {
  readonly strict?: boolean | undefined;
  readonly interrupt?: AbortSignal | undefined;
  readonly onProgress?: OnProgress | undefined;
}

/**
 * The processes in each file. A file that cannot be read is one part, which is refused when it is drawn. If a file has several, the command line
 * names the rank of one of them: that which wrote the rank's file.
 */
export function partsOf(files: readonly WithFile[], { run }: Study, folder: string): WithPart[] {
  return files.flatMap((file) => {
    const processes = isSqlite(file.path) ? unlessRefused(file.path, join(folder, 'beside.sqlite')) : [];
    const isOfRank = (id: bigint): boolean =>
      run.members.some(
        ({ ranks, scan }) => ranks.includes(file.rank!) && scan.header.process.pid === pidOf(id),
      );
    const wanted = file.rank === null || processes.length < 2 ? processes : processes.filter(isOfRank);
    return (wanted.length === 0 ? [null] : wanted).map((process) => ({ ...file, process }));
  });
}

function unlessRefused(path: string, link: string): bigint[] {
  try {
    return processesOf(path, link);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return [];
  }
}

/** Throws Interrupted, and with `strict` Refusal. */
export async function drawBeside(
  files: readonly WithPart[],
  study: Study,
  place: BesidePlace,
  options: BesideOptions,
): Promise<DrawnBeside> {
  const drawn: { report: ForeignReport; drawn?: DrawnForeign; blockPath?: string; file?: number }[] = [];
  const operations: Operations = new Map();
  const done = files.length > 0 ? countFiles('beside', files.length, options.onProgress) : () => undefined;
  for (const [index, file] of files.entries()) {
    try {
      const before = drawn.map((one) => one.file);
      drawn.push(await drawOne(file, index, study, place, { ...options, before, operations }));
    } catch (error) {
      if (!(error instanceof Refusal) || options.strict) throw error;
      drawn.push({ report: { path: file.path, refused: error.kind, why: error.message } });
    }
    done();
  }
  return {
    reports: drawn.map(({ report }) => report),
    drawn: drawn.flatMap((one) => one.drawn ?? []),
    blockPaths: drawn.flatMap(({ blockPath }) => blockPath ?? []),
    files: drawn.flatMap(({ file }) => file ?? []),
  };
}

async function drawOne(
  part: WithPart,
  index: number,
  study: Study,
  { folder, output, blockCount, windowsOf }: BesidePlace,
  {
    interrupt,
    before,
    operations,
  }: BesideOptions & { readonly before: readonly (number | undefined)[]; readonly operations: Operations },
) {
  const { path, rank: asRank } = part;
  const trace = await readPart(part, join(folder, `beside-${index}`), interrupt);
  try {
    const admitted = admit(path, trace, asRank, study, operations);
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
      const left = Object.fromEntries(drawn.leftOut);
      const exposed = exposedIn(trace, admitted);
      const report = {
        path,
        rank,
        slices,
        instants,
        counterSamples,
        tracks,
        kernels,
        exposed,
        leftOut: left,
      };
      return { report, drawn, blockPath, file };
    } finally {
      out.close();
    }
  } finally {
    trace.events.close();
  }
}

function exposedIn({ gpu, span, steps }: ForeignTrace, { rank, time }: Admitted): ExposedStep[] {
  if (gpu.nccl.length === 0) return [];
  const exposure = exposureOf(gpu.nccl, gpu.compute);
  return [{ name: null, start: span.from, end: span.to }, ...steps].map(({ name: step, start, end }) => ({
    ...{ rank, step, start: time(start), duration: end - start },
    ...exposure(start, end),
  }));
}

async function readPart(
  { path, rank, process }: WithPart,
  sideFile: string,
  interrupt: AbortSignal | undefined,
): Promise<ForeignTrace> {
  if (process !== null) return readNsys(path, process, sideFile, interrupt);
  if (!isSqlite(path)) return readKineto(path, sideFile, interrupt);
  // Says why the file cannot be read.
  const processes = processesOf(path, `${sideFile}.sqlite`);
  if (processes.length === 0)
    throw new Refusal('not-a-trace', {
      path,
      what: 'no process in the file used a GPU',
      advice: 'record with nsys profile --trace=cuda,nvtx',
    });
  throw new Refusal('rank-unknown', {
    path,
    what: `none of its processes wrote the file of rank ${rank}`,
    found: `processes ${processes.map(pidOf).join(', ')}`,
    advice: 'leave the rank out, or record one process per file',
  });
}
