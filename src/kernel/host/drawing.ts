/** The kernel's functions that draw (src/kernel/draw/exports.ts), and what they ask of the host. A text is its number from `addGivenText`. */

import { BugError } from '../../base/assert.js';

/** Numbers of src/kernel/draw: kinds of tracks, and depths of detail. */
export const TRACK_KIND = { group: 0, slices: 1, state: 2, counter: 3 } as const;
export const DETAIL = { coll: 0, op: 1, step: 2, always: 3, inherited: 4 } as const;

export interface DrawingExports {
  // A block.
  newBlock(blockIndex: number, blockCount: number, internLimit: number, named: number): void;
  /** Before the first track: only a part is drawn, and of each detail this window. */
  cutTo(): void;
  setWindow(detail: number, from: number, to: number): void;
  nextUuid(): number;
  /** The uuid of the process that the rank of another block has. */
  processUuid(block: number): number;
  /** Where a packet of so many bytes belongs. `packetWritten`: it is there. */
  packetRoom(bytes: number): number;
  packetWritten(bytes: number): void;
  /** Before the first track. `root`: uuid of the track above all others; 0: none. */
  openBlock(root: number): void;
  /** Where the bytes of a text belong, in UTF-8. */
  textRoom(bytes: number): number;
  addGivenText(at: number, bytes: number): number;
  /** A track of the host. `parent`: -1: none. `describeNew` when the host knows its number. */
  addTrack(parent: number, kind: number, detail: number, isInteger: boolean): number;
  describeNew(track: number): void;
  trackCount(): number;
  /** Arguments and links of the next event. */
  addArgText(name: number, value: number): void;
  addArgNumber(name: number, value: number): void;
  addArgFlag(name: number, value: boolean): void;
  addArgLong(name: number, value: bigint, isNegative: boolean): void;
  /** One of at most MOST_ARROWS. */
  setArrow(flow: bigint): void;
  setCorrelation(correlation: number): void;
  /** Returns the number of the slice. */
  beginSlice(track: number, at: number, name: number): number;
  endSlice(track: number, at: number, slice: number): void;
  /** `isAnywhere`: also outside of its window. */
  addInstant(track: number, at: number, name: number, isAnywhere: boolean): void;
  addSample(track: number, at: number, value: number): void;
  /** `name`: -1: none. */
  enterState(track: number, at: number, name: number): void;
  /** After the last event of a part. */
  finishPart(): void;
  closeBlock(): void;
  /** Where the counts lie (`tallyOf`). */
  countsOfBlock(): number;
  /** Arrows of a part: numbers of 64 bits. */
  partFlows(): number;
  partFlowCount(): number;
  /** Slices that are open on a track, outermost first; of a watched track: when each began, and its argument `step` (NaN: none). */
  openSlices(track: number): number;
  isOpenWritten(track: number, place: number): boolean;
  openSince(track: number, place: number): number;
  openStep(track: number, place: number): number;
  hasNamed(track: number): number;
  lastEventAt(track: number): number;

  // The picture of a rank.
  setClock(offset: number, nsPerTick: number): void;
  addClockSegment(from: number, to: number, offset: number, drift: number): void;
  addGpuLine(comm: number, offset: number, drift: number): void;
  /** After the block and the clock. `knownUntil`: tick from which on the state of threads is not known; NaN: none. */
  newPicture(recordsKernels: boolean, binNs: number, sampleNs: number, knownUntil: number): void;
  labelCommunicator(number: number, label: number): void;
  leaveOut(number: number): void;
  leaveOutUnknown(): void;
  /** The track of a communicator's group. */
  groupOf(number: number): number;
  /** Returns the number of the communicator, which is none of this file's. */
  addOrigin(
    context: bigint,
    commId: bigint,
    rank: number,
    nRanks: number,
    finalized: number,
    abi: number,
    process: number,
  ): number;
  /** `seq`: NaN: none; `correlation`: 0: none. */
  addOriginWork(parent: bigint, func: number, seq: number, correlation: number): void;
  addEndless(comm: number, channel: number, peer: number, user: number): void;
  /** In order of time. `end`: NaN: it has not ended. */
  addLease(ring: number, number: number, from: number, end: number, position: number, tid: number): void;
  addOverflowRing(ring: number): void;
  addBareCall(row: number): void;
  standInSteps(count: number): number;
  addBrokenTransfer(flow: bigint): void;
  addOutOfStep(transfers: bigint, from: number): void;
  /** Works get arrows to what another tool recorded of them. Their ids: this and the correlation. */
  drawWorkArrows(first: bigint): void;
  addBusyPeer(place: number, comm: number, peer: number, isSend: boolean): void;
  /** Where the rows of works belong (`writeWorkEnds`). */
  workEndRows(): number;
  /** After `run`. `recorder`: the track above odd records. Returns how many records are drawn later than recorded. */
  finishDrawing(recorder: number): number;
  /** A table of FlowEndRow (`flowEnds`). */
  flowEndCount(): number;
  flowEnds(): number;
  suspectBlocks(): number;
}

/** A slice has no more arrows. */
export const MOST_ARROWS = 8;
export interface DrawingHost {
  /** A chunk of whole packets. Its memory is used again. */
  passOn(at: number, length: number): void;
  /** Writes a packet at `packetRoom`. Returns how many bytes it has. */
  openSequence(id: number, isDelta: boolean | number): number;
  /** The same. `what` and the numbers say what the track shows (src/kernel/draw/tracks.ts). */
  describeTrack(
    track: number,
    parent: number,
    uuid: number,
    parentUuid: number,
    what: number,
    a: number,
    b: number,
    c: number,
    d: number,
  ): number;
  isWatched(track: number): boolean;
  /** Throws. */
  refuse(track: number, at: number, reason: number, number: number, other: number): void;
  readWorkEnds(row: number): void;
  sharesClock(comm: number, peer: number, needsCounter: boolean | number): boolean;
}

const noDrawing = (): never => {
  throw new BugError('the kernel draws without a block');
};

export const NO_DRAWING: DrawingHost = {
  passOn: noDrawing,
  openSequence: noDrawing,
  describeTrack: noDrawing,
  isWatched: noDrawing,
  refuse: noDrawing,
  readWorkEnds: noDrawing,
  sharesClock: noDrawing,
};
