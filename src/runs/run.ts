/**
 * Picks the run to merge, with one file per rank, and the files of the processes that a rank's newest one replaced. A trace never has two
 * runs. For each file that is left out, a sentence says why. Pure: reads no file.
 */

import { maxOf } from '../base/extremes.js';
import { UsageError } from '../base/errors.js';
import { hint } from '../base/nearest.js';
import {
  compare,
  lastSeen,
  processKey,
  isRankOther,
  ranksAmong,
  groupIntoRuns,
  utcSeconds,
  type FoundRun,
  type RunFile,
} from './runs.js';
import type { RankScan } from '../scan/scan.js';

export interface RunMember {
  readonly scan: RankScan;
  /** The first of the process's ranks. null: neither the environment nor a communicator names it. Such files come last. */
  readonly rank: number | null;
  /** Several if the process has several GPUs. Empty: unknown. */
  readonly ranks: readonly number[];
  /** A newer process took its rank when it had died. */
  readonly isReplaced: boolean;
}

/** For reports: present only if a process has several GPUs. */
export const severalRanks = (ranks: readonly number[]): { readonly ranks?: readonly number[] } =>
  ranks.length > 1 ? { ranks } : {};

export interface Run {
  readonly members: readonly RunMember[];
  /** The largest world named by headers or communicators; 0 if none. */
  readonly worldSize: number;
  readonly missing: readonly number[];
  /** The other runs found, the newest first. */
  readonly others: readonly OtherRun[];
  readonly problems: readonly string[];
}

export interface OtherRun {
  /** The name for `--run`. */
  readonly name: string;
  /** ISO 8601, UTC. */
  readonly started: string;
  readonly files: number;
  /** A job beside this one, such as a replica: half of its processes or more went on after all of this one's had begun. */
  readonly isBeside: boolean;
}

export function otherRun({ name, started, files }: FoundRun, chosen: FoundRun): OtherRun {
  const wentOn = files.filter((file) => lastSeen(file) > chosen.newestStart + AFTER_RESTART);
  return {
    name,
    started: utcSeconds(started),
    files: files.length,
    isBeside: 2 * wentOn.length >= files.length,
  };
}

/** ns: processes of the start before may end while those of the next one begin. */
const AFTER_RESTART = 5_000_000_000n;

export type RunListing = Readonly<ReturnType<typeof listRun>>;

export const listRun = ({ name, id, started, lastSeen: seen, files }: FoundRun) => ({
  /** The name for `run`. */
  name,
  id,
  /** ISO 8601, UTC: when its first process started, and the last sign of life of any. */
  started: utcSeconds(started),
  lastSeen: utcSeconds(seen),
  /** Ascending. */
  ranks: [...new Set(files.flatMap(ranksAmong(files)))].sort((a, b) => a - b),
  worldSize: worldSizeOf(files),
  files: files.map(({ path }) => path),
});

/** For a run whose files are all known. */
export function chooseRun(scans: readonly RankScan[]): Run {
  const [chosen, ...others] = groupIntoRuns(scans) as [FoundRun<RankScan>, ...FoundRun<RankScan>[]];
  const { members, problems } = oneFilePerRank(chosen.files);
  const worldSize = worldSizeOf(chosen.files);
  const present = new Set(members.flatMap(({ ranks }) => ranks));
  return {
    members,
    worldSize,
    missing: Array.from({ length: worldSize }, (_, rank) => rank).filter((rank) => !present.has(rank)),
    others: [],
    problems: [...setAside(others, chosen), ...problems],
  };
}

/** `wanted`: a name, or the beginning of one; undefined: the newest. Throws UsageError. */
export const pickRun = <T extends RunFile>(
  runs: readonly FoundRun<T>[],
  wanted: string | undefined,
): FoundRun<T> => (wanted === undefined ? runs[0]! : namedRun(runs, wanted));

function namedRun<T extends RunFile>(runs: readonly FoundRun<T>[], wanted: string): FoundRun<T> {
  const exact = runs.find(({ name }) => name === wanted);
  if (exact) return exact;
  const alike = runs.filter(({ name }) => name.startsWith(wanted));
  if (wanted !== '' && alike.length === 1) return alike[0]!;
  const names = runs.map(({ name }) => name);
  const shown = (alike.length > 0 ? alike : runs).slice(0, 5).map(({ name }) => name);
  throw new UsageError(
    `--run ${wanted}: ${alike.length > 1 ? 'several runs begin like that' : `no such run here${hint(wanted, names)}`}; there ` +
      `${runs.length === 1 ? 'is' : 'are'} ${shown.join(', ')}${runs.length > shown.length ? '...' : ''} (--run list shows all)`,
  );
}

