/**
 * The record kernel: everything that touches a record of a rank file, from its slots to the facts that other ranks need. One instance per
 * thread. Its memory holds one file at a time, and `begin` makes all of it free again. src/kernel/host is the only caller; its load.ts says
 * what each function takes.
 */

import { dressSlots, slotsOfPlanes } from './chunk_codecs';
import { Collector } from './collector';
import { COLUMN_BYTES, putColumns } from './columns';
import { clock, forgetDrawing, picture, sink } from './draw/drawing';
import { EventTable } from './event_table';
import { Comm } from './comm';
import { FileFacts, useFile } from './file';
import { RingClass, SLOT_BYTES } from './numbers';
import { Cursor, Order } from './order';
import { Pairing } from './pairing';
import { Span } from './quiet_times';
import { OpenFold, RingReader, SEGMENT_SLOTS } from './record';
import { Out, putScan } from './results';
import { limitRoom, needRoom } from './room';
import { beginRows } from './rows';
import { Slots, Stretch } from './slots';
import { StepRows } from './step_rows';
import { StepTable } from './step_table';

export { checkIndex } from './checks';
export { limitRoom } from './room';
export * from './draw/exports';

/** Least number of slots, by kind. Not in the memory of a file. */
const minParts: usize = memory.data(256);

let facts: FileFacts | null = null;
let events: EventTable | null = null;
let collector: Collector | null = null;
let stepTable: StepTable | null = null;
let pairing: Pairing | null = null;
let cursors: Cursor[] = [];
let readers: StaticArray<RingReader | null> = new StaticArray<RingReader | null>(0);
let segment: usize = 0;
let out: Out | null = null;
let columns: usize = 0;
let planes: usize = 0;
let planesRoom: i32 = 0;

export function minPartsAt(): usize {
  return minParts;
}

/** Before any other function of a file. `startRealtime`: ns since the epoch. */
export function begin(tickBase: u64, startRealtime: u64, farthest: f64, tickHz: f64, tag17: u32): void {
  __reset();
  limitRoom();
  const made = new FileFacts(tickBase, farthest, 1e9 / tickHz, tickHz, startRealtime, tag17);
  facts = made;
  useFile(made);
  beginRows();
  collector = null;
  stepTable = null;
  pairing = null;
  forgetDrawing();
  cursors = [];
  readers = new StaticArray<RingReader | null>(64);
  segment = heap.alloc(SEGMENT_SLOTS * offsetof<Stretch>());
  out = new Out();
  columns = planes = 0;
  planesRoom = 0;
}

/** `finalized`: tick; NaN: it was not. */
export function addCommunicator(
  number: u32,
  commId: u64,
  rank: i32,
  nRanks: i32,
  finalized: f64,
  abi: i32,
): void {
  needRoom();
  facts!.comms.set(number, new Comm(number, commId, rank, nRanks, finalized, abi));
}

/** Returns where the text's `length` UTF-16 units belong. `same`: the first text that is equal. */
export function addText(text: u32, length: i32, flags: u32, same: u32): usize {
  needRoom();
  return facts!.addText(text, length, <u8>flags, same);
}

/** Before the rings are added: the records will be paired for the scan, or for the picture that was begun. */
export function beginScan(): void {
  const table = new EventTable();
  const made = new Collector(table);
  events = table;
  collector = made;
  pairing = new Pairing(made, table);
}

export function beginDrawing(): void {
  const table = new EventTable();
  events = table;
  pairing = new Pairing(picture(), table);
}

/** The records will be paired for the table of transfers. The clock is set before. Times: of step_table.ts. */
export function beginStepTable(startUs: f64, startNs: f64): usize {
  const table = new EventTable();
  const made = new StepTable(clock(), facts!.nsPerTick, startUs, startNs);
  events = table;
  stepTable = made;
  pairing = new Pairing(made, table);
  return made.at;
}

/** Fewer calls were recorded in this span of ticks. */
export function addUnrecorded(from: f64, end: f64): void {
  collector!.quiet.unrecorded.push(new Span(from, end));
}

/** Before the functions below. */
export function openRing(ring: i32): void {
  readers[ring] = new RingReader(minParts);
}

/** Where the ring's own slots belong. */
export function ringMemory(ring: i32, slots: i32): usize {
  needRoom(<f64>slots * SLOT_BYTES);
  return readers[ring]!.ring.reserve(slots);
}

/** Returns how many of its `count` slots are torn. */
export function checkRing(ring: i32, count: i32, capacity: i32, head: f64): i32 {
  const slots = readers[ring]!.ring;
  slots.check(count, capacity, head);
  return slots.torn;
}

/** Where the slots of the ring's next chunk belong. */
export function chunkMemory(ring: i32, slots: i32): usize {
  needRoom(<f64>slots * SLOT_BYTES);
  return readers[ring]!.chunk.reserve(slots);
}

/** Where the planes of a chunk belong. */
export function planesMemory(bytes: i32): usize {
  if (bytes > planesRoom) {
    needRoom(bytes);
    planesRoom = bytes;
    planes = heap.alloc(bytes);
  }
  return planes;
}

/** Makes the chunk's slots of its planes. */
export function takePlanes(ring: i32, count: i32): void {
  slotsOfPlanes(planes, count, readers[ring]!.chunk.reserve(count));
}

