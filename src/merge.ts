/**
 * Many rank files, one trace. The whole program in one page:
 *
 *   find     which files there are, and of which runs                       reader, runs/find_runs
 *   scan     each file by itself: its rank, when work ended, its clock     reader → model
 *   choose   the run, one file per rank                                     runs/run
 *   clocks   every host on one axis                                         clocks
 *   pxn      which process executed whose sends                             cluster/pxn
 *   verdict  what all ranks did together, and who held them up              cluster → verdict
 *   plan     what of it is drawn: selection and budget                      finish, trace/drawing, trace/convert_jobs
 *   convert  each file by itself into a block of packets                    reader → model → tracks → perfetto
 *   above    the verdict, what all ranks did together, ranks without file   finish, trace/above_ranks
 *   join     prologue + those + blocks in rank order                        finish, perfetto, trace/output
 *
 * Up to the verdict it is `study/study`, which `inspect` shares. The steps can also run in processes of their own, on other hosts (shards/).
 * The output depends only on the input files, not on their order or on the number of workers. For a job that is still running it also depends
 * on when the files were read, because a live rank is never a suspect.
 */

import { countFiles } from './base/progress.js';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { OutputError, UsageError } from './base/errors.js';
import { finishTrace, planTrace, type FinishOptions } from './finish.js';
import { reportAllClocks, type ClocksReport } from './report/clock_map_report.js';
import type { ConvertJob, ConvertResult } from './trace/convert.js';
import { convertJobs } from './trace/convert_jobs.js';
import { shownAs, type RunOptions } from './runs/find_runs.js';
import { contentOf } from './trace/output.js';
import { isEverything } from './trace/tracks/selection.js';
import { OUTPUT_KINDS, TRACE } from './trace/output_kinds.js';
import { said } from './runs/redact.js';
import type { MergeReport } from './report/report.js';
import type { ClockOptions } from './clocks/evidence/run_clocks.js';
import { failure, scanRun } from './study/scanned_run.js';
import { dumpsFor, type FlightOptions } from './pytorch/flight_report.js';
import { checkRequest } from './trace/selection.js';
import { study, type Study } from './study/study.js';
import type { VerdictOptions } from './verdict/facts/run_verdict.js';
import { startWorkers, withWorkers, type Workers } from './study/workers.js';
import { checkOutput } from './output/allowed.js';
import { withWorkFolderFor } from './output/deliver.js';
import { findRankFiles } from './rankfile/index.js';
import type { BesidePlace, DrawnBeside } from './foreign/beside/beside.js';
import { refuseRedacted, type WithFile } from './foreign/beside/with_file.js';

export interface MergeOptions
  extends ClockOptions, RunOptions, VerdictOptions, FlightOptions, Omit<FinishOptions, 'dumps'> {
  /** Rank files and directories of them. */
  readonly inputs: readonly string[];
  /** Path of the trace (.pftrace, .pftrace.gz, .pftrace.zst), or "-". */
  readonly output: string;
  /** Where "-" goes. */
  readonly stdout?: Writable | undefined;
  readonly force?: boolean | undefined;
  /** Ends the merge with `Interrupted`; nothing is left behind. */
  readonly interrupt?: AbortSignal | undefined;
  /** A file that cannot be used fails the merge. */
  readonly strict?: boolean | undefined;
  /** Files of other tools, drawn beside their ranks. */
  readonly with?: readonly WithFile[] | undefined;
  /** Files worked on at once; 1: no threads. */
  readonly jobs?: number | undefined;
  /** ns: how much of a stream file is read around a selected time (study/read_windows.ts). */
  readonly aroundNs?: number | undefined;
  /** Called with the reason when the merge waits: the verdict may need a second look at files of ranks that seem alive. */
  readonly onWait?: ((text: string) => void) | undefined;
}

const NOTHING_BESIDE: DrawnBeside = { reports: [], drawn: [], blockPaths: [], files: [], pictures: [] };

