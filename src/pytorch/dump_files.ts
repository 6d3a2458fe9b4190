/**
 * The dumps below a folder, by job. PyTorch writes `nccl_trace_rank_7`, or any prefix of
 * `TORCH_FR_DUMP_TEMP_FILE` and the rank: the number at the end of a name is the rank. Folders below may hold one node each. A file that
 * cannot be used gets a sentence, and the next one is read.
 */

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { UsageError } from '../base/errors.js';
import { knownAt } from '../foreign/known_files.js';
import { withEnds } from './call_ends.js';
import type { CallKind } from './calls.js';
import { CallKinds, DumpError, readDump, ReasonOnly, type Dump } from './dump.js';
import { jobsIn, type DumpedJob } from './same_job.js';

export interface FoundDumps {
  /** The newest first. */
  readonly jobs: readonly DumpedJob[];
  /** The kinds that occur among all calls. */
  readonly kinds: Iterable<CallKind>;
  /** Ranks whose file holds only the reason why there is no dump. */
  readonly reasons: readonly { readonly rank: number; readonly reason: string }[];
  /** Files that cannot be used, in whole sentences. */
  readonly problems: readonly string[];
}

/** A dump of some thousand calls is far smaller than this. */
const MOST_BYTES = 2 ** 30;
/** Below the folder that is named. */
const DEEPEST = 4;

/** Throws UsageError if there is no dump. */
export function readDumps(folder: string): FoundDumps {
  const dumps: Dump[] = [];
  const reasons: { rank: number; reason: string }[] = [];
  const problems: string[] = [];
  const kinds = new CallKinds();
  for (const path of filesIn(folder, problems)) {
    const rank = rankOf(path);
    if (rank === null) {
      problems.push(`${path}: the name ends in no rank, so it is not read`);
      continue;
    }
    try {
      if (statSync(path).size > MOST_BYTES) throw new DumpError('is larger than 1 GiB');
      const note = (sentence: string): number => problems.push(`${path}: ${sentence}`);
      dumps.push(withEnds(readDump(path, rank, readFileSync(path), note, kinds)));
    } catch (error) {
      if (!(error instanceof DumpError) && !isSystemError(error)) throw error;
      if (error instanceof ReasonOnly) reasons.push({ rank, reason: error.reason });
      const known = knownAt(path)?.what;
      const reason = error instanceof DumpError ? error.message : `cannot be read (${error.code})`;
      const why = known === undefined || known.includes('Flight Recorder') ? reason : `is ${known}`;
      problems.push(`${path}: no dump of PyTorch's Flight Recorder: ${why}`);
    }
  }
  if (dumps.length === 0)
    throw new UsageError([`${folder}: holds no dump of PyTorch's Flight Recorder`, ...problems].join('\n'));
  return { jobs: jobsIn(dumps), kinds: kinds.all.values(), reasons, problems };
}

/** Throws UsageError if the folder itself cannot be read. */
function filesIn(folder: string, problems: string[], depth = 0): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
      .filter(({ name }) => !name.startsWith('.') && !/\.(log|txt|md)$/.test(name))
      .map((entry) => ({ entry, path: join(folder, entry.name) }))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
    return entries.flatMap(({ entry, path }) => {
      if (!entry.isDirectory()) return entry.isFile() ? [path] : [];
      if (depth < DEEPEST) return filesIn(path, problems, depth + 1);
      problems.push(`${path}: lies too deep, so it is not read`);
      return [];
    });
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (depth === 0)
      throw new UsageError(
        `${folder}: cannot be read as a folder (${error.code}); name the folder of the dumps`,
      );
    problems.push(`${folder}: cannot be read (${error.code})`);
    return [];
  }
}

/** "nccl_trace_rank_7", "_dump_12.json" */
function rankOf(path: string): number | null {
  const [, digits] = /(\d{1,7})(?:\.(?:json|pkl|pickle))?$/.exec(basename(path)) ?? [];
  return digits === undefined ? null : Number(digits);
}

const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'code' in error;
