/**
 * When works were done, as far as their children show: the ends of operations and blocks, and the first signs of the GPU. Each time is a
 * column of the result (src/kernel/host/works.ts).
 */

import { Block, Op, Work } from './event';

/** NCCL 2.27. */
const FIRST_WITH_PEER_WAIT = 4;

export function opEnded(op: Op): void {
  const work = op.work;
  if (work === null) return;
  gpuBegan(work, op);
  held(work, op);
  passed(work, op);
  work.lastOp = op.stop;
  if (!op.isSend) work.lastRecv = op.stop;
}

function held(work: Work, op: Op): void {
  work.noRoom = max(work.noRoom, op.noRoom);
  if (isNaN(op.heldTo) || op.heldTo - op.heldFrom <= work.heldTo - work.heldFrom) return;
  work.heldFrom = op.heldFrom;
  work.heldTo = op.heldTo;
  work.heldChannel = op.channel;
}

function passed(work: Work, op: Op): void {
  // Before, no state of a step tells that its GPU has filled it and the receiver has no room.
  if (op.isSend && op.comm.abi < FIRST_WITH_PEER_WAIT) return;
  const after = op.passedAfter + op.passedSteps * (op.start - work.start);
  if (op.isSend) {
    work.sends++;
    work.sentSteps += op.passedSteps;
    work.sentAfter += after;
    work.onWire += op.onWire;
  } else {
    work.receivedSteps += op.passedSteps;
    work.receivedAfter += after;
  }
}

/**
 * Operations come in any order: they are not merged by time. Also for those that have not ended, at the end of the file. A GPU that reduces
 * the data of several peers begins when the last of them have come, so the latest data before its first sign count.
 */
export function gpuBegan(work: Work, op: Op): void {
  const gpuBegan = op.gpuBegan;
  const firstData = op.firstData;
  if (!isNaN(gpuBegan) && !(work.step <= gpuBegan)) work.step = gpuBegan;
  if (work.data > work.step) work.data = NaN;
  if (firstData <= work.step && !(work.data >= firstData)) work.data = firstData;
}

export function blockStarted(block: Block): void {
  const work = block.work;
  const timerStart = block.timerStart;
  if (work === null || isNaN(timerStart) || block.isWithinBlock || block.isOfOther) return;
  if (timerStart >= work.kernelStamp) return;
  work.kernelStamp = timerStart;
  work.kernelNoticed = block.start;
}

/** Widens the interval of the work's stamps. After an impossible stamp no stamps are known. */
export function blockEnded(block: Block): void {
  const work = block.work;
  const timerStart = block.timerStart;
  const timerStop = block.timerStop;
  if (work === null || block.isWithinBlock || block.isOfOther) return;
  const isFirst = isNaN(work.noticed);
  work.noticed = block.stop;
  if (!isFirst && isNaN(work.firstStamp)) return;
  // False for stamps that are not known.
  if (!(timerStop >= timerStart)) {
    work.firstStamp = work.lastStamp = NaN;
    return;
  }
  if (!(work.firstStamp < timerStart)) work.firstStamp = timerStart;
  if (!(work.lastStamp > timerStop)) work.lastStamp = timerStop;
}
