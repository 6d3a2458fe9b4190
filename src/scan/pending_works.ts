/**
 * What a rank was doing when its records end: its pending work, and for each operation its progress and its wait. Also when each
 * communicator last moved; polls are not movement. The lists are short, because NCCL has few operations in flight.
 */

import { addTo } from '../base/grouped.js';
import type { Ticks } from '../base/time.js';
import { long, type Numbers } from '../kernel/host/numbers.js';
import { BlocksRow, MoveRow, OpenBlockRow, OpenOpRow } from '../kernel/result_rows.js';
import { recordOf } from '../model/handle_key.js';
import type { LostAfter } from '../model/lost_ends.js';
import type { BlocksSeen, PendingAtEnd, PendingOp } from '../model/pending.js';
import { StepPhase, WAIT_OF } from '../model/waits.js';
import { isColl, isPending, planOf, type WorkRows } from './scanned_works.js';

/** What the kernel's tables have at the end of the records. */
export type OpenThings = ReturnType<typeof readOpenThings>;

export const readOpenThings = (numbers: Numbers) => ({
  ops: numbers.rows(OpenOpRow),
  openBlocks: numbers.rows(OpenBlockRow),
  blocks: numbers.rows(BlocksRow),
  moves: numbers.rows(MoveRow),
});

function pendingOp({ channel, peer, isSend, nSteps, stepsDone, ...row }: OpenOpRow): PendingOp<Ticks> {
  return { channel, peer, isSend: isSend === 1, nSteps, done: stepsDone, wait: waitOf(row), executor: null };
}

function waitOf({
  step,
  phase,
  since,
  roomWanted,
}: Pick<OpenOpRow, 'step' | 'phase' | 'since' | 'roomWanted'>): PendingOp<Ticks>['wait'] {
  if (Number.isNaN(step)) return null;
  const hasNoRoom = phase === StepPhase.SendGpuWait && !Number.isNaN(roomWanted);
  return hasNoRoom
    ? { step, name: WAIT_OF[StepPhase.PeerWait], since: roomWanted as Ticks }
    : { step, name: WAIT_OF[phase as StepPhase], since: since as Ticks };
}

/** `lostAfter`: slots of a ring that were lost after a tick. `text`: of a number. */
export function pendingWorks(
  works: WorkRows,
  { ops, openBlocks, blocks, moves }: OpenThings,
  lostAfter: LostAfter,
  text: (id: number) => string,
): PendingAtEnd {
  const byWork = new Map<number, PendingOp<Ticks>[]>();
  const lost = new Map<number, number>();
  const mayHaveEnded = (work: number, ring: number, sign: number): void => {
    if (work >= 0) lost.set(work, Math.min(lost.get(work) ?? Infinity, lostAfter(ring, sign)));
  };
  const open: number[] = [];
  for (let row = 0; row < works.length; row++) {
    if (Number.isNaN(works.enqueued[row])) mayHaveEnded(row, works.ring[row]!, works.start[row]!);
    if (isPending(works, row)) open.push(row);
  }
  for (const { work, ring, start } of openBlocks) mayHaveEnded(work, ring, start);
  for (const op of ops) {
    if (op.isForeign === 1 || op.isEndless === 1 || op.work < 0) continue;
    addTo(byWork, op.work, pendingOp(op));
    mayHaveEnded(op.work, op.ring, op.lastMove);
  }
  const blocksOf = new Map<number, BlocksSeen>();
  const unended: [row: number, Exclude<Seen, 'ended'>][] = [];
  for (const one of blocks) {
    const { workRow: row, ring, channels, begun, ended } = one;
    const seen = seenOf(one);
    blocksOf.set(row, { channels, begun, ended });
    if (seen !== 'ended') unended.push([row, seen]);
    if (seen !== 'unfinished') continue;
    mayHaveEnded(row, ring, works.start[row]!);
    open.push(row);
  }
  const rows = [...new Set(open)];
  rows.sort((a, b) => works.start[a]! - works.start[b]! || a - b);
  return {
    works: rows.map((row) => ({
      row,
      record: recordOf(works.key[row]!),
      comm: works.comm[row]! < 0 ? null : works.comm[row]!,
      func: text(works.func[row]!),
      seq: isColl(works, row) ? works.seq[row]! : null,
      ordinal: works.ordinal[row]!,
      plan: planOf(text(works.algo[row]!), text(works.proto[row]!)),
      peer: isColl(works, row) ? null : works.peer[row]!,
      start: works.start[row] as Ticks,
      group: works.group[row]! < 0 ? null : works.group[row]!,
      ops: byWork.get(row) ?? [],
      unhanded: Number.isNaN(works.enqueued[row])
        ? { channels: works.opChannels[row]!, of: works.channels[row]! }
        : null,
      blocks: blocksOf.get(row) ?? null,
      hasMoved: !Number.isNaN(works.ends.step[row]),
      lostSince: lost.get(row) ?? 0,
    })),
    unended: new Map(unended),
    foreign: ops
      .filter(({ isForeign }) => isForeign === 1)
      .map((op) => ({ parent: long(op.parentHigh, op.parentLow), op: pendingOp(op) })),
    lastMove: new Map(moves.flatMap(({ comm, at }) => (Number.isNaN(at) ? [] : [[comm, at as Ticks]]))),
  };
}

/** What the GPU was seen to do with an announced work. 'unknown': all stamps are of other work. */
type Seen = 'ended' | 'unfinished' | 'unknown';

/** Operations on the network have records of their own. */
function seenOf({ begun, ended, ofOther, channels, hasOps }: BlocksRow): Seen {
  if (hasOps === 1) return 'ended';
  if (begun + ofOther < channels || ended < begun) return 'unfinished';
  return begun === 0 ? 'unknown' : 'ended';
}
