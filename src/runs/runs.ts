/**
 * Groups files into runs. The name is not enough: a restarted job keeps it, the nodes of one torchrun job may count restarts differently,
 * and two runs may have been given the same name. The strongest evidence comes first: files that share a communicator belong to one run,
 * because its id is random at every start. Then groups with the same name are joined. They are not joined if a rank is there twice, if the
 * world sizes differ, or if they did not run at the same time. Pure: reads no file.
 */

import { entryOf } from '../base/grouped.js';
import { addTo } from '../base/grouped.js';
import { append } from '../base/extremes.js';
import type { ClockSample, Communicator, RankFileHeader } from '../rankfile/file_types.js';

/** What is known of a file before its records are read. */
export interface RunFile {
  readonly path: string;
  readonly header: RankFileHeader;
  readonly communicators: readonly Communicator[];
  readonly heartbeat: ClockSample | null;
}

export interface FoundRun<T extends RunFile = RunFile> {
  /** Unique among the runs found: the run id, with the start time if several runs have the same id. */
  readonly name: string;
  /** The job's name; may be empty. */
  readonly id: string;
  readonly files: readonly T[];
  /** REALTIME, ns: start of the first and of the last process, and the last sign of any. */
  readonly started: bigint;
  readonly newestStart: bigint;
  readonly lastSeen: bigint;
}

/** Processes of one run start within this time, ns: images are pulled, containers wait for each other. */
const START_SPREAD = 600_000_000_000n;
/** Wall clocks of two hosts differ at most by this, ns. */
const HOSTS_APART = 600_000_000_000n;
/** On one host a process may have died this long before another one's first heartbeat, ns. */
const HOST_APART = 5_000_000_000n;

/** The newest first. Neither the order nor the names depend on the order of the files. */
export function groupIntoRuns<T extends RunFile>(files: readonly T[]): FoundRun<T>[] {
  const sorted = [...files].sort((a, b) => compare(a.path, b.path));
  const groups = sharedCommunicators(sorted).flatMap(byIdWhereRanksRepeat);
  const runs = together(groups).map(describe);
  runs.sort((a, b) => compare(b.newestStart, a.newestStart) || compare(a.files[0]!.path, b.files[0]!.path));
  const names = uniqueNames(runs);
  return runs.map((run, i) => ({ ...run, name: names[i]! }));
}

/** Groups files that share a communicator or are copies of one process's file. */
function sharedCommunicators<T extends RunFile>(files: readonly T[]): T[][] {
  const groups: T[][] = [];
  const groupOf = new Map<string, T[]>();
  for (const file of files) {
    const keys = [processKey(file), ...commKeys(file)];
    const known = [...new Set(keys.map((key) => groupOf.get(key)).filter((group) => group !== undefined))];
    const [target = [], ...absorbed] = known;
    if (known.length === 0) groups.push(target);
    for (const group of absorbed) {
      append(target, group);
      groups.splice(groups.indexOf(group), 1);
      for (const [key, of] of groupOf) if (of === group) groupOf.set(key, target);
    }
    target.push(file);
    for (const key of keys) groupOf.set(key, target);
  }
  return groups;
}

const commKeys = (file: RunFile): string[] => sharedIds(file).map((commId) => `comm ${commId}`);

/** The ids of its communicators that other processes have, too: random at every start. */
export const sharedIds = ({ communicators }: RunFile): bigint[] =>
  communicators.flatMap(({ commId, nRanks }) => (commId !== 0n && nRanks !== 1 ? [commId] : []));

/** Ids that are not random (tests, a seed) repeat in the next run. The next run has another name. */
function byIdWhereRanksRepeat<T extends RunFile>(group: T[]): T[][] {
  if (!claimsTwice(group)) return [group];
  const byId = new Map<string, T[]>();
  for (const file of group) addTo(byId, file.header.runId, file);
  return [...byId.values()];
}

function claimsTwice(group: readonly RunFile[]): boolean {
  const claims = new Map<number, string>();
  const ranksOf = ranksAmong(group);
  return group.some((file) =>
    ranksOf(file).some((rank) => {
      const rival = claims.get(rank);
      claims.set(rank, processKey(file));
      return rival !== undefined && rival !== processKey(file);
    }),
  );
}

/** The newest group takes the groups that may belong to its run. Then the newest of the rest does the same. */
function together<T extends RunFile>(groups: T[][]): T[][] {
  const runs: T[][] = [];
  const byStart = [...groups].sort(
    (a, b) =>
      compare(span(b).newestStart, span(a).newestStart) ||
      b.length - a.length ||
      compare(a[0]!.path, b[0]!.path),
  );
  for (const group of byStart) {
    const homes = runs.filter((run) => mayBeOne(run, group));
    homes.sort((a, b) => compare(distance(a, group), distance(b, group)));
    const [home] = homes;
    if (home) append(home, group);
    else runs.push([...group]);
  }
  return runs;
}

function mayBeOne(run: readonly RunFile[], group: readonly RunFile[]): boolean {
  const [a, b] = [idsOf(run), idsOf(group)];
  const sameName = [...a].some((id) => b.has(id)) || a.size === 0 || b.size === 0;
  if (!sameName || claimsTwice([...run, ...group])) return false;
  // Without names both sides must state the same world size.
  const worlds = new Set([...run, ...group].map(({ header }) => header.worldSize));
  const isNamed = a.size > 0 && b.size > 0;
  const isAlone = group.every((file) => commKeys(file).length === 0);
  if (!isNamed && !isAlone && worlds.has(null)) return false;
  worlds.delete(null);
  return worlds.size <= 1 && distance(run, group) <= START_SPREAD && livedTogether(run, group);
}

