/**
 * When works were done, as far as their children show: the ends of operations and blocks, and the first signs of the GPU. Each is a
 * column of EndRow.
 */

import { Block, Op, Work } from './event';
import { EndRow } from './result_rows';

/** NCCL 2.27. */
const FIRST_WITH_PEER_WAIT = 4;

export function opEnded(op: Op): void {
  const work = op.work;
  if (work === null) return;
  gpuBegan(work, op);
  held(work.ends, op);
  passed(work, op);
  const ends = work.ends;
  ends.lastOp = op.stop;
  if (!op.isSend) ends.lastRecv = op.stop;
}

function held(ends: EndRow, op: Op): void {
  ends.noRoom = max(ends.noRoom, op.noRoom);
  if (isNaN(op.heldTo) || op.heldTo - op.heldFrom <= ends.heldTo - ends.heldFrom) return;
  ends.heldFrom = op.heldFrom;
  ends.heldTo = op.heldTo;
  ends.heldChannel = op.channel;
}

function passed(work: Work, op: Op): void {
  // Before, no state of a step tells that its GPU has filled it and the receiver has no room.
  if (op.isSend && op.comm.abi < FIRST_WITH_PEER_WAIT) return;
  const ends = work.ends;
  const after = op.passedAfter + op.passedSteps * (op.start - work.start);
  if (op.isSend) {
    ends.sends += 1;
    ends.sentSteps += op.passedSteps;
    work.sentAfter += after;
    work.onWire += op.onWire;
  } else {
    ends.receivedSteps += op.passedSteps;
    work.receivedAfter += after;
  }
}

/**
 * Operations come in any order: they are not merged by time. Also for those that have not ended, at the end of the file. A GPU that reduces
 * the data of several peers begins when the last of them have come, so the latest data before its first sign count.
 */
export function gpuBegan(work: Work, op: Op): void {
  const ends = work.ends;
  const gpuBegan = op.gpuBegan;
  const firstData = op.firstData;
  if (!isNaN(gpuBegan) && !(ends.step <= gpuBegan)) ends.step = gpuBegan;
  if (ends.data > ends.step) ends.data = NaN;
  if (firstData <= ends.step && !(ends.data >= firstData)) ends.data = firstData;
}

export function blockStarted(block: Block): void {
  const work = block.work;
  const timerStart = block.timerStart;
  if (work === null || isNaN(timerStart) || block.isWithinBlock || block.isOfOther) return;
  const ends = work.ends;
  if (timerStart >= ends.kernelStamp) return;
  ends.kernelStamp = timerStart;
  ends.kernelNoticed = block.start;
}

/** Widens the interval of the work's stamps. After an impossible stamp no stamps are known. */
export function blockEnded(block: Block): void {
  const work = block.work;
  const timerStart = block.timerStart;
  const timerStop = block.timerStop;
  if (work === null || block.isWithinBlock || block.isOfOther) return;
  const ends = work.ends;
  const isFirst = isNaN(ends.noticed);
  ends.noticed = block.stop;
  if (!isFirst && isNaN(ends.firstStamp)) return;
  // False for stamps that are not known.
  if (!(timerStop >= timerStart)) {
    ends.firstStamp = ends.lastStamp = NaN;
    return;
  }
  if (!(ends.firstStamp < timerStart)) ends.firstStamp = timerStart;
  if (!(ends.lastStamp > timerStop)) ends.lastStamp = timerStop;
}