/** Adds the fields that the chunk's slots lack. */
export function dressChunk(ring: i32, count: i32, first: f64): void {
  dressSlots(readers[ring]!.chunk.reserve(count), count, first);
}

/** Slots with positions from `first` on, of which [from, end) are wanted. Returns how many of these are not valid in the chunk. */
export function checkChunk(ring: i32, count: i32, first: f64, from: f64, end: f64, capacity: f64): i32 {
  const reader = readers[ring]!;
  reader.chunk.check(count, first, from, end, reader.ring, capacity);
  return reader.chunk.bad;
}

function slotsOf(ring: i32, ofChunk: bool): Slots {
  const reader = readers[ring]!;
  return ofChunk ? reader.chunk : reader.ring;
}

/** The position of a slot; -1: it is empty, -2: it is torn. */
export function positionAt(ring: i32, ofChunk: bool, index: i32): f64 {
  return slotsOf(ring, ofChunk).positionAt(index);
}

/** Where the stretches of valid slots lie, in order of index: three numbers each (slots.ts). */
export function stretchesOf(ring: i32, ofChunk: bool): usize {
  return slotsOf(ring, ofChunk).stretches;
}

export function stretchCount(ring: i32, ofChunk: bool): i32 {
  return slotsOf(ring, ofChunk).stretchCount;
}

/** After `openRing`. `positions`: slots of the ring in the file, chunks included. `isRead`: its records are paired. */
export function addRing(ring: i32, ringClass: i32, positions: f64, isRead: bool): void {
  const isSteps = ringClass == RingClass.Steps;
  if (isRead) cursors.push(new Cursor(ring, isSteps, readers[ring]!));
  pairing!.addRing(ring);
  events!.ring(ring, isSteps || ringClass == RingClass.Ops, positions);
}

/** A repeat that was going on when the file was read. */
export function addFold(ring: i32, handle: u64, state: u32, count: f64, lastTick: f64): void {
  readers[ring]!.folds.push(new OpenFold(handle, state, count, lastTick));
}

/** Bytes that were sent are counted from this tick on. */
export function countSentSince(tick: f64): void {
  collector!.transfers.since = tick;
}

export function wantStepRows(everyStep: bool, mostRows: i32): void {
  collector!.stepRows = new StepRows(everyStep, mostRows);
}

/** Where the stretches of a segment belong: three numbers each, SEGMENT_SLOTS slots in all at most. */
export function segmentAt(): usize {
  return segment;
}

/** Makes the records of a segment of the ring, or of its chunk. Returns how many there are. */
export function readSegment(ring: i32, ofChunk: bool, stretches: i32): i32 {
  const reader = readers[ring]!;
  reader.read(slotsOf(ring, ofChunk), segment, stretches);
  return reader.records.length;
}

/** The records of the ring's newest segment in columns (columns.ts). Valid until the next call, for any ring. */
export function columnsOf(ring: i32): usize {
  if (columns == 0) columns = heap.alloc(COLUMN_BYTES);
  putColumns(readers[ring]!.records, columns);
  return columns;
}

/** Numbers [from, end) of the positions without a record, and the ticks before and after them, four of each hole. */
export function holesAt(ring: i32): usize {
  return readers[ring]!.holes;
}

export function holeCount(ring: i32): i32 {
  return readers[ring]!.holeCount;
}

/** `RingCounts`, and the records by kind (256). */
export function countsAt(ring: i32): usize {
  return changetype<usize>(readers[ring]!.counts);
}

export function kindsAt(ring: i32): usize {
  return changetype<usize>(readers[ring]!.kinds);
}

/** One past the newest record's last slot. */
export function endOfRecords(ring: i32): f64 {
  return readers[ring]!.end;
}

/** Pairs all records, and asks the host for the segments. */
export function run(): void {
  new Order(cursors, pairing!).run();
}

/** Stamps of the GPU since the last call. They are valid until the next segment is read. */
export function stampCount(): i32 {
  return collector!.stamps.rows.length;
}

/** A row of StampRow. */
export function stampAt(row: i32): usize {
  return changetype<usize>(collector!.stamps.rows.at(row));
}

export function forgetStamps(): void {
  collector!.stamps.rows.clear();
}

/** The polls that were going on. Returns the tick of the newest one; NaN: none. */
function addPolls(): f64 {
  let newestPoll: f64 = NaN;
  for (let i = 0; i < cursors.length; i++) {
    const newest = pairing!.openFolds(cursors[i].reader.folds);
    if (!(newestPoll >= newest) && !isNaN(newest)) newestPoll = newest;
  }
  return newestPoll;
}

/** After `run`, in the scan. Returns where the addresses of the results' blocks lie (results.ts). */
export function finish(): usize {
  const newestPoll = addPolls();
  collector!.finish(pairing!.steps.rows);
  putScan(out!, collector!, pairing!.odd, newestPoll);
  return changetype<usize>(out!.blockList());
}

/** After `run`, in the drawing. `recorder`: the track of odd records. Returns how many records are drawn later than recorded. */
export function finishDrawing(recorder: i32): f64 {
  addPolls();
  picture().finish(pairing!.steps.rows, pairing!.odd, sink().tracks[recorder]);
  return picture().reordered + pairing!.reordered;
}

/** After `run`, in the table of transfers. */
export function finishStepTable(): void {
  addPolls();
  stepTable!.finish(pairing!.steps.rows);
}

/** How many numbers the results are. */
export function resultCount(): i32 {
  return out!.length;
}
