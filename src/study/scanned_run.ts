/** The first pass: each file of one run by itself, then the clocks of all. */

import { countFiles, type OnProgress } from '../base/progress.js';
import type { Sentence } from '../base/sentence.js';
import { commKey } from '../model/identity.js';
import { join } from 'node:path';
import { aliasesOf, findRuns, named, noInput, shownAs, type RunOptions } from '../runs/find_runs.js';
import { reason } from '../output/reason.js';
import { redactFacts, redactRun, type Aliases } from '../runs/redact.js';
import { chooseRun, otherRun, setAside, type Run } from '../runs/run.js';
import { solveRunClocks, type ClockOptions, type RunClocks } from '../clocks/evidence/run_clocks.js';
import type { FoundRun, RunFile } from '../runs/runs.js';
import type { RankScan } from '../scan/scan.js';
import type { Outcome } from './task.js';
import type { Workers } from './workers.js';

/** The files of one run, on one time axis as far as it is known. */
export interface ScannedRun {
  readonly run: Run;
  readonly clocks: RunClocks;
  /** Of all files that were read. */
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

export interface ScanOptions extends ClockOptions, RunOptions {
  /** A file that cannot be used is an error. */
  readonly strict?: boolean | undefined;
  /** Also collect what only a report needs. */
  readonly forReport?: boolean | undefined;
  /** The files will be read again: those that may still be written are copied first. */
  readonly readsTwice?: boolean | undefined;
  readonly onProgress?: OnProgress | undefined;
}

/** Reads the files of one run only. If its ranks are on several hosts, side files hold every step. Throws NoUsableInput. */
export async function scanRun(
  workers: Workers,
  files: readonly string[],
  folder: string,
  options: ScanOptions,
): Promise<ScannedRun> {
  const { runs, unusable: unreadable } = findRuns(files, options.onProgress);
  const aliases = options.redact ? aliasesOf(runs, files) : null;
  if (runs.length === 0) throw noInput(shownAs(unreadable, aliases), files);
  const chosen = named(runs, options.run, aliases);
  const scanned = await scanFiles(workers, chosen.files, folder, options, aliases);
  const unusable = shownAs([...unreadable, ...scanned.unusable], aliases);
  if (scanned.scans.length === 0 || (options.strict && unusable.length > 0)) throw noInput(unusable, files);
  const run = chooseRun(scanned.scans);
  const stepPaths = run.members.map(({ scan }) => scanned.stepPaths.get(scan)!);
  options.onProgress?.({ stage: 'clocks', files: null });
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
    readFrom: run.members.map(({ scan }) => scanned.readFrom.get(scan)!),
  };
}

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
  };
}

interface ScannedFiles {
  readonly scans: readonly RankScan[];
  readonly sources: ReadonlyMap<RankScan, string>;
  readonly readFrom: ReadonlyMap<RankScan, string>;
  readonly stepPaths: ReadonlyMap<RankScan, string>;
  readonly unusable: readonly Sentence[];
}

async function scanFiles(
  workers: Workers,
  files: readonly RunFile[],
  folder: string,
  options: ScanOptions,
  aliases: Aliases | null,
): Promise<ScannedFiles> {
  const every = options.clock !== 'realtime' && areOnSeveralHosts(files);
  const stepPath = (file: number): string => join(folder, `steps-${file}`);
  const outcomes = await workers.run(
    files.map(({ path }, file) => ({
      pass: 'scan',
      path,
      steps: { path: stepPath(file), every },
      forReport: options.forReport ?? false,
      frozen: options.readsTwice ? join(folder, `frozen-${file}.bin`) : null,
    })),
    countFiles('scan', files.length, options.onProgress),
  );
  const scans: RankScan[] = [];
  const sources = new Map<RankScan, string>();
  const readFrom = new Map<RankScan, string>();
  const stepPaths = new Map<RankScan, string>();
  const unusable: Sentence[] = [];
  outcomes.forEach((outcome, file) => {
    if (!outcome.ok || !outcome.scan) {
      unusable.push(failure(outcome));
      return;
    }
    const scan = aliases === null ? outcome.scan : redactScan(outcome.scan, aliases);
    scans.push(scan);
    sources.set(scan, files[file]!.path);
    readFrom.set(scan, outcome.readFrom ?? files[file]!.path);
    stepPaths.set(scan, stepPath(file));
  });
  return { scans, sources, readFrom, stepPaths, unusable };
}

const areOnSeveralHosts = (files: readonly RunFile[]): boolean =>
  new Set(files.map(({ header }) => header.process.bootId)).size > 1;

export function failure(outcome: Outcome): Sentence {
  if (outcome.ok) return ['nothing came back'];
  if ('unusable' in outcome) return outcome.unusable;
  // The system's message ends in a path.
  const { code, message } = outcome.system;
  return [reason(Object.assign(new Error(message.split(',')[0]), { code }))];
}
