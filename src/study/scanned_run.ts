/** The first pass: each file of one run by itself, then the clocks of all. */

import { countFiles, type OnProgress } from '../base/progress.js';
import type { Sentence } from '../base/sentence.js';
import { commKey } from '../model/identity.js';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  aliasesOf,
  findRuns,
  named,
  noInput,
  shownAs,
  type FileInRun,
  type RunOptions,
} from '../runs/find_runs.js';
import { reason } from '../base/reason.js';
import { namedApart } from '../runs/communicators.js';
import { redactFacts, redactRun, type Aliases } from '../runs/redact.js';
import { chooseRun, otherRun, setAside, type Run } from '../runs/run.js';
import {
  solveRunClocks,
  withoutSolver,
  type ClockOptions,
  type FoundClocks,
} from '../clocks/evidence/run_clocks.js';
import type { FoundRun, RunFile } from '../runs/runs.js';
import type { ReadWindow } from '../rankfile/file_types.js';
import type { RankScan } from '../scan/scan.js';
import type { SelectionRequest } from '../trace/selection.js';
import { readWindows, unreadMembers, type ReadManner } from './read_windows.js';
import type { Outcome } from './task.js';
import type { Workers } from './workers.js';

/** The files of one run, on one time axis as far as it is known. */
export interface ScannedRun {
  readonly run: Run;
  readonly clocks: FoundClocks;
  /** Records of all files that were read. */
  readonly records: number;
  /** Sentences about files that could not be used. */
  readonly unusable: readonly string[];
  /** Null without `redact`. */
  readonly aliases: Aliases | null;
  /** By member: the real path of its file. Elsewhere it may have an alias. */
  readonly sources: readonly string[];
  /** By member: what the second pass reads, the file or a copy of one that may still be written. */
  readonly readFrom: readonly string[];
}

export interface ScanOptions extends ClockOptions, RunOptions, ReadManner {
  /** A file that cannot be used is an error. */
  readonly strict?: boolean | undefined;
  /** Only the selected time of stream files is read, and some time around it (study/read_windows.ts). */
  readonly select?: SelectionRequest | undefined;
  /** The files will be read again. Files that may still be written are copied first. */
  readonly readsTwice?: boolean | undefined;
  readonly onProgress?: OnProgress | undefined;
}

/** One file after the first pass. */
export interface ScannedFile extends FileInRun {
  readonly scan: RankScan;
  /** The side file of its steps, and perhaps of others'. */
  readonly stepPath: string;
  /** What the second pass reads: the file, or a copy of one that may still be written. */
  readonly readFrom: string;
}

/** The first pass over the files of one run, before any file is compared with another. */
export interface GatheredRun {
  readonly runs: readonly FoundRun<FileInRun>[];
  readonly chosen: FoundRun<FileInRun>;
  /** Null without `redact`. */
  readonly aliases: Aliases | null;
  readonly files: readonly ScannedFile[];
  /** About files that could not be used. */
  readonly unusable: readonly Sentence[];
}

/** Reads the files of one run only. If its ranks are on several hosts, side files hold every step. Throws NoUsableInput. */
export async function scanRun(
  workers: Workers,
  files: readonly string[],
  folder: string,
  options: ScanOptions,
): Promise<ScannedRun> {
  const { runs, unusable } = findRuns(files, options.onProgress);
  const { aliases, chosen } = pickFrom(runs, unusable, files, options);
  const every = options.clock !== 'realtime' && areOnSeveralHosts(chosen.files);
  const windows = readWindows(chosen, options.select, options);
  const joined = async (windows: readonly (ReadWindow | null)[], place: string): Promise<ScannedRun> => {
    const scanned = await scanFiles(workers, chosen.files, place, { ...options, every, windows });
    const gathered = { runs, chosen, aliases, ...scanned, unusable: [...unusable, ...scanned.unusable] };
    return joinScans(gathered, files, options);
  };
  const scanned = await joined(windows, folder);
  if (unreadMembers(scanned, options.select).length === 0) return scanned;
  const again = join(folder, 'again');
  mkdirSync(again);
  return joined([], again);
}

/** Throws NoUsableInput if there is no run. `files`: all paths that were looked at. */
export function pickFrom<T extends FileInRun>(
  runs: readonly FoundRun<T>[],
  unusable: readonly Sentence[],
  files: readonly string[],
  { redact, run }: RunOptions,
): { readonly aliases: Aliases | null; readonly chosen: FoundRun<T> } {
  const aliases = redact ? aliasesOf(runs, files) : null;
  if (runs.length === 0) throw noInput(shownAs(unusable, aliases), files);
  return { aliases, chosen: named(runs, run, aliases) };
}

