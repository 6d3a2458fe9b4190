/**
 * Many rank files, one trace. The whole program in one page:
 *
 *   find     which files there are                                          reader
 *   scan     each file by itself: who it is, when work ended, its clock     reader → model
 *   choose   the run, one file per rank                                     merge/run
 *   clocks   every host on one axis                                         clocks
 *   origins  who executed whose sends (PXN)                                 merge/origins
 *   verdict  what all ranks did together, and who held them up              cluster → verdict
 *   plan     what of it is drawn: selection and budget                      merge/drawing
 *   convert  each file by itself into a block of packets                    reader → model → tracks → perfetto
 *   cluster  what all ranks did together, as a block of its own             tracks → perfetto
 *   join     prologue + cluster + blocks in rank order                      perfetto, merge/output
 *
 * Up to the verdict it is `merge/study`, which `inspect` shares. The bytes depend on the files alone: not on their order, nor
 * on how many workers there were. Of a job that still runs also on when they were read: who is alive is then no suspect,
 * and not silent.
 */

import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Writable } from 'node:stream';
import { OutputError } from './base/errors.js';
import type { ClockDomain, ClockSolution } from './clocks/domains.js';
import { reportClocks, reportTraffic } from './merge/clock_report.js';
import { clusterBlock } from './merge/cluster.js';
import { compressionOf } from './merge/compression.js';
import type { ConvertJob, ConvertResult } from './merge/convert.js';
import { diagnosisOf, type Diagnosis } from './merge/diagnosis.js';
import { type Drawing, planDrawing, suggestDrawing } from './merge/drawing.js';
import type { Size } from './merge/budget.js';
import { runDuration } from './merge/duration.js';
import { lookAtAttributes } from './merge/look_at.js';
import { processSpec, tracePrologue } from './merge/labels.js';
import { assemble, checkTarget, reason, withWorkFolder } from './merge/output.js';
import { countTrace, reportOutOfStep, reportRank, type MergeReport } from './merge/report.js';
import { checkRequest, type SelectionRequest } from './merge/selection.js';
import { reportSelection, selectionAttributes } from './merge/selection_report.js';
import type { ClockOptions } from './merge/run_clocks.js';
import { redactPaths, redactRun } from './merge/redact.js';
import { listRun, type Run, type RunListing } from './merge/run.js';
export type { RunListing } from './merge/run.js';
import { aliasesOf, failure, findRuns, scanRun, study, type RunOptions, type Study } from './merge/study.js';
import type { VerdictOptions } from './merge/verdict.js';
import { silentFiles } from './merge/silence.js';
import { startWorkers, type Workers } from './merge/workers.js';
import { findRankFiles } from './reader/index.js';
import { connectionHash, transferName } from './tracks/identity.js';
import { isEverything } from './tracks/selection.js';

export interface MergeOptions extends ClockOptions, RunOptions, VerdictOptions {
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
  /** What of the run is drawn; absent: all of it, as far as the budget goes. */
  readonly select?: SelectionRequest | undefined;
  /** What is drawn at most where no detail was asked for. Default: what a browser shows at ease. */
  readonly budget?: Size | undefined;
  /** A detail that was asked for is refused beyond this. Default: what a browser opens at all. */
  readonly utmost?: Size | undefined;
  /** Files worked on at once; 1: no threads. */
  readonly jobs?: number | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** The verdict for people, as the trace's own attribute: who is given the trace alone reads it there. */
  readonly words?: ((found: Diagnosis) => string) | undefined;
}

export interface Progress {
  readonly stage: 'scan' | 'convert';
  readonly done: number;
  readonly total: number;
}

