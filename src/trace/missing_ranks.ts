/**
 * Ranks of the job without a file. Each has its own process in the trace, so that people need not count ranks. The UI hides a process
 * without a track, so each has a track, with one slice that says why it is empty.
 */

import type { BlockCounts } from '../kernel/host/drawn_rows.js';
import { rangesOf, rangesText } from '../base/ranks.js';
import type { TraceNs } from '../base/time.js';
import { BlockWriter } from './perfetto/block_writer.js';
import type { ProcessSpec } from './perfetto/descriptors.js';
import { titleOf } from './tracks/rank_names.js';
import type { Verdict } from '../verdict/types.js';
import { jobRanks } from '../runs/job_ranks.js';
import { PID_BASE } from './labels.js';
import type { Bounds } from './moments.js';
import type { Run } from '../runs/run.js';
import type { Scope } from './selection.js';
import { stallOf } from '../verdict/facts/suspects.js';
import { processName } from './titles.js';

/** If there are more processes than this, neighbouring ranks share one. If there are still more, all other ranks share one. */
const MOST = 16;

/** Missing ranks that the verdict names: a stall waits for them. */
export function namedMissing(run: Run, verdict: Verdict): number[] {
  const stall = stallOf(verdict);
  if (typeof stall?.commId !== 'string') return [];
  const isSame = jobRanks(run).get(String(BigInt(stall.commId))) === 'same';
  if (!isSame) return [];
  const missing = new Set(run.missing);
  return stall.missing.filter((rank) => missing.has(rank));
}

/** Groups of ranks that share a process, without ranks outside the selection. */
export function missingGroups(
  { missing }: Pick<Run, 'missing'>,
  { absentRanks, isAllRanks }: MissingScope,
): number[][] {
  const asked = isAllRanks
    ? missing
    : missing.filter((rank) => absentRanks.some(([first, last]) => rank >= first && rank <= last));
  if (asked.length <= MOST) return asked.map((rank) => [rank]);
  const runs = rangesOf(asked).map(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, i) => first + i),
  );
  return runs.length <= MOST ? runs : [...runs.slice(0, MOST - 1), runs.slice(MOST - 1).flat()];
}

type MissingScope = Pick<Scope, 'absentRanks' | 'isAllRanks'>;

export interface MissingPlace {
  /** The first of these blocks, and the number of blocks in the trace. */
  readonly firstBlock: number;
  readonly blockCount: number;
  readonly traceStart: bigint;
  readonly bounds: Bounds;
  /** Ranks that come before those with a file. */
  readonly named: readonly number[];
}

/** The packets, and their counts. */
export function missingBlock(groups: readonly (readonly number[])[], place: MissingPlace) {
  const pieces: Uint8Array[] = [];
  const counts: BlockCounts[] = groups.map((ranks, i) => {
    const writer = new BlockWriter({
      blockIndex: place.firstBlock + i,
      blockCount: place.blockCount,
      process: missingProcess(ranks, place),
      traceStart: place.traceStart,
      output: (piece) => void pieces.push(piece.slice()),
    });
    const track = writer.describe({
      kind: 'slices',
      name: missingPath(ranks)[1],
      rank: 0,
      description: NO_FILE,
    });
    const { from, to } = place.bounds;
    const slice = writer.begin(track, Math.round(from) as TraceNs, 'no file');
    writer.end(track, Math.round(to) as TraceNs, slice);
    writer.close();
    return writer.counts();
  });
  return { bytes: Buffer.concat(pieces), counts };
}

/** Title of the process, and name of its track. */
export function missingPath(ranks: readonly number[]): readonly [string, string] {
  const [first = 0] = ranks;
  const isOne = ranks.length === 1;
  const who = isOne ? `rank ${first}` : `ranks ${rangesText(rangesOf(ranks))}`;
  return [isOne ? `rank ${String(first).padStart(4, '0')}` : who, titleOf(who, 'no file')];
}

function missingProcess(ranks: readonly number[], { named }: MissingPlace): ProcessSpec {
  const [first = 0] = ranks;
  const [title] = missingPath(ranks);
  const place = ranks.length > 1 ? -1 : named.indexOf(first);
  const pid = PID_BASE + first;
  return {
    pid,
    name: processName([title], 'NO FILE'),
    orderRank: place < 0 ? pid : BEHIND_SUSPECTS + place,
    description: NO_FILE,
  };
}

/** Suspects with a file have the lower numbers. */
const BEHIND_SUSPECTS = 100;

const NO_FILE =
  'There is no file of this rank: it was never recorded, its file was not copied here, or it could not be ' +
  'used. What the rank did is not known.';