const idsOf = (files: readonly RunFile[]): Set<string> =>
  new Set(files.map(({ header }) => header.runId).filter((id) => id !== ''));

function livedTogether(a: readonly RunFile[], b: readonly RunFile[]): boolean {
  const boots = new Set(a.map(({ header }) => header.process.bootId));
  const slack = b.some(({ header }) => boots.has(header.process.bootId)) ? HOST_APART : HOSTS_APART;
  const [first, second] = [span(a), span(b)];
  return first.started <= second.lastSeen + slack && second.started <= first.lastSeen + slack;
}

/** Time between the starts of two groups, ns; 0 if they overlap. */
function distance(a: readonly RunFile[], b: readonly RunFile[]): bigint {
  const [first, second] = [span(a), span(b)];
  const gaps = [first.started - second.newestStart, second.started - first.newestStart, 0n];
  return gaps.reduce((most, gap) => (gap > most ? gap : most));
}

function span(files: readonly RunFile[]): Pick<FoundRun, 'started' | 'newestStart' | 'lastSeen'> {
  const starts = files.map(({ header }) => header.startRealtime);
  return {
    started: starts.reduce((a, b) => (b < a ? b : a)),
    newestStart: starts.reduce((a, b) => (b > a ? b : a)),
    lastSeen: files.map(lastSeen).reduce((a, b) => (b > a ? b : a)),
  };
}

function describe<T extends RunFile>(files: readonly T[]): Omit<FoundRun<T>, 'name'> {
  const sorted = [...files].sort((a, b) => compare(a.path, b.path));
  return { id: [...idsOf(files)].sort()[0] ?? '', files: sorted, ...span(files) };
}

function uniqueNames(runs: readonly Omit<FoundRun, 'name'>[]): string[] {
  const count = new Map<string, number>();
  for (const { id } of runs) count.set(id, (count.get(id) ?? 0) + 1);
  const taken = new Set<string>();
  return runs.map(({ id, started }) => {
    const base = id !== '' && count.get(id) === 1 ? id : `${id}@${utcSeconds(started)}`;
    let name = base;
    for (let n = 2; taken.has(name); n++) name = `${base}.${n}`;
    taken.add(name);
    return name;
  });
}

/** "2025-10-09T08:53:20". Also takes numbers that are no date. */
export function utcSeconds(realtime: bigint): string {
  const date = new Date(Number(realtime / 1_000_000n));
  return Number.isNaN(date.getTime()) ? 'unknown' : date.toISOString().slice(0, 19);
}

/** The ranks of a file's process. If RANK counts something else in these files (pods, nodes), the communicators alone tell them. */
export const ranksAmong = (files: readonly RunFile[]): ((file: RunFile) => number[]) =>
  isRankOther(files) ? (file) => ranksOf(withoutEnvironment(file)) : ranksOf;

/** RANK counts processes with several GPUs, or several processes have the same one and are different ranks of one communicator. */
export function isRankOther(files: readonly RunFile[]): boolean {
  const known = new Map<string, number>();
  return files.some((file) => {
    const { header, communicators } = file;
    const repeats = communicators.some(({ commId, rank, nRanks }) => {
      if (header.rank === null || commId === 0n || rank < 0 || nRanks < 2) return false;
      const key = `${commId} ${header.rank}`;
      const other = known.get(key);
      known.set(key, rank);
      return other !== undefined && other !== rank;
    });
    return repeats || ranksOf(file).length > 1;
  });
}

/** With a single process RANK may still be the only source. */
function withoutEnvironment(file: RunFile): RunFile {
  const isKnown = file.communicators.some(({ rank }) => rank >= 0);
  return isKnown ? { ...file, header: { ...file.header, rank: null } } : file;
}

/**
 * All ranks of the process, ascending; empty if unknown. A process with several GPUs is several ranks of one communicator, and its
 * environment counts processes.
 */
export function ranksOf({ header, communicators }: RunFile): number[] {
  const byComm = new Map<bigint, { nRanks: number; ranks: Set<number> }>();
  for (const { commId, rank, nRanks } of communicators) {
    if (rank < 0) continue;
    entryOf(byComm, commId, () => ({ nRanks, ranks: new Set<number>() })).ranks.add(rank);
  }
  const bySize = [...byComm].sort(([, a], [, b]) => b.nRanks - a.nRanks);
  const several = bySize.find(([commId, { ranks }]) => commId !== 0n && ranks.size > 1);
  if (several) return [...several[1].ranks].sort((a, b) => a - b);
  if (header.rank !== null) return [header.rank];
  const [first] = bySize[0]?.[1].ranks ?? [];
  return first === undefined ? [] : [first];
}

export function processKey({ header }: Pick<RunFile, 'header'>): string {
  const { bootId, pidNamespace, pid, startTime } = header.process;
  return `${bootId} ${pidNamespace} ${pid} ${startTime}`;
}

export const lastSeen = ({ heartbeat, header }: RunFile): bigint =>
  heartbeat !== null && heartbeat.realtime > header.startRealtime ? heartbeat.realtime : header.startRealtime;

export function compare<T extends number | bigint | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
