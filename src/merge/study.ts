/**
 * Everything that is known before a packet is written: the run, its clocks, who executed whose sends, what all ranks did
 * together, and the verdict. `merge` goes on from here; `inspect` stops.
 */

import { join } from 'node:path';
import { NoUsableInput, RankFileError } from '../base/errors.js';
import { traceTimeOf } from '../clocks/domains.js';
import type { ClusterComm } from '../cluster/types.js';
import { withElsewhere, type WorkEnd } from '../model/work_end.js';
import { openRankFileTables } from '../reader/index.js';
import type { Lease } from '../reader/types.js';
import type { Verdict } from '../verdict/types.js';
import { commKey } from '../tracks/selection.js';
import { joinRun } from './cluster.js';
import { gpuLines, type GpuLines } from './gpu_clocks.js';
import { resolveOrigins, type OriginTable } from './origins.js';
import { reason } from './output.js';
import { makeAliases, redactFacts, redactPaths, redactProblems, redactRun, type Aliases } from './redact.js';
import { chooseRun, otherRun, pickRun, setAside, type Run } from './run.js';
import { solveRunClocks, type ClockOptions, type RunClocks } from './run_clocks.js';
import { tellRunsApart, type FoundRun, type RunFile } from './runs.js';
import type { RankScan } from './scan.js';
import type { Outcome } from './task.js';
import { runVerdict, type VerdictOptions } from './verdict.js';
import type { Workers } from './workers.js';

/** The files that belong together, on one axis as far as that is known. */
export interface ScannedRun {
  readonly run: Run;
  readonly clocks: RunClocks;
  /** Of all files that were read. */
  readonly records: number;
  /** Sentences about files that could not be used. */
  readonly unusable: readonly string[];
  /** Null without `redact`. */
  readonly aliases: Aliases | null;
  /** By member: where its file really is; elsewhere it may have an alias. */
  readonly sources: readonly string[];
}

export interface Study extends ScannedRun {
  /** By file, as all that follow. */
  readonly origins: readonly OriginTable[];
  readonly ends: readonly (readonly WorkEnd[])[];
  readonly gpuLines: readonly GpuLines[];
  readonly comms: readonly ClusterComm[];
  readonly verdict: Verdict;
}

export interface RunOptions {
  /** The name of a run, or its beginning; undefined: the newest. */
  readonly run?: string | undefined;
  /** Aliases for all names of hosts, programs, jobs, communicators and files. */
  readonly redact?: boolean | undefined;
}

export interface StudyOptions extends ClockOptions, RunOptions, VerdictOptions {
  /** A file that cannot be used is an error. */
  readonly strict?: boolean | undefined;
  /** Called after each file, with how many there are. */
  readonly onScanned?: ((total: number) => void) | undefined;
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
  const times = run.members.map((_, file) => traceTimeOf(solution, file));
  const origins = resolveOrigins(run.members, (file, tick) => times[file]!(tick));
  const ends = run.members.map(({ scan }, file) => completeEnds(scan, origins[file]!));
  const lines = run.members.map(({ scan }, file) => gpuLines(scan, solution.scales[file]!));
  const comms = joinRun(run, solution, ends, lines);
  return {
    ...scanned,
    origins,
    ends,
    gpuLines: lines,
    comms,
    verdict: runVerdict(run, solution, ends, origins, comms, options),
  };
}

type FileInRun = RunFile & { readonly leases: readonly Lease[] };

/** Which runs the files are of, the newest first, by their headers and tables alone. */
export function findRuns(files: readonly string[]): {
  readonly runs: readonly FoundRun<FileInRun>[];
  /** Sentences about files that could not be used. */
  readonly unusable: readonly string[];
} {
  const found: FileInRun[] = [];
  const unusable: string[] = [];
  for (const path of files) {
    try {
      const { header, communicators, heartbeat, leases } = openRankFileTables(path);
      found.push({ path, header, communicators: [...communicators.values()], heartbeat, leases });
    } catch (error) {
      if (!(error instanceof RankFileError)) throw error;
      unusable.push(error.message);
    }
  }
  return { runs: tellRunsApart(found), unusable };
}

export interface PickedFiles {
  /** Of the run asked for, or of all where none was. */
  readonly files: readonly string[];
  /** Null without `redact`. */
  readonly aliases: Aliases | null;
}

/** For a look at single files. Throws UsageError, NoUsableInput. */
export function pickFiles(files: readonly string[], { run, redact }: RunOptions): PickedFiles {
  if (run === undefined && !redact) return { files, aliases: null };
  const { runs, unusable } = findRuns(files);
  const aliases = redact ? aliasesOf(runs, files) : null;
  if (runs.length === 0) throw noInput(shownAs(unusable, aliases), files);
  const picked = run === undefined ? files : named(runs, run, aliases).files.map(({ path }) => path);
  return { files: picked, aliases };
}

export function aliasesOf(runs: readonly FoundRun<FileInRun>[], files: readonly string[]): Aliases {
  const known = new Set(runs.flatMap((run) => run.files.map(({ path }) => path)));
  return makeAliases(
    runs,
    files.filter((path) => !known.has(path)),
  );
}

