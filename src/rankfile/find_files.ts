/**
 * Finds the rank files that a person names. A file with any name is taken. A directory gives its rank*.bin files or, if there are none,
 * those one level below (NCCL_TRACE_DIR with its runs). The result is sorted and has each file once, so the order of the arguments does not
 * matter. Unreadable files with a rank file's name are reported. The headers decide later which files belong together.
 */

import { append } from '../base/extremes.js';
import { readdirSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';

import { codeOf, reason } from '../base/reason.js';
import { RankFileError } from '../base/errors.js';
import { about, sentenceText, type Sentence } from '../base/sentence.js';
import { knownAt } from '../foreign/known_files.js';
import { SAVED_RINGS } from './saved_rings.js';
import { answered } from './stalls.js';

export interface FoundFiles {
  readonly files: readonly string[];
  /** What was left out. */
  readonly problems: readonly Sentence[];
}

/** Throws RankFileError for a path that does not exist and for a directory without rank files. */
export function findRankFiles(inputs: readonly string[]): FoundFiles {
  const problems: Sentence[] = [];
  const all = inputs.flatMap((input) => (isDirectory(input) ? filesIn(input, problems) : [input]));
  const named = all.map(rankFileOf).filter((file, i) => file === all[i] || !all.includes(file));
  const files: string[] = [];
  const again = new Map<string, number>();
  const known = new Map<string, string>();
  for (const file of named.sort(byName)) {
    const real = realPathOf(file);
    const first = known.get(real);
    if (first === undefined) {
      known.set(real, file);
      files.push(file);
    } else again.set(first, (again.get(first) ?? 1) + 1);
  }
  for (const [file, times] of again) problems.push(about`${{ path: file }}: named ${times} times, used once`);
  return { files, problems: problems.sort((a, b) => byName(sentenceText(a), sentenceText(b))) };
}

/** A file that has gone, or was exchanged, since its folder was listed keeps its name: what opens it says why it cannot be used. */
function realPathOf(file: string): string {
  try {
    return answered(file, () => realpathSync(file));
  } catch {
    return file;
  }
}

const byName = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function isDirectory(input: string): boolean {
  try {
    return answered(input, () => statSync(input)).isDirectory();
  } catch (error) {
    throw unreachable(input, error);
  }
}

function filesIn(directory: string, problems: Sentence[]): string[] {
  const names = namesIn(directory);
  if (names instanceof RankFileError) throw names;
  const strange: Sentence[] = [];
  const direct = rankFilesAmong(directory, names, strange);
  const below: string[] = [];
  for (const child of direct.length > 0 ? [] : names.map((name) => path.join(directory, name))) {
    if (kindOf(child) !== 'directory') continue;
    const inside = namesIn(child);
    if (inside instanceof RankFileError) strange.push(inside.sentence);
    else append(below, rankFilesAmong(child, inside, strange));
  }
  if (direct.length + below.length === 0) throw noRankFiles(directory, names, strange);
  append(problems, strange);
  return direct.length > 0 ? direct : below;
}

function namesIn(directory: string): string[] | RankFileError {
  try {
    return answered(directory, () => readdirSync(directory));
  } catch (error) {
    return unreachable(directory, error);
  }
}

const withoutEnd = (name: string): string => name.slice(0, -SAVED_RINGS.length);

/** `rank*` in a shell also matches saved rings. Their rank file stands for both. */
const rankFileOf = (file: string): string =>
  file.endsWith(SAVED_RINGS) && kindOf(withoutEnd(file)) === 'file' ? withoutEnd(file) : file;

const rankFilesAmong = (directory: string, names: readonly string[], strange: Sentence[]): string[] =>
  names
    .filter((name) => /^rank.*\.bin(\.rings)?$/s.test(name))
    // Saved rings are read with their rank file, or alone if it is missing.
    .filter((name) => !name.endsWith(SAVED_RINGS) || !names.includes(withoutEnd(name)))
    .map((name) => path.join(directory, name))
    .filter((file) => {
      const kind = kindOf(file);
      if (kind !== 'file' && kind !== 'directory') strange.push(about`${{ path: file }}: ${kind}, left out`);
      return kind === 'file';
    });

/** Says what the path is if it is not a file, because the user may expect that rank. */
function kindOf(file: string): string {
  try {
    const stat = answered(file, () => statSync(file));
    if (stat.isFile()) return 'file';
    if (stat.isDirectory()) return 'directory';
    return stat.isFIFO() ? 'is a FIFO' : 'is not a regular file';
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return 'is a link to nothing';
    return code === 'ELOOP' ? 'is a link that leads in a circle' : `cannot be looked at (${code})`;
  }
}

/** So many files of a folder without rank files are looked at, to say what lies there. */
const MOST_LOOKED_AT = 16;

function noRankFiles(
  directory: string,
  names: readonly string[],
  strange: readonly Sentence[],
): RankFileError {
  if (strange.length > 0)
    return new RankFileError({
      path: directory,
      what: 'no rank files (rank*.bin) that can be read, here or one level below',
      why: strange.flatMap((one, i) => (i === 0 ? one : ['; ', ...one])),
      advice: 'name the files themselves, where they are',
    });
  for (const name of names.slice(0, MOST_LOOKED_AT)) {
    const known = kindOf(path.join(directory, name)) === 'file' && knownAt(path.join(directory, name));
    if (!known) continue;
    return new RankFileError({
      path: directory,
      what: 'no rank files (rank*.bin) here or one level below',
      why: [{ path: name }, ` is ${known.what}`],
      advice: known.advice,
    });
  }
  const packed = names.find((name) => /^rank.*\.bin\.(gz|zst|xz|bz2)$/s.test(name));
  return new RankFileError({
    path: directory,
    what: 'no rank files (rank*.bin) here or one level below',
    why:
      packed === undefined
        ? 'the job ran without the recorder, or wrote elsewhere'
        : [{ path: packed }, ' is still compressed'],
    advice:
      packed === undefined
        ? 'look for the line of the recorder in the output of the job (NCCL_DEBUG=INFO): it names the path'
        : 'decompress it',
  });
}

function unreachable(input: string, error: unknown): RankFileError {
  const code = codeOf(error);
  const denied = code === 'EACCES' || code === 'EPERM';
  const absent = code === 'ENOENT' || code === 'ENOTDIR';
  return new RankFileError(
    {
      path: input,
      what: denied
        ? 'may not be read by this user'
        : absent
          ? 'does not exist'
          : `cannot be reached: ${reason(error)}`,
      advice: denied
        ? 'rank files are private to the user of the job: run as that user, or ask for a copy'
        : 'check the path; rank files lie in NCCL_TRACE_DIR/<run>/rank*.bin',
    },
    { cause: error },
  );
}
