/** The kernel's WebAssembly: its functions, and instances of it. */

import { readFileSync } from 'node:fs';
import { BugError } from '../../base/assert.js';
import { WebAssembly, type WasmMemory, type WasmModule } from '../../base/webassembly.js';
import { PAGE, pagesLeft, withAddresses } from './addresses.js';
import { type DrawingExports, type DrawingHost, NO_DRAWING } from './drawing.js';
import { kernelFile } from './file.js';

/** What src/kernel/index.ts exports. */
export interface KernelExports extends DrawingExports {
  readonly memory: WasmMemory;
  checkIndex(index: number, length: number): void;

  /** Where the least number of slots of each kind belongs: 256 bytes. Before the first file. */
  minPartsAt(): number;
  /** Before any other function of a file. All addresses of the file before are free again. */
  begin(tickBase: bigint, startRealtime: bigint, farthest: number, tickHz: number, tag17: number): void;
  /** After `begin`: how much memory the file may take. `Kernel.noRoom` is called when it needs more. */
  limitRoom(bytes: number): void;
  /** `finalized`: tick; NaN: it was not. */
  addCommunicator(
    number: number,
    commId: bigint,
    rank: number,
    nRanks: number,
    finalized: number,
    abi: number,
  ): void;
  /** Returns where the `length` UTF-16 units of the text belong. `same`: the first text that is equal. */
  addText(text: number, length: number, flags: number, same: number): number;
  /** Fewer calls were recorded in this span of ticks. */
  addUnrecorded(from: number, end: number): void;
  /** Before the functions of the ring. */
  openRing(ring: number): void;
  /** Where the ring's own slots belong, and those of its next chunk. Addresses stay; views are empty once the memory has grown. */
  ringMemory(ring: number, slots: number): number;
  chunkMemory(ring: number, slots: number): number;
  /** Returns how many of the `count` slots are torn. */
  checkRing(ring: number, count: number, capacity: number, head: number): number;
  /** Where the planes of a chunk belong; makes its slots of them; adds the fields that they lack. */
  planesMemory(bytes: number): number;
  takePlanes(ring: number, count: number): void;
  dressChunk(ring: number, count: number, first: number): void;
  /** Slots with positions from `first` on, of which [from, end) are wanted. Returns how many of these are not valid in the chunk. */
  checkChunk(ring: number, count: number, first: number, from: number, end: number, capacity: number): number;
  /** Negative: the slot has no position. */
  positionAt(ring: number, ofChunk: boolean, index: number): number;
  /** Stretches of valid slots in order of index: position, index, length. */
  stretchesOf(ring: number, ofChunk: boolean): number;
  stretchCount(ring: number, ofChunk: boolean): number;

  /** Before the rings are added: what is done with the records. The drawing needs a picture before. */
  beginScan(): void;
  beginDrawing(): void;
  /** After the clock. Returns where the columns of transfers lie (step_table.ts). `startUs`, `startNs`: the trace's start since 1970. */
  beginStepTable(startUs: number, startNs: number): number;
  /** After `run`. */
  finishStepTable(): void;
  /** `positions`: slots of the ring in the file, chunks included. `isRead`: its records are paired. */
  addRing(ring: number, ringClass: number, positions: number, isRead: boolean): void;
  addFold(ring: number, handle: bigint, state: number, count: number, lastTick: number): void;
  countSentSince(tick: number): void;
  wantStepRows(everyStep: boolean, mostRows: number): void;

  /** Pairs all records. Calls `nextSegment` for each segment of a ring. */
  run(): void;
  /** Where the stretches of a segment belong: position, index, length. SEGMENT_SLOTS slots in all at most. */
  segmentAt(): number;
  /** Makes the records of a segment of so many stretches. Returns how many there are. */
  readSegment(ring: number, ofChunk: boolean, stretches: number): number;
  /** The records of the newest segment in columns. Valid until the next call. */
  columnsOf(ring: number): number;
  /** Holes before the segment's records: from, end, ticks of the records before and after. */
  holesAt(ring: number): number;
  holeCount(ring: number): number;
  /** Numbers of records, too short ones, early ones, impossible ones; the newest tick. */
  countsAt(ring: number): number;
  /** Records by kind: 256 words. */
  kindsAt(ring: number): number;
  endOfRecords(ring: number): number;

