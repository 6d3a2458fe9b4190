/** Makes one job per file, from a study and a plan. A job holds everything that the second pass over its file needs from other files. */

import { entryOf } from '../base/grouped.js';
import { domainOfFile, type ClockDomain, type ClockSolution } from '../clocks/domains.js';
import { collectiveCorrelation, connectionHash, firstWorkArrow, transferName } from '../model/identity.js';
import { ALWAYS, isEverything, type Window } from './tracks/selection.js';
import { sampleInterval } from './sample_interval.js';
import { compressionOf } from './compression.js';
import type { ConvertJob } from './convert.js';
import type { Drawing } from './drawing.js';
import { runDuration } from './duration.js';
import { namedCall, silencesOf } from './first_screen.js';
import { jobRanks, jobRanksOf } from '../runs/job_ranks.js';
import { scannedFile } from './scanned_file.js';
import { processSpec, shortTitle } from './labels.js';
import type { OriginTable } from '../cluster/pxn.js';
import type { Run, RunMember } from '../runs/run.js';
import { suspectsOf } from '../verdict/facts/suspects.js';
import type { Study } from '../study/study.js';

import type { Layout } from './above_ranks.js';
import { busiestPeers } from '../scan/transfer_totals.js';

/**
 * By file; null: the file is not drawn. `blockPath`: by file, where its block goes. `output`: path of the trace, which decides the
 * compression. `blockCount`: number of blocks in the trace, with those of missing ranks. `watches`: the rows on the first screen.
 */
export function convertJobs(
  { run, clocks: { solution: clocks, broken }, origins, ends, gpuLines, aliases, readFrom, verdict }: Study,
  { decision: { plans } }: Drawing,
  blockPath: (file: number) => string,
  output: string,
  { blockCount, watches, beside }: Pick<Layout, 'blockCount' | 'watches' | 'beside'>,
): (ConvertJob | null)[] {
  const duration = runDuration(run, clocks);
  const rateBinNs = niceBin(duration);
  const silences = silencesOf(verdict);
  const numbers = jobRanks(run);
  const accused = suspectsOf(verdict);
  const outOfStep = new Map(broken.outOfStep.map((one) => [transferName(connectionHash(one)), one.from]));
  const isWhole = plans.every((plan) => plan !== null && isEverything(plan));
  const drawn = (files: readonly number[]): number[] => files.filter((file) => plans[file] !== null);
  // A job of a thousand files has few clocks.
  const clockMates = new Map<number, Mates>();
  const counterMates = new Map<ClockDomain, Mates>();
  const call = namedCall(verdict);
  const named = call && collectiveCorrelation(call.commId, call.func, call.seq, call.ordinal);
  return run.members.map((member, file) => {
    const plan = plans[file];
    if (!plan) return null;
    const domain = domainOfFile(clocks, file);
    return {
      ...scannedFile(member.scan, readFrom[file]!, aliases),
      blockIndex: file,
      blockCount,
      process: processSpec(member, file, accused),
      title: shortTitle(member),
      watches: watches.filter((one) => one.file === file),
      named,
      commNames: new Map(member.scan.communicators.map(({ number, name }) => [number, name])),
      jobRanks: jobRanksOf(numbers, namedIn(member, origins[file]!)),
      traceStart: clocks.traceStart,
      map: domain.map,
      scale: clocks.scales[file]!,
      gpuLines: gpuLines[file]!,
      workEnds: ends[file]!,
      standInSteps: member.scan.standInSteps,
      lastSign: member.scan.lastSign,
      silence: silences[file]!,
      bareCalls: member.scan.bareCalls,
      endlessConnections: member.scan.endlessConnections,
      origins: origins[file]!,
      clockMates: entryOf(clockMates, domain.group, () => mates(run, drawn(onAxisOf(clocks, domain.group)))),
      counterMates: entryOf(counterMates, domain, () => mates(run, drawn(domain.files))),
      brokenTransfers: broken.names,
      outOfStep,
      busiestPeers: busiestPeers(member.scan.transfers),
      workArrows: beside.includes(file) ? firstWorkArrow(file) : null,
      rateBinNs,
      sampleNs: sampleNs(isWhole ? ALWAYS : plan.windows.op, duration),
      plan: isWhole ? null : plan,
      callRings: member.scan.size.callRings,
      compression: compressionOf(output),
      blockPath: blockPath(file),
    };
  });
}

/** The file's own communicators, and those for which it executes sends. */
const namedIn = ({ scan }: RunMember, { contexts }: OriginTable) => [
  ...scan.communicators,
  ...[...contexts.values()].map(({ comm }) => comm),
];

/** For a drawn time of this length; null: no counter is drawn. */
const sampleNs = (window: Window | null, duration: number): number =>
  sampleInterval(window === null ? 0 : Math.min(window.to, duration) - Math.max(window.from, 0));

function onAxisOf({ domains }: ClockSolution, group: number): number[] {
  return domains.filter((domain) => domain.group === group).flatMap(({ files }) => files);
}

/** Per communicator the ranks of these files. */
type Mates = Map<string, Set<number>>;

function mates(run: Run, files: readonly number[]): Mates {
  const ranks: Mates = new Map();
  for (const file of files) {
    for (const comm of run.members[file]!.scan.communicators) {
      if (comm.commId === 0n) continue; // its id is not known: two of them are not the same
      const key = String(comm.commId);
      entryOf(ranks, key, () => new Set()).add(comm.rank);
    }
  }
  return ranks;
}

/** 1, 2 or 5 times a power of ten milliseconds: a run has some thousand bins, of 1 ms if it is short. */
function niceBin(duration: number): number {
  let bin = 1e6;
  for (const factor of [2, 2.5, 2]) {
    if (duration / bin <= 4096) return bin;
    bin *= factor;
  }
  return niceBin(duration / 10) * 10;
}