/** Throws NoUsableInput, RankFileError (a path that holds none), OutputError, UsageError. */
export async function merge(options: MergeOptions): Promise<MergeReport> {
  checkRequest(options.select ?? {});
  checkTarget(options.output, options.force ?? false);
  const found = findRankFiles(options.inputs);
  const workers = startWorkers(options.jobs, found.files, options.interrupt);
  try {
    return await withWorkFolder(options.output, options.interrupt, async (folder) => {
      const studied = await study(workers, found.files, folder, {
        ...options,
        onScanned: counting('scan', found.files.length, options),
      });
      const { run, clocks } = studied;
      const { solution } = clocks;
      const drawing = planDrawing(studied, options);
      const jobs = planBlocks(studied, drawing, folder, options.output);
      const blocks = await convertAll(workers, jobs, studied, options);
      const duration = runDuration(run, solution);
      const cluster = clusterBlock(run, clocks, studied.comms, drawing.decision.cluster, duration);
      const selection = reportSelection(studied, drawing, blocks);
      const diagnosis = diagnosisOf(studied, suggestDrawing(studied, options));
      const { traffic } = diagnosis;
      const head = tracePrologue(run, solution, studied.verdict, [
        ...lookAtAttributes(run, studied.verdict),
        ...(options.words ? [['nccl_trace.report', options.words(diagnosis)] as const] : []),
        ...selectionAttributes(selection, run),
      ]);
      const prologue = Buffer.concat([head, cluster.bytes]);
      const bytes = await assemble(options.output, folder, prologue, blockPaths(jobs), options.stdout).catch(
        outputFailed(options),
      );
      return {
        version: 1,
        verdict: studied.verdict,
        output: options.redact ? basename(options.output) : options.output,
        bytes,
        worldSize: run.worldSize,
        missingRanks: run.missing,
        otherRuns: run.others,
        traceStart: String(solution.traceStart),
        durationNs: duration,
        records: studied.records,
        trace: countTrace(
          blocks.filter((block) => block !== null),
          cluster.counts,
        ),
        selection,
        suggestion: diagnosis.suggestion,
        ranks: run.members.map((member, i) =>
          reportRank(member, studied.ends[i]!, studied.origins[i]!, blocks[i] ?? null),
        ),
        clocks: diagnosis.clocks,
        traffic,
        outOfStep: reportOutOfStep(clocks.broken.outOfStep, run),
        problems: [
          ...found.problems.map((sentence) => inWordsOf(studied, sentence)),
          ...studied.unusable,
          ...run.problems,
          ...(traffic?.leftOut ?? []),
        ],
      };
    });
  } finally {
    await workers.close();
  }
}

/** The clocks of a run without a trace. */
export async function findClocks(
  options: ClockOptions & RunOptions & Pick<MergeOptions, 'inputs' | 'jobs' | 'interrupt'>,
): Promise<Pick<MergeReport, 'clocks' | 'traffic' | 'problems'>> {
  const found = findRankFiles(options.inputs);
  const workers = startWorkers(options.jobs, found.files, options.interrupt);
  try {
    return await withWorkFolder(join(tmpdir(), 'nccl-trace'), options.interrupt, async (folder) => {
      const scanned = await scanRun(workers, found.files, folder, options);
      const { run, clocks, unusable } = scanned;
      return {
        clocks: reportClocks(clocks, run),
        traffic: reportTraffic(clocks),
        problems: [
          ...found.problems.map((sentence) => inWordsOf(scanned, sentence)),
          ...unusable,
          ...run.problems,
        ],
      };
    });
  } finally {
    await workers.close();
  }
}

/** The runs that the files are of, the newest first. Reads headers and tables only. Throws RankFileError. */
export function listRuns(
  inputs: readonly string[],
  { redact }: Pick<RunOptions, 'redact'> = {},
): {
  readonly runs: readonly RunListing[];
  readonly problems: readonly string[];
} {
  const found = findRankFiles(inputs);
  const { runs, unusable } = findRuns(found.files);
  const problems = [...found.problems, ...unusable];
  if (!redact) return { runs: runs.map(listRun), problems };
  const aliases = aliasesOf(runs, found.files);
  return {
    runs: runs.map((run) => listRun(redactRun(run, aliases))),
    problems: problems.map((sentence) => redactPaths(sentence, aliases)),
  };
}

const inWordsOf = ({ aliases }: Pick<Study, 'aliases'>, sentence: string): string =>
  aliases === null ? sentence : redactPaths(sentence, aliases);

