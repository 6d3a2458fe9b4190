/**
 * Everything that is known before a packet is written: the run, its clocks, who executed whose sends, what all ranks did
 * together, and the verdict. `inspect` stops here, `merge` goes on.
 */

import { joinRun } from '../cluster/join_run.js';
import { runLinks, type RunLinks } from '../cluster/run_links.js';
import type { TraceNs } from '../base/time.js';
import { comparableBy } from '../clocks/comparable.js';
import { traceTimeOf } from '../clocks/domains.js';
import type { ClusterComm } from '../cluster/collective_view.js';
import type { WorkEndTable } from '../model/work_end_table.js';
import type { Verdict } from '../verdict/types.js';
import { gpuLines, type GpuLines } from '../clocks/evidence/gpu_clocks.js';
import { resolveOrigins, type OriginTable } from '../cluster/pxn.js';
import type { Run } from '../runs/run.js';
import { runDuration } from '../trace/duration.js';
import { scanRun, type ScannedRun, type ScanOptions } from './scanned_run.js';
import { runVerdict, type VerdictOptions } from '../verdict/facts/run_verdict.js';
import { suspects } from '../verdict/facts/suspects.js';
import { withCutOff } from './cut_off.js';
import { seemAlive, stillAlive } from './second_look.js';
import type { Workers } from './workers.js';

export interface Study extends ScannedRun {
  /** By file, as are the next ones. */
  readonly origins: readonly OriginTable[];
  /** Includes the operations that other processes executed. */
  readonly ends: readonly WorkEndTable[];
  readonly gpuLines: readonly GpuLines[];
  readonly comms: readonly ClusterComm[];
  readonly links: RunLinks;
  readonly verdict: Verdict;
  /** By file: its process was alive when the file was read. A second look confirmed it if the verdict depends on it. */
  readonly alive: readonly boolean[];
}

export interface StudyOptions extends ScanOptions, VerdictOptions {
  /** Called once if the study waits for a second look. */
  readonly onWait?: ((text: string) => void) | undefined;
}

/** `folder`: for side files. Throws NoUsableInput. */
export async function study(
  workers: Workers,
  files: readonly string[],
  folder: string,
  options: StudyOptions,
): Promise<Study> {
  const scanned = await scanRun(workers, files, folder, options);
  // Threads that have no more work would keep their memory while the ranks are joined.
  if (options.readsTwice !== true) await workers.close();
  return studyScanned(scanned, options, (alive) => stillAlive(scanned.run, alive, scanned.sources));
}

/** `lookAgain`: which of the files that seemed alive still are. */
export async function studyScanned(
  scanned: ScannedRun,
  options: StudyOptions,
  lookAgain: (alive: readonly boolean[]) => Promise<readonly boolean[]>,
): Promise<Study> {
  options.onProgress?.({ stage: 'verdict', files: null });
  const joined = joinRanks(scanned);
  const judge = judgeOf(joined, options);
  return judged(joined, await verdictOf(scanned.run, judge, lookAgain, options.onWait));
}

/** What all ranks did together, before it is judged. */
export type JoinedRun = Omit<Study, 'verdict' | 'alive'>;

export function joinRanks(scanned: ScannedRun): JoinedRun {
  const { run } = scanned;
  const { solution } = scanned.clocks;
  const times = run.members.map((_, file) => traceTimeOf(solution, file));
  const origins = resolveOrigins(run.members, (file, tick) => times[file]!(tick));
  const ends = run.members.map(({ scan: { workEnds } }, file) => ({
    ...workEnds,
    elsewhere: origins[file]!.elsewhere,
  }));
  const lines = run.members.map(({ scan }, file) => gpuLines(scan, solution.scales[file]!));
  const comms = joinRun(run, solution, ends, lines);
  const { clockBound } = comparableBy(solution);
  const duration = runDuration(run, solution);
  const middle = (duration / 2) as TraceNs;
  const links = runLinks(run, scanned.clocks.transferTimes, (a, b) => clockBound(a, b, middle), duration);
  return { ...scanned, origins, ends, gpuLines: lines, comms, links };
}

export const judged = (joined: JoinedRun, found: Pick<Study, 'verdict' | 'alive'>): Study => ({
  ...withCutOff(joined, found.verdict),
  ...found,
});

type Judge = (alive: readonly boolean[]) => Verdict;

export const judgeOf =
  ({ run, clocks, ends, origins, ...joined }: JoinedRun, options: VerdictOptions): Judge =>
  (alive) =>
    runVerdict(run, clocks.solution, ends, origins, joined, { ...options, alive });

/** Takes a second look if the verdict depends on who is alive. */
async function verdictOf(
  run: Run,
  judge: Judge,
  lookAgain: (alive: readonly boolean[]) => Promise<readonly boolean[]>,
  onWait: StudyOptions['onWait'],
): Promise<Pick<Study, 'verdict' | 'alive'>> {
  const alive = seemAlive(run);
  const verdict = judge(alive);
  if (!alive.includes(true)) return { verdict, alive };
  const otherwise = judge(alive.map(() => false));
  if (otherwise.kind === verdict.kind && String(suspects(otherwise)) === String(suspects(verdict)))
    return { verdict, alive };
  onWait?.('waits up to 2 s: the verdict depends on whether the ranks are still alive');
  const still = await lookAgain(alive);
  return { verdict: judge(still), alive: still };
}
