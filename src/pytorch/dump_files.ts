/**
 * The dumps below a folder, one per rank. PyTorch writes `nccl_trace_rank_7`, or any prefix of `TORCH_NCCL_DEBUG_INFO_TEMP_FILE` and the
 * rank: the number at the end of a name is the rank. A file that cannot be used gets a sentence, and the next one is read.
 */

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { UsageError } from '../base/errors.js';
import { DumpError, readDump, type Dump } from './dump.js';

export interface FoundDumps {
  /** By rank. */
  readonly dumps: readonly Dump[];
  /** What was left out, in whole sentences. */
  readonly problems: readonly string[];
}

/** A dump of some thousand calls is far smaller than this. */
const MOST_BYTES = 2 ** 30;

/** Throws UsageError if there is no dump. */
export function readDumps(folder: string): FoundDumps {
  const byRank = new Map<number, Dump>();
  const problems: string[] = [];
  for (const path of filesIn(folder)) {
    const rank = rankOf(path);
    if (rank === null) {
      problems.push(`${path}: the name ends in no rank, so it is not read`);
      continue;
    }
    const other = byRank.get(rank);
    if (other) {
      problems.push(`${path}: rank ${rank} has a dump already, ${other.path}; this one is left out`);
      continue;
    }
    try {
      if (statSync(path).size > MOST_BYTES) throw new DumpError('is larger than 1 GiB');
      byRank.set(rank, readDump(path, rank, readFileSync(path)));
    } catch (error) {
      if (!(error instanceof DumpError) && !isSystemError(error)) throw error;
      const why = error instanceof DumpError ? error.message : `cannot be read (${error.code})`;
      problems.push(`${path}: no dump of PyTorch's Flight Recorder: ${why}`);
    }
  }
  if (byRank.size === 0)
    throw new UsageError([`${folder}: holds no dump of PyTorch's Flight Recorder`, ...problems].join('\n'));
  return { dumps: [...byRank.values()].sort((a, b) => a.rank - b.rank), problems };
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.startsWith('.') && !/\.(log|txt|md)$/.test(entry.name))
      .map(({ name }) => join(folder, name))
      .sort();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new UsageError(
      `${folder}: cannot be read as a folder (${error.code}); name the folder of the dumps`,
    );
  }
}

/** "nccl_trace_rank_7", "_dump_12.json" */
function rankOf(path: string): number | null {
  const [, digits] = /(\d{1,7})(?:\.(?:json|pkl|pickle))?$/.exec(basename(path)) ?? [];
  return digits === undefined ? null : Number(digits);
}

const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'code' in error;