/** The files of one run only are read. Where ranks are on several hosts side files have every step. Throws NoUsableInput. */
export async function scanRun(
  workers: Workers,
  files: readonly string[],
  folder: string,
  options: StudyOptions,
): Promise<ScannedRun> {
  const { runs, unusable: unreadable } = findRuns(files);
  const aliases = options.redact ? aliasesOf(runs, files) : null;
  if (runs.length === 0) throw noInput(shownAs(unreadable, aliases), files);
  const chosen = named(runs, options.run, aliases);
  const scanned = await scanFiles(workers, chosen.files, folder, options, aliases);
  const unusable = shownAs([...unreadable, ...scanned.unusable], aliases);
  if (scanned.scans.length === 0 || (options.strict && unusable.length > 0)) throw noInput(unusable, files);
  const run = chooseRun(scanned.scans);
  const stepPaths = run.members.map(({ scan }) => scanned.stepPaths.get(scan)!);
  const clocks = solveRunClocks(run, stepPaths, options);
  const shown = (one: FoundRun): FoundRun => (aliases === null ? one : redactRun(one, aliases));
  const others = (options.run === undefined ? runs.filter((other) => other !== chosen) : []).map(shown);
  const problems = [...setAside(others, shown(chosen)), ...run.problems];
  return {
    run: { ...run, others: others.map(otherRun), problems },
    clocks,
    records: scanned.scans.reduce((sum, scan) => sum + scan.records, 0),
    unusable,
    aliases,
    sources: run.members.map(({ scan }) => scanned.sources.get(scan)!),
  };
}

/** By its name or its alias, which alone is told where names are not to be. */
function named(
  runs: readonly FoundRun<FileInRun>[],
  wanted: string | undefined,
  aliases: Aliases | null,
): FoundRun<FileInRun> {
  const known = runs.find(({ name }) => name === wanted);
  if (known || aliases === null) return known ?? pickRun(runs, wanted);
  const shown = runs.map((run) => redactRun(run, aliases));
  return runs[shown.indexOf(pickRun(shown, wanted))]!;
}

const shownAs = (sentences: readonly string[], aliases: Aliases | null): readonly string[] =>
  aliases === null ? sentences : sentences.map((sentence) => redactPaths(sentence, aliases));

function redactScan(scan: RankScan, aliases: Aliases): RankScan {
  const redacted = redactFacts(scan, aliases);
  // Communicators without an id are told apart by their names.
  const keys = new Map(
    scan.communicators.map((comm, i) => [commKey(comm), commKey(redacted.communicators[i]!)]),
  );
  const comms = scan.size.comms.map((one) => ({ ...one, comm: keys.get(one.comm) ?? one.comm }));
  return {
    ...redacted,
    size: { ...scan.size, comms },
    problems: redactProblems(scan.problems, aliases),
  };
}

interface ScannedFiles {
  readonly scans: readonly RankScan[];
  readonly sources: ReadonlyMap<RankScan, string>;
  readonly stepPaths: ReadonlyMap<RankScan, string>;
  readonly unusable: readonly string[];
}

async function scanFiles(
  workers: Workers,
  files: readonly RunFile[],
  folder: string,
  options: StudyOptions,
  aliases: Aliases | null,
): Promise<ScannedFiles> {
  const every = options.clock !== 'realtime' && areOnSeveralHosts(files);
  const stepPath = (file: number): string => join(folder, `steps-${file}`);
  const outcomes = await workers.run(
    files.map(({ path }, file) => ({ pass: 'scan', path, steps: { path: stepPath(file), every } })),
    () => options.onScanned?.(files.length),
  );
  const scans: RankScan[] = [];
  const sources = new Map<RankScan, string>();
  const stepPaths = new Map<RankScan, string>();
  const unusable: string[] = [];
  outcomes.forEach((outcome, file) => {
    if (!outcome.ok || !outcome.scan) {
      unusable.push(failure(outcome));
      return;
    }
    const scan = aliases === null ? outcome.scan : redactScan(outcome.scan, aliases);
    scans.push(scan);
    sources.set(scan, files[file]!.path);
    stepPaths.set(scan, stepPath(file));
  });
  return { scans, sources, stepPaths, unusable };
}

const areOnSeveralHosts = (files: readonly RunFile[]): boolean =>
  new Set(files.map(({ header }) => header.process.bootId)).size > 1;

/** Work is done when its sends are, also those that other processes executed. */
function completeEnds({ workEnds }: RankScan, { elsewhere }: OriginTable): readonly WorkEnd[] {
  if (elsewhere.size === 0) return workEnds;
  return workEnds.map((end, row) => {
    const executed = elsewhere.get(row);
    return executed ? withElsewhere(end, executed) : end;
  });
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
  const { length } = unusable;
  const many =
    length < files.length
      ? `${length} of the ${files.length} files cannot be used`
      : `none of the ${length} files can be used`;
  return new NoUsableInput(`${many}:\n  ${unusable.join('\n  ')}`);
}