  /** Stamps of the GPU since `forgetStamps`, six numbers each. */
  stampCount(): number;
  stampAt(row: number): number;
  forgetStamps(): void;

  /** After `run`. Returns where the addresses of the results' blocks lie; numbers.ts reads them. */
  finish(): number;
  resultCount(): number;
}

/** Asked for the next segment of a ring. False: there is none. */
export type NextSegment = (ring: number) => boolean;

/** An instance, and who answers its requests. */
export interface Kernel {
  readonly exports: KernelExports;
  /** Bytes that its memory may become. */
  readonly most: number;
  nextSegment: NextSegment;
  /** The file needs so many bytes, more than it may take. */
  noRoom: (bytes: number) => never;
  drawing: DrawingHost;
  takeSteps: (rows: number) => void;
}

let module: WasmModule | undefined;
/** Instances of this thread that nobody uses. Their memory is used again, because new memory costs a page fault every 4 KB. */
const spare: Kernel[] = [];

/** An instance has one memory, so it is for one file. `giveBack` when the file is closed. */
export const lendKernel = (): Kernel => spare.pop() ?? newKernel();

/** After the last file of this thread: the memory of a large file is as much as all that is known of a run. */
export function forgetSpare(): void {
  spare.length = 0;
}

export function giveBack(kernel: Kernel): void {
  kernel.nextSegment = noSegment;
  kernel.noRoom = unlimited;
  kernel.drawing = NO_DRAWING;
  kernel.takeSteps = noSteps;
  spare.push(kernel);
}

const noSegment: NextSegment = () => false;

const noSteps = (): never => {
  throw new BugError('nobody takes the transfers');
};

const unlimited = (bytes: number): never => {
  throw new BugError(`the kernel needs ${bytes} bytes, more than it can have`);
};

export function newKernel(): Kernel {
  module ??= new WebAssembly.Module(readFileSync(kernelFile()));
  const abort = (message: number, file: number, line: number, column: number): never => {
    const text = (at: number): string => textAt(kernel.exports.memory, at);
    throw new BugError(`${text(file)}:${line}:${column}: ${text(message)}`);
  };
  const order = { nextSegment: (ring: number) => kernel.nextSegment(ring) };
  const host: DrawingHost = {
    passOn: (at, length) => {
      kernel.drawing.passOn(at, length);
    },
    openSequence: (id, isDelta) => kernel.drawing.openSequence(id, isDelta),
    describeTrack: (...track) => kernel.drawing.describeTrack(...track),
    isWatched: (track) => kernel.drawing.isWatched(track),
    refuse: (...event) => {
      kernel.drawing.refuse(...event);
    },
    readWorkEnds: (row) => {
      kernel.drawing.readWorkEnds(row);
    },
    sharesClock: (comm, peer, needsCounter) => kernel.drawing.sharesClock(comm, peer, needsCounter),
  };
  const room = {
    noRoom: (bytes: number) => {
      kernel.noRoom(bytes);
    },
  };
  const step_table = {
    takeSteps: (rows: number) => {
      kernel.takeSteps(rows);
    },
  };
  const maximum = pagesLeft();
  const env = { abort, memory: withAddresses(() => new WebAssembly.Memory({ initial: 1, maximum })) };
  const exports = new WebAssembly.Instance(module, { env, order, host, room, step_table })
    .exports as KernelExports;
  const kernel: Kernel = {
    exports,
    most: maximum * PAGE,
    nextSegment: noSegment,
    noRoom: unlimited,
    drawing: NO_DRAWING,
    takeSteps: noSteps,
  };
  return kernel;
}

/** A string of AssemblyScript: UTF-16, its length in bytes lies before it. Null if the source gave no text. */
function textAt({ buffer }: WasmMemory, at: number): string {
  if (at === 0) return 'no message';
  const bytes = new DataView(buffer).getUint32(at - 4, true);
  return new TextDecoder('utf-16le').decode(new Uint8Array(buffer, at, bytes));
}