/** Throws NoUsableInput, RankFileError (a path that holds none), OutputError, UsageError. */
export async function merge(options: MergeOptions): Promise<MergeReport> {
  checkRequest(options.select ?? {});
  checkTraceName(options.output);
  const dumps = dumpsFor(options);
  const found = findRankFiles(options.inputs);
  const output = { path: options.output, kind: TRACE };
  const others = options.with ?? [];
  refuseRedacted(others, options.redact);
  const inputs = [...found.files, ...others.map(({ path }) => path)];
  const permission = { force: options.force ?? false, inputs, others: OUTPUT_KINDS };
  const place = checkOutput(output, permission);
  const { stdout, interrupt } = options;
  const workers = startWorkers(found.files, 2, options);
  try {
    return await withWorkFolderFor(place, interrupt, async (folder) => {
      // A report is always about the whole run.
      const select = options.onReport ? undefined : options.select;
      const studied = await study(workers, found.files, folder, {
        ...options,
        ...{ select, readsTwice: true },
      });
      // The readers of other tools' files are loaded when there is such a file.
      const readers = others.length === 0 ? null : await import('./foreign/beside/beside.js');
      const beside = readers?.partsOf(others, studied, folder) ?? [];
      const planned = planTrace(studied, options, beside.length);
      const { plans } = planned.drawing.decision;
      // Before the ranks are drawn: their works have arrows to what is drawn here.
      const where: BesidePlace = {
        ...{ folder, output: options.output, blockCount: planned.layout.blockCount },
        wantsPictures: options.onReport !== undefined,
        windowsOf: (file) => plans[file] && (isEverything(plans[file]) ? null : plans[file].windows),
      };
      const foreign = (await readers?.drawBeside(beside, studied, where, options)) ?? NOTHING_BESIDE;
      const blockPath = (file: number): string => join(folder, workers.inTurn ? 'blocks' : `block-${file}`);
      const layout = { ...planned.layout, beside: foreign.files };
      const jobs = convertJobs(studied, planned.drawing, blockPath, options.output, layout);
      const blocks = await convertAll(workers, jobs, studied, options);
      const pictures = (await readers?.withNetwork(foreign.pictures, studied, workers)) ?? [];
      // The last step needs the memory that the threads keep.
      await workers.close();
      const delivery = { place, output, permission, interrupt, stdout };
      const problems = shownAs(found.problems, studied.aliases);
      const content = contentOf([...blockPaths(jobs), ...foreign.blockPaths]);
      return finishTrace(planned, blocks, content, delivery, folder, {
        ...options,
        ...{ problems, dumps, foreign: { ...foreign, pictures } },
      });
    });
  } finally {
    await workers.close();
  }
}

export function checkTraceName(path: string): void {
  if (/\.(zip|json)$/.test(path))
    throw new UsageError(`${path}: traces are written as .pftrace, .pftrace.gz or .pftrace.zst`);
}

/** The clocks of a run without a trace. */
export async function findClocks(
  options: ClockOptions & RunOptions & Pick<MergeOptions, 'inputs' | 'jobs' | 'interrupt' | 'onProgress'>,
): Promise<ClocksReport & Pick<MergeReport, 'problems' | 'unusable'>> {
  const found = findRankFiles(options.inputs);
  return withWorkers(found.files, options, async (workers, folder) => {
    const scanned = await scanRun(workers, found.files, folder, options);
    const { run, clocks, unusable } = scanned;
    return {
      ...reportAllClocks(clocks, run),
      unusable,
      problems: [...shownAs(found.problems, scanned.aliases), ...unusable, ...run.problems],
    };
  });
}

/** In the order of the jobs; null: the file is not drawn. */
async function convertAll(
  workers: Workers,
  jobs: readonly (ConvertJob | null)[],
  studied: Study,
  options: MergeOptions,
): Promise<(ConvertResult | null)[]> {
  const wanted = jobs.filter((job) => job !== null);
  const outcomes = await workers.run(
    wanted.map((job) => ({ pass: 'convert', job })),
    countFiles('convert', wanted.length, options.onProgress),
  );
  const blocks = new Map<ConvertJob, ConvertResult>();
  outcomes.forEach((outcome, i) => {
    if (!outcome.ok || !outcome.block)
      throw new OutputError(options.output, said(failure(outcome), studied.aliases), 'nothing was written');
    blocks.set(wanted[i]!, outcome.block);
  });
  return jobs.map((job) => job && blocks.get(job)!);
}

const blockPaths = (jobs: readonly (ConvertJob | null)[]): string[] => [
  ...new Set(jobs.flatMap((job) => (job ? [job.blockPath] : []))),
];
