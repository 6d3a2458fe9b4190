/**
 * Everything that is known before a packet is written: the run, its clocks, who executed whose sends, what all ranks did
 * together, and the verdict. `merge` goes on from here; `inspect` stops.
 */

import { join } from 'node:path';
import { NoUsableInput } from '../base/errors.js';
import { toTrace } from '../clocks/clock_map.js';
import { toLocal, type TickScale } from '../clocks/domains.js';
import { supportLine, type GpuLine } from '../clocks/gpu_clock.js';
import type { ClusterComm } from '../cluster/types.js';
import { withElsewhere, type WorkEnd } from '../model/work_end.js';
import { openRankFileHeader } from '../reader/index.js';
import type { Verdict } from '../verdict/types.js';
import { joinRun } from './cluster.js';
import { resolveOrigins, type OriginTable } from './origins.js';
import { reason } from './output.js';
import { chooseRun, type Run } from './run.js';
import { solveRunClocks, type ClockOptions, type RunClocks } from './run_clocks.js';
import type { RankScan } from './scan.js';
import type { Outcome } from './task.js';
import { runVerdict } from './verdict.js';
import type { Workers } from './workers.js';

/** The files that belong together, on one axis as far as that is known. */
export interface ScannedRun {
  readonly run: Run;
  readonly clocks: RunClocks;
  /** Of all files, also those of other runs. */
  readonly records: number;
  /** Sentences about files that could not be used. */
  readonly unusable: readonly string[];
}

export interface Study extends ScannedRun {
  /** By file, as all that follow. */
  readonly origins: readonly OriginTable[];
  readonly ends: readonly (readonly WorkEnd[])[];
  readonly gpuLines: readonly (GpuLine | null)[];
  readonly comms: readonly ClusterComm[];
  readonly verdict: Verdict;
}

export interface StudyOptions extends ClockOptions {
  /** A file that cannot be used is an error. */
  readonly strict?: boolean | undefined;
  readonly onScanned?: (() => void) | undefined;
}

/** `folder`: for side files. Throws NoUsableInput. */
export async function study(
  workers: Workers,
  files: readonly string[],
  folder: string,
  options: StudyOptions,
): Promise<Study> {
  const scanned = await scanRun(workers, files, folder, options);
  const {
    run,
    clocks: { solution },
  } = scanned;
  const origins = resolveOrigins(run.members, (member, tick) =>
    toTrace(solution.domains[solution.domainOf[member]!]!.map, toLocal(solution.scales[member]!, tick)),
  );
  const ends = run.members.map(({ scan }, file) => completeEnds(scan, origins[file]!));
  const gpuLines = run.members.map(({ scan }, file) => gpuLine(scan, solution.scales[file]!));
  const comms = joinRun(run, solution, ends, gpuLines);
  return { ...scanned, origins, ends, gpuLines, comms, verdict: runVerdict(run, solution, ends, comms) };
}

/** Side files of steps are only written where ranks are on several hosts. Throws NoUsableInput. */
export async function scanRun(
  workers: Workers,
  files: readonly string[],
  folder: string,
  options: StudyOptions,
): Promise<ScannedRun> {
  const wantSteps = options.clock !== 'realtime' && areOnSeveralHosts(files);
  const stepPath = (file: number): string | null => (wantSteps ? join(folder, `steps-${file}`) : null);
  const outcomes = await workers.run(
    files.map((path, file) => ({ pass: 'scan', path, stepPath: stepPath(file) })),
    options.onScanned,
  );
  const scans: RankScan[] = [];
  const stepPaths = new Map<RankScan, string>();
  const unusable: string[] = [];
  outcomes.forEach((outcome, file) => {
    if (!outcome.ok || !outcome.scan) {
      unusable.push(failure(outcome));
      return;
    }
    scans.push(outcome.scan);
    const path = stepPath(file);
    if (path !== null) stepPaths.set(outcome.scan, path);
  });
  if (scans.length === 0 || (options.strict && unusable.length > 0)) throw noInput(unusable, files);
  const run = chooseRun(scans);
  const memberPaths = run.members.map(({ scan }) => stepPaths.get(scan) ?? '');
  const clocks = solveRunClocks(run, memberPaths, options);
  return { run, clocks, records: scans.reduce((sum, scan) => sum + scan.records, 0), unusable };
}

function areOnSeveralHosts(files: readonly string[]): boolean {
  const boots = new Set<string>();
  for (const path of files) {
    try {
      boots.add(openRankFileHeader(path).process.bootId);
    } catch {
      continue; // the scan says what is wrong with it
    }
    if (boots.size > 1) return true;
  }
  return false;
}

/** Work is done when its sends are, also those that other processes executed. */
function completeEnds({ workEnds }: RankScan, { elsewhere }: OriginTable): readonly WorkEnd[] {
  if (elsewhere.size === 0) return workEnds;
  return workEnds.map((end, row) => {
    const executed = elsewhere.get(row);
    return executed ? withElsewhere(end, executed) : end;
  });
}

function gpuLine(scan: RankScan, scale: TickScale): GpuLine | null {
  return supportLine(
    scan.gpuStamps.map(({ noticed, gpu }) => {
      const x = toLocal(scale, noticed);
      return { x, y: x - gpu };
    }),
  );
}

export function failure(outcome: Outcome): string {
  if (outcome.ok) return 'nothing came back';
  return 'unusable' in outcome
    ? outcome.unusable
    : reason(Object.assign(new Error(outcome.system.message), outcome.system));
}

function noInput(unusable: readonly string[], files: readonly string[]): Error {
  const [first] = unusable;
  if (files.length === 1 && first !== undefined) return new NoUsableInput(first);
  return new NoUsableInput(`none of the ${files.length} files can be used:\n  ${unusable.join('\n  ')}`);
}
