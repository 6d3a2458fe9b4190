/** Groups files into runs and picks the run that was asked for, by headers and tables. Reads no record. */

import { countFiles, type OnProgress } from '../base/progress.js';
import { NoUsableInput, RankFileError } from '../base/errors.js';
import { findRankFiles, openRankFileTables } from '../rankfile/index.js';
import type { Lease } from '../rankfile/file_types.js';
import type { Sentence } from '../base/sentence.js';
import { makeAliases, redactRun, said, type Aliases } from './redact.js';
import { listRun, pickRun, type RunListing } from './run.js';
import { groupIntoRuns, type FoundRun, type RunFile } from './runs.js';

export interface RunOptions {
  /** The name of a run, or its beginning; undefined: the newest. */
  readonly run?: string | undefined;
  /** Aliases for all names of hosts, programs, jobs, communicators and files. */
  readonly redact?: boolean | undefined;
}

export type FileInRun = RunFile & { readonly leases: readonly Lease[] };

/** The runs of these files, the newest first. */
export function findRuns(
  files: readonly string[],
  onProgress?: OnProgress,
): {
  readonly runs: readonly FoundRun<FileInRun>[];
  /** Sentences about files that could not be used. */
  readonly unusable: readonly Sentence[];
} {
  const found: FileInRun[] = [];
  const unusable: Sentence[] = [];
  const onRead = countFiles('headers', files.length, onProgress);
  for (const path of files) {
    try {
      const { header, communicators, heartbeat, leases } = openRankFileTables(path);
      found.push({ path, header, communicators: [...communicators.values()], heartbeat, leases });
    } catch (error) {
      if (!(error instanceof RankFileError)) throw error;
      unusable.push(error.sentence);
    }
    onRead();
  }
  return { runs: groupIntoRuns(found), unusable };
}

export interface PickedFiles {
  /** Files of the run asked for, or of all runs. */
  readonly files: readonly string[];
  /** Null without `redact`. */
  readonly aliases: Aliases | null;
}

/** For commands on single files. Throws UsageError, NoUsableInput. */
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

/** Finds a run by its name or its alias. With `redact` only the alias is shown. */
export function named<T extends FileInRun>(
  runs: readonly FoundRun<T>[],
  wanted: string | undefined,
  aliases: Aliases | null,
): FoundRun<T> {
  const known = runs.find(({ name }) => name === wanted);
  if (known || aliases === null) return known ?? pickRun(runs, wanted);
  const shown = runs.map((run) => redactRun(run, aliases));
  return runs[shown.indexOf(pickRun(shown, wanted))]!;
}

export const shownAs = (sentences: readonly Sentence[], aliases: Aliases | null): readonly string[] =>
  sentences.map((sentence) => said(sentence, aliases));

export function noInput(unusable: readonly string[], files: readonly string[]): Error {
  const [first] = unusable;
  if (files.length === 1 && first !== undefined) return new NoUsableInput(first);
  const { length } = unusable;
  const many =
    length < files.length
      ? `${length} of the ${files.length} files cannot be used`
      : `none of the ${length} files can be used`;
  return new NoUsableInput(`${many}:\n  ${unusable.join('\n  ')}`);
}

/** The runs to which the files belong, the newest first. Reads headers and tables only. Throws RankFileError. */
export function listRuns(
  inputs: readonly string[],
  { redact }: Pick<RunOptions, 'redact'> = {},
): {
  readonly runs: readonly RunListing[];
  readonly problems: readonly string[];
} {
  const found = findRankFiles(inputs);
  const { runs, unusable } = findRuns(found.files);
  const aliases = redact ? aliasesOf(runs, found.files) : null;
  const shown = aliases === null ? runs : runs.map((run) => redactRun(run, aliases));
  return { runs: shown.map(listRun), problems: shownAs([...found.problems, ...unusable], aliases) };
}