/** Puts the files of a run on one time axis. Throws NoUsableInput. */
export function joinScans(
  { runs, chosen, aliases, files, unusable: sentences }: GatheredRun,
  paths: readonly string[],
  options: ScanOptions,
): ScannedRun {
  const unusable = shownAs(sentences, aliases);
  if (files.length === 0 || (options.strict && unusable.length > 0)) throw noInput(unusable, paths);
  const fileOf = new Map(files.map((file) => [aliases ? redactScan(file.scan, aliases) : file.scan, file]));
  const chosenRun = chooseRun([...fileOf.keys()]);
  const members = chosenRun.members.map(({ scan }) => fileOf.get(scan)!);
  const run = { ...chosenRun, members: namedApart(chosenRun.members) };
  options.onProgress?.({ stage: 'clocks', files: null });
  const stepPaths = members.map(({ stepPath }) => stepPath);
  const clocks = withoutSolver(solveRunClocks(run, stepPaths, options));
  const shown = (one: FoundRun): FoundRun => (aliases === null ? one : redactRun(one, aliases));
  const others = (options.run === undefined ? runs.filter((other) => other !== chosen) : []).map(shown);
  const problems = [...setAside(others, shown(chosen)), ...run.problems];
  return {
    run: { ...run, others: others.map((other) => otherRun(other, chosen)), problems },
    clocks,
    records: files.reduce((sum, { scan }) => sum + scan.records, 0),
    unusable,
    aliases,
    sources: members.map(({ path }) => path),
    readFrom: members.map(({ readFrom }) => readFrom),
  };
}

function redactScan(scan: RankScan, aliases: Aliases): RankScan {
  const redacted = redactFacts(scan, aliases);
  // Communicators without an id are distinguished by their names.
  const keys = new Map(
    scan.communicators.map((comm, i) => [commKey(comm), commKey(redacted.communicators[i]!)]),
  );
  const comms = scan.size.comms.map((one) => ({ ...one, comm: keys.get(one.comm) ?? one.comm }));
  return {
    ...redacted,
    size: { ...scan.size, comms },
  };
}

/** `every`: all steps, not only the first one of each operation. */
export async function scanFiles(
  workers: Workers,
  files: readonly FileInRun[],
  folder: string,
  options: Pick<ScanOptions, 'readsTwice' | 'onProgress'> & {
    readonly every: boolean;
    /** Each file gets a side file of its own. */
    readonly stepsApart?: boolean;
    /** By file; absent: all of it. */
    readonly windows: readonly (ReadWindow | null)[];
  },
): Promise<Pick<GatheredRun, 'files' | 'unusable'>> {
  const isShared = workers.inTurn && options.stepsApart !== true;
  const stepPath = (file: number): string => join(folder, isShared ? 'steps' : `steps-${file}`);
  const outcomes = await workers.run(
    files.map(({ path, header }, file) => ({
      pass: 'scan',
      path,
      steps: { path: stepPath(file), every: options.every },
      window: options.windows[file] ?? null,
      // A closed file does not change, so it needs no copy. For other files the header and tables are read once more, to see whether the
      // process is alive.
      frozen: options.readsTwice && header.life !== 'closed' ? join(folder, `frozen-${file}.bin`) : null,
    })),
    countFiles('scan', files.length, options.onProgress),
  );
  const scanned: ScannedFile[] = [];
  const unusable: Sentence[] = [];
  outcomes.forEach((outcome, i) => {
    const file = files[i]!;
    if (!outcome.ok || !outcome.scan) unusable.push(failure(outcome));
    else {
      const { scan, readFrom = file.path } = outcome;
      scanned.push({ ...file, scan, readFrom, stepPath: stepPath(i) });
    }
  });
  return { files: scanned, unusable };
}

const areOnSeveralHosts = (files: readonly RunFile[]): boolean =>
  new Set(files.map(({ header }) => header.process.bootId)).size > 1;

export function failure(outcome: Outcome): Sentence {
  if (outcome.ok) return ['nothing came back'];
  if ('unusable' in outcome) return outcome.unusable;
  const { code, message } = outcome.system;
  return [reason(Object.assign(new Error(message), { code }))];
}
