/**
 * Which files belong to the run that is merged, and which rank each is. Pure: judges the scans, reads nothing.
 * What is set aside is set aside with a sentence that says why; never two runs in one trace.
 */

import type { RankScan } from './scan.js';

export interface RunMember {
  readonly scan: RankScan;
  /** null: neither the environment nor a communicator said; such files come last. */
  readonly rank: number | null;
}

export interface Run {
  readonly members: readonly RunMember[];
  /** Largest world that header or communicators speak of; 0 when none does. */
  readonly worldSize: number;
  readonly missing: readonly number[];
  readonly problems: readonly string[];
}

/** A rank without any communicator is of the run that started around the same time. */
const SAME_START_NS = 600_000_000_000n;

export function chooseRun(scans: readonly RankScan[]): Run {
  const runs = groupRuns(scans);
  runs.sort((a, b) => compare(newestStart(b), newestStart(a)) || compare(smallestPath(a), smallestPath(b)));
  const [chosen = [], ...others] = runs;
  const { members, problems } = oneFilePerRank(chosen);
  const worldSize = Math.max(0, ...chosen.map(worldSizeOf));
  const present = new Set(members.map((member) => member.rank));
  return {
    members,
    worldSize,
    missing: Array.from({ length: worldSize }, (_, rank) => rank).filter((rank) => !present.has(rank)),
    problems: [...others.map((run) => otherRun(run, chosen)), ...problems],
  };
}

function otherRun(run: readonly RankScan[], chosen: readonly RankScan[]): string {
  const files = run.length === 1 ? 'is' : `and ${run.length - 1} more are`;
  return (
    `${smallestPath(run)} ${files} of another run (${runTitle(run)}; the newest run here is ${runTitle(chosen)}) and left ` +
    'out; merge each run by itself'
  );
}

/** Runs are told apart by run id where the job had one, else by the communicators their ranks share. */
function groupRuns(scans: readonly RankScan[]): RankScan[][] {
  const groups = new Map<string, RankScan[]>();
  const aliases = new Map<string, string>();
  const loners: RankScan[] = [];
  for (const scan of scans) {
    const names = runNames(scan);
    if (names.length === 0) {
      loners.push(scan);
      continue;
    }
    const joined = [...new Set(names.map((name) => aliases.get(name)).filter((name) => name !== undefined))];
    const [target = names[0]!, ...absorbed] = joined;
    const members = [
      ...(groups.get(target) ?? []),
      ...absorbed.flatMap((name) => groups.get(name) ?? []),
      scan,
    ];
    for (const name of absorbed) groups.delete(name);
    for (const [name, to] of aliases) if (absorbed.includes(to)) aliases.set(name, target);
    for (const name of names) aliases.set(name, target);
    groups.set(target, members);
  }
  return adopt([...groups.values()], loners);
}

function runNames(scan: RankScan): string[] {
  const { runId } = scan.header;
  if (runId !== '') return [`run ${runId}`];
  return scan.communicators
    .filter((comm) => comm.commId !== 0n && comm.nRanks !== 1)
    .map((comm) => `comm ${comm.commId}`);
}

function adopt(runs: RankScan[][], loners: readonly RankScan[]): RankScan[][] {
  const homeless: RankScan[] = [];
  for (const loner of loners) {
    const home = runs.find((run) => run.some((scan) => startsTogether(scan, loner)));
    (home ?? homeless).push(loner);
  }
  return homeless.length > 0 ? [...runs, homeless] : runs;
}

function startsTogether(a: RankScan, b: RankScan): boolean {
  const difference = a.header.startRealtime - b.header.startRealtime;
  return difference < SAME_START_NS && -difference < SAME_START_NS;
}

function oneFilePerRank(scans: readonly RankScan[]): { members: RunMember[]; problems: string[] } {
  const problems: string[] = [];
  const byRank = new Map<number | string, RunMember>();
  const sorted = [...scans].sort((a, b) => compare(lastSeen(b), lastSeen(a)) || compare(a.path, b.path));
  for (const scan of sorted) {
    const rank = rankOf(scan);
    const key = rank ?? processKey(scan);
    const rival = byRank.get(key);
    if (rival) problems.push(rivalry(rival.scan, scan, rank));
    else byRank.set(key, { scan, rank });
  }
  const members = [...byRank.values()].sort(
    (a, b) =>
      compare(a.rank ?? Infinity, b.rank ?? Infinity) || compare(processKey(a.scan), processKey(b.scan)),
  );
  return { members, problems };
}

function rivalry(kept: RankScan, dropped: RankScan, rank: number | null): string {
  if (processKey(kept) === processKey(dropped)) {
    return `${dropped.path} is an older copy of ${kept.path} (same process) and left out`;
  }
  return (
    `${kept.path} and ${dropped.path} both claim rank ${rank}: two processes of one run, perhaps a restarted rank; the ` +
    'one last seen alive is used, merge the other by itself'
  );
}

export function rankOf(scan: RankScan): number | null {
  if (scan.header.rank !== null) return scan.header.rank;
  let largest: RankScan['communicators'][number] | undefined;
  for (const comm of scan.communicators) {
    if (comm.rank >= 0 && (!largest || comm.nRanks > largest.nRanks)) largest = comm;
  }
  return largest?.rank ?? null;
}

function worldSizeOf(scan: RankScan): number {
  return Math.max(scan.header.worldSize ?? 0, ...scan.communicators.map((comm) => comm.nRanks));
}

function processKey(scan: RankScan): string {
  const { bootId, pidNamespace, pid, startTime } = scan.header.process;
  return `${bootId} ${pidNamespace} ${pid} ${startTime}`;
}

function lastSeen(scan: RankScan): bigint {
  return scan.heartbeat?.realtime ?? scan.header.startRealtime;
}

function newestStart(run: readonly RankScan[]): bigint {
  return run.map((scan) => scan.header.startRealtime).reduce((a, b) => (b > a ? b : a));
}

function smallestPath(run: readonly RankScan[]): string {
  return run.map((scan) => scan.path).reduce((a, b) => (b < a ? b : a));
}

function runTitle(run: readonly RankScan[]): string {
  const id = run.find((scan) => scan.header.runId !== '')?.header.runId;
  const started = new Date(Number(newestStart(run) / 1_000_000n))
    .toISOString()
    .slice(0, 19)
    .replace('T', ' ');
  return id === undefined ? `started ${started} UTC` : `${id}, started ${started} UTC`;
}

function compare<T extends number | bigint | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