/** Sentences on the runs that were left out. */
export function setAside(others: readonly FoundRun[], chosen: FoundRun): string[] {
  if (others.length <= MOST_NAMED) return others.map((run) => leftOut(run, chosen));
  const files = others.reduce((sum, run) => sum + run.files.length, 0);
  return [
    `${files} files are of ${others.length} other runs (the newest run here is ${runTitle(chosen)}) and left out; ` +
      '--run list shows them, --run NAME names one',
  ];
}

/** A directory usually holds many runs. More than this share one sentence. */
const MOST_NAMED = 3;

function leftOut(run: FoundRun, chosen: FoundRun): string {
  const files = run.files.length === 1 ? 'is' : `and ${run.files.length - 1} more are`;
  const what = run.id !== '' && run.id === chosen.id ? 'another start of the same job' : 'another run';
  return (
    `${run.files[0]!.path} ${files} of ${what} (${runTitle(run)}; the newest run here is ${runTitle(chosen)}); ` +
    `--run ${run.name} names it`
  );
}

function runTitle({ name, id, started }: FoundRun): string {
  const when = `started ${utcSeconds(started).replace('T', ' ')} UTC`;
  return id === '' ? when : `${name}, ${when}`;
}

function oneFilePerRank(scans: readonly RankScan[]): { members: RunMember[]; problems: string[] } {
  const problems: string[] = [];
  const taken = new Map<number | string, RunMember>();
  const members: RunMember[] = [];
  const sorted = [...scans].sort(
    (a, b) =>
      compare(lastSeen(b), lastSeen(a)) || compare(areRings(a), areRings(b)) || compare(a.path, b.path),
  );
  const ranksOf = ranksAmong(scans);
  for (const scan of sorted) {
    const ranks = ranksOf(scan);
    const keys = [processKey(scan), ...ranks];
    const rival = keys.map((key) => taken.get(key)).find((member) => member !== undefined);
    if (rival && !wasReplaced(scan, rival.scan, scans)) problems.push(rivalry(rival.scan, scan, ranks));
    else {
      const member = { scan, rank: ranks[0] ?? null, ranks, isReplaced: rival !== undefined };
      members.push(member);
      // The oldest of a rank's processes: the next one that is found is older still.
      for (const key of keys) taken.set(key, member);
    }
  }
  members.sort(
    (a, b) =>
      compare(a.rank ?? Infinity, b.rank ?? Infinity) ||
      compare(b.scan.header.startRealtime, a.scan.header.startRealtime) ||
      compare(processKey(a.scan), processKey(b.scan)),
  );
  return { members, problems };
}

/** It had died when the other one began, and worked with other ranks of this run in communicators that the other one never had. */
function wasReplaced(old: RankScan, by: RankScan, scans: readonly RankScan[]): boolean {
  const isApart = old.communicators.every(({ commId }) => !isIn(commId, by));
  return (
    lastSeen(old) <= by.header.startRealtime &&
    isApart &&
    old.communicators.some(({ commId }) =>
      scans.some((one) => processKey(one) !== processKey(old) && isIn(commId, one)),
    )
  );
}

const isIn = (id: bigint, { communicators }: RankScan): boolean =>
  id !== 0n && communicators.some(({ commId }) => commId === id);

/** Saved rings under another name: the rank file has the same rings, and its chunks. */
const areRings = ({ path }: RankScan): number => Number(path.endsWith('.rings'));

function rivalry(kept: RankScan, dropped: RankScan, ranks: readonly number[]): string {
  if (processKey(kept) === processKey(dropped)) {
    const copy = compare(lastSeen(kept), lastSeen(dropped)) === 0 ? 'another' : 'an older';
    return `${dropped.path} is ${copy} copy of ${kept.path} (same process) and left out`;
  }
  return (
    `${kept.path} and ${dropped.path} both claim rank ${ranks.join(', ')}: two processes of one run, perhaps a ` +
    'restarted rank; the one last seen alive is used, merge the other by itself'
  );
}

/** By communicators alone if the environment counts something else than ranks. */
function worldSizeOf(scans: readonly RunFile[]): number {
  const known = scans.flatMap(({ communicators }) => communicators.map(({ nRanks }) => nRanks));
  return maxOf(
    [...known, ...(isRankOther(scans) ? [] : scans.map(({ header }) => header.worldSize ?? 0))],
    0,
  );
}