/** By file, as the jobs; null: not drawn. */
async function convertAll(
  workers: Workers,
  jobs: readonly (ConvertJob | null)[],
  studied: Study,
  options: MergeOptions,
): Promise<(ConvertResult | null)[]> {
  const wanted = jobs.filter((job) => job !== null);
  const outcomes = await workers.run(
    wanted.map((job) => ({ pass: 'convert', job })),
    counting('convert', wanted.length, options),
  );
  const blocks = new Map<ConvertJob, ConvertResult>();
  outcomes.forEach((outcome, i) => {
    if (!outcome.ok || !outcome.block)
      throw new OutputError(options.output, inWordsOf(studied, failure(outcome)), 'nothing was written');
    blocks.set(wanted[i]!, outcome.block);
  });
  return jobs.map((job) => job && blocks.get(job)!);
}

function planBlocks(
  { run, clocks: { solution: clocks, broken }, origins, ends, gpuLines, aliases, sources }: Study,
  { decision: { plans } }: Drawing,
  folder: string,
  output: string,
): (ConvertJob | null)[] {
  const rateBinNs = niceBin(runDuration(run, clocks));
  const silent = silentFiles(run, clocks);
  const outOfStep = new Map(broken.outOfStep.map((one) => [transferName(connectionHash(one)), one.from]));
  const isWhole = plans.every((plan) => plan !== null && isEverything(plan));
  const drawn = (files: readonly number[]): number[] => files.filter((file) => plans[file] !== null);
  return run.members.map((member, file) => {
    const plan = plans[file];
    if (!plan) return null;
    const domain = clocks.domains[clocks.domainOf[file]!]!;
    return {
      path: sources[file]!,
      aliases,
      blockIndex: file,
      blockCount: run.members.length + 1, // and the cluster's
      process: processSpec(member, file),
      traceStart: clocks.traceStart,
      map: domain.map,
      scale: clocks.scales[file]!,
      gpuLines: gpuLines[file]!,
      workEnds: ends[file]!,
      standInSteps: member.scan.standInSteps,
      lastSign: member.scan.lastSign,
      isSilent: silent[file]!,
      silentCalls: member.scan.silentCalls,
      silentConnections: member.scan.silentConnections,
      origins: origins[file]!,
      clockMates: mates(run, drawn(onAxisOf(clocks, domain))),
      counterMates: mates(run, drawn(domain.files)),
      brokenTransfers: broken.names,
      outOfStep,
      busiestPeers: member.scan.busiestPeers,
      rateBinNs,
      plan: isWhole ? null : plan,
      callRings: member.scan.size.callRings,
      compression: compressionOf(output),
      blockPath: join(folder, `block-${file}`),
    };
  });
}

function onAxisOf({ domains }: ClockSolution, { group }: ClockDomain): number[] {
  return domains.filter((domain) => domain.group === group).flatMap(({ files }) => files);
}

/** Per communicator the ranks whose files these are. */
function mates(run: Run, files: readonly number[]): Map<string, Set<number>> {
  const ranks = new Map<string, Set<number>>();
  for (const file of files) {
    for (const comm of run.members[file]!.scan.communicators) {
      if (comm.commId === 0n) continue; // never told which it is: two of them are not the same
      const key = String(comm.commId);
      ranks.set(key, (ranks.get(key) ?? new Set()).add(comm.rank));
    }
  }
  return ranks;
}

/** 1, 2 or 5 times a power of ten milliseconds, so that a run has some thousand bins and short ones 1 ms. */
function niceBin(duration: number): number {
  let bin = 1e6;
  for (const factor of [2, 2.5, 2]) {
    if (duration / bin <= 4096) return bin;
    bin *= factor;
  }
  return niceBin(duration / 10) * 10;
}

const blockPaths = (jobs: readonly (ConvertJob | null)[]): string[] =>
  jobs.flatMap((job) => (job ? [job.blockPath] : []));

function counting(
  stage: Progress['stage'],
  total: number,
  { onProgress }: Pick<MergeOptions, 'onProgress'>,
): (of?: number) => void {
  let done = 0;
  return (of = total) => onProgress?.({ stage, done: ++done, total: of });
}

function outputFailed({ output }: MergeOptions) {
  return (error: unknown): never => {
    throw new OutputError(output, reason(error), 'nothing was written', { cause: error });
  };
}
