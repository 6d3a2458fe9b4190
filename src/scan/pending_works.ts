/**
 * What a rank was doing when its records end: its pending work, and for each operation its progress and its wait. Also when each
 * communicator last moved; polls are not movement. The lists are short, because NCCL has few operations in flight.
 */

import { addTo } from '../base/grouped.js';
import type { Ticks } from '../base/time.js';
import type { Numbers } from '../kernel/host/numbers.js';
import { recordOf } from '../model/handle_key.js';
import type { LostAfter } from '../model/lost_ends.js';
import type { BlocksSeen, PendingAtEnd, PendingOp } from '../model/pending.js';
import { StepPhase, WAIT_OF } from '../model/waits.js';
import { isColl, isPending, planOf, type WorkRows } from './scanned_works.js';

/** What the kernel's tables have at the end of the records. */
export type OpenThings = ReturnType<typeof readOpenThings>;

export function readOpenThings(numbers: Numbers) {
  const ops = numbers.list(() => readOp(numbers));
  const blocks = numbers.list(() => ({
    work: numbers.next(),
    ring: numbers.next(),
    start: numbers.next() as Ticks,
  }));
  const tallies = numbers.list(() => ({
    ring: numbers.next(),
    full: numbers.next(),
    short: numbers.next(),
    waiting: numbers.list(() => ({
      work: numbers.next(),
      channels: numbers.next(),
      begun: numbers.next(),
      ended: numbers.next(),
      ofOther: numbers.next(),
      hasOps: numbers.flag(),
    })),
  }));
  const moves = numbers.list(() => [numbers.next(), numbers.tick()] as const);
  const lastMove = new Map(moves.flatMap(([comm, at]) => (at === null ? [] : [[comm, at] as const])));
  return { ops, blocks, tallies, lastMove };
}

function readOp(numbers: Numbers) {
  const work = numbers.next();
  const [isForeign, parent, isEndless] = [numbers.flag(), numbers.long(), numbers.flag()];
  const [ring, lastMove] = [numbers.next(), numbers.next() as Ticks];
  const [channel, peer, isSend] = [numbers.next(), numbers.next(), numbers.flag()];
  const [nSteps, done, roomWanted] = [numbers.next(), numbers.next(), numbers.tick()];
  const wait = readWait(numbers, roomWanted);
  return {
    /** Its row; -1: none is known. */
    work,
    isForeign,
    parent,
    isEndless,
    ring,
    lastMove,
    op: { channel, peer, isSend, nSteps, done, wait, executor: null } satisfies PendingOp<Ticks>,
  };
}

function readWait(numbers: Numbers, roomWanted: Ticks | null): PendingOp<Ticks>['wait'] {
  const [step, phase, since] = [numbers.known(), numbers.next(), numbers.next() as Ticks];
  if (step === null) return null;
  return phase === StepPhase.SendGpuWait && roomWanted !== null
    ? { step, name: WAIT_OF[StepPhase.PeerWait], since: roomWanted }
    : { step, name: WAIT_OF[phase as StepPhase], since };
}

/** `lostAfter`: slots of a ring that were lost after a tick. `text`: of a number. */
export function pendingWorks(
  works: WorkRows,
  { ops, blocks, tallies, lastMove }: OpenThings,
  lostAfter: LostAfter,
  text: (id: number) => string,
): PendingAtEnd {
  const byWork = new Map<number, PendingOp<Ticks>[]>();
  const lost = new Map<number, number>();
  const mayHaveEnded = (work: number, ring: number, sign: Ticks): void => {
    if (work >= 0) lost.set(work, Math.min(lost.get(work) ?? Infinity, lostAfter(ring, sign)));
  };
  const open: number[] = [];
  for (let row = 0; row < works.length; row++) {
    if (Number.isNaN(works.enqueued[row])) mayHaveEnded(row, works.ring[row]!, works.start[row] as Ticks);
    if (isPending(works, row)) open.push(row);
  }
  for (const { work, ring, start } of blocks) mayHaveEnded(work, ring, start);
  for (const { work, isForeign, isEndless, ring, lastMove: at, op } of ops) {
    if (isForeign || isEndless || work < 0) continue;
    addTo(byWork, work, op);
    mayHaveEnded(work, ring, at);
  }
  const seen = blocksSeen(tallies);
  for (const { work, ring, state } of seen)
    if (state === 'unfinished') mayHaveEnded(work, ring, works.start[work] as Ticks);
  const unfinished = seen.filter(({ state }) => state === 'unfinished').map(({ work }) => work);
  const blocksOf = new Map(seen.map((one) => [one.work, one]));
  const rows = [...new Set([...open, ...unfinished])];
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
      blocks: blocksOf.get(row)?.blocks ?? null,
      hasMoved: !Number.isNaN(works.ends.step[row]),
      lostSince: lost.get(row) ?? 0,
    })),
    unended: new Map(seen.flatMap(({ work, state }) => (state === 'ended' ? [] : [[work, state] as const]))),
    foreign: ops.filter(({ isForeign }) => isForeign).map(({ parent, op }) => ({ parent, op })),
    lastMove,
  };
}

interface SeenBlocks {
  readonly work: number;
  /** The ring with its kernels. */
  readonly ring: number;
  readonly blocks: BlocksSeen;
  /** 'unknown': all stamps are of other work. */
  readonly state: 'ended' | 'unfinished' | 'unknown';
}

/** The newest works of each communicator, after which none began. Announced channels prove nothing if NCCL left out kernels before. */
const blocksSeen = (tallies: OpenThings['tallies']): SeenBlocks[] =>
  tallies.flatMap(({ waiting, ring, full, short }) =>
    short > 0 || (full === 0 && !waiting.some(isFull))
      ? []
      : waiting.map((row) => {
          const { work, channels, begun, ended } = row;
          return { work, ring, blocks: { channels, begun, ended }, state: stateOf(row) };
        }),
  );

type Tallied = OpenThings['tallies'][number]['waiting'][number];

const isFull = ({ begun, ofOther, channels }: Tallied): boolean => begun + ofOther >= channels;

/** Operations on the network have records of their own. */
function stateOf({ begun, ended, ofOther, channels, hasOps }: Tallied): SeenBlocks['state'] {
  if (hasOps) return 'ended';
  if (begun + ofOther < channels || ended < begun) return 'unfinished';
  return begun === 0 ? 'unknown' : 'ended';
}
