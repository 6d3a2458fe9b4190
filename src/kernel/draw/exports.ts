/** The drawing's functions for the host: those of a block, and those of a rank. src/kernel/host/drawing.ts says what each takes. */

import { Comm } from '../comm';
import { file } from '../file';
import { tableOf } from '../table';
import { Clock } from './clock';
import { clock, picture, setClockOf, setPicture, setSink, sink } from './drawing';
import { Lease } from './host_threads';
import { Picture } from './picture';
import { Ids } from './sequences';
import { Sink } from './sink';
import { Track, TrackKind } from './tracks';
import { Detail, Windows } from './windows';

// ---- a block

/** `internLimit`: number of distinct strings per table. `named`: correlation of the call to look for on watched tracks; NaN: none. */
export function newBlock(blockIndex: f64, blockCount: f64, internLimit: i32, named: f64): void {
  setSink(new Sink(new Ids(blockIndex, blockCount), internLimit, named));
}

/** Before the first track: only a part is drawn, and of this detail this window. */
export function cutTo(): void {
  sink().windows = new Windows();
}

export function setWindow(detail: i32, from: f64, to: f64): void {
  sink().windows!.set(detail as Detail, from, to);
}

export function nextUuid(): f64 {
  return sink().ids.nextUuid();
}

export function processUuid(block: f64): f64 {
  return Ids.processOf(block);
}

/** Where a packet of so many bytes belongs, and that it is there. */
export function packetRoom(bytes: i32): usize {
  sink().packets.out.reserve(bytes);
  return sink().packets.out.end;
}

export function packetWritten(bytes: i32): void {
  const out = sink().packets.out;
  out.commit(out.end + <usize>bytes);
}

export function openBlock(root: f64): void {
  sink().open(root);
}

/** Where the bytes of a text belong. Returns its number, for the functions below. */
export function textRoom(bytes: i32): usize {
  return heap.alloc(bytes);
}

export function addGivenText(at: usize, bytes: i32): i32 {
  return sink().texts.take(at, bytes);
}

/** `parent`: -1: none. `describeNew` describes it. */
export function addTrack(parent: i32, kind: i32, detail: i32, isInteger: bool): i32 {
  return sink().addTrack(parent < 0 ? null : trackOf(parent), kind as TrackKind, detail as Detail, isInteger)
    .number;
}

export function describeNew(track: i32): void {
  if (sink().windows === null) sink().describe(trackOf(track));
}

export function trackCount(): i32 {
  return sink().tracks.length;
}

function trackOf(track: i32): Track {
  return sink().tracks[track];
}

export function addArgText(name: i32, value: i32): void {
  sink().text(sink().texts.given(name), sink().texts.given(value));
}

export function addArgNumber(name: i32, value: f64): void {
  sink().number(sink().texts.given(name), value);
}

export function addArgFlag(name: i32, value: bool): void {
  sink().flag(sink().texts.given(name), value);
}

/** An integer of 64 bits. */
export function addArgLong(name: i32, value: u64, isNegative: bool): void {
  if (isNegative) sink().negative(sink().texts.given(name), value);
  else sink().long(sink().texts.given(name), value);
}

export function setArrow(flow: u64): void {
  sink().arrow(flow);
}

export function setCorrelation(correlation: f64): void {
  sink().correlate(correlation);
}

export function beginSlice(track: i32, at: f64, name: i32): i32 {
  return sink().begin(trackOf(track), at, sink().texts.given(name));
}

export function endSlice(track: i32, at: f64, slice: i32): void {
  sink().end(trackOf(track), at, slice);
}

export function addInstant(track: i32, at: f64, name: i32, isAnywhere: bool): void {
  const text = sink().texts.given(name);
  if (isAnywhere) sink().writeInstant(trackOf(track), at, text);
  else sink().instant(trackOf(track), at, text);
}

export function addSample(track: i32, at: f64, value: f64): void {
  sink().counter(trackOf(track), at, value);
}

/** `name`: -1: it leaves the state. */
export function enterState(track: i32, at: f64, name: i32): void {
  sink().state(trackOf(track), at, name < 0 ? null : sink().texts.given(name));
}

/** After the last event of a part. */
export function finishPart(): void {
  if (sink().windows !== null) sink().finish();
}

export function closeBlock(): void {
  sink().close();
}

/** Where the TallyRow lies. */
export function countsOfBlock(): usize {
  return changetype<usize>(sink().counts());
}

/** Arrows of a part: numbers of 64 bits. */
export function partFlows(): usize {
  return sink().flows.dataStart;
}

export function partFlowCount(): i32 {
  return sink().flows.length;
}

/** Slices that are open on a watched track, outermost first: when each began, and its argument `step` (NaN: none). */
export function openSlices(track: i32): i32 {
  return trackOf(track).openCount;
}

export function isOpenWritten(track: i32, place: i32): bool {
  return trackOf(track).slice(place).isWritten;
}

export function openSince(track: i32, place: i32): f64 {
  return trackOf(track).slice(place).at;
}

export function openStep(track: i32, place: i32): f64 {
  return trackOf(track).slice(place).step;
}

export function hasNamed(track: i32): bool {
  return trackOf(track).hasNamed;
}

export function lastEventAt(track: i32): f64 {
  return trackOf(track).lastAt;
}

// ---- the clock

export function setClock(offset: f64, nsPerTick: f64): void {
  const made = new Clock();
  made.setScale(offset, nsPerTick);
  setClockOf(made);
}

export function addClockSegment(from: f64, to: f64, offset: f64, drift: f64): void {
  clock().addSegment(from, to, offset, drift);
}

export function addGpuLine(comm: i32, offset: f64, drift: f64): void {
  clock().addGpu(comm, offset, drift);
}

// ---- a rank

/** After the block, the clock and the file's facts. `knownUntil`: see Picture. */
export function newPicture(recordsKernels: bool, binNs: f64, sampleNs: f64, knownUntil: f64): void {
  const made = new Picture(sink(), clock(), recordsKernels, binNs, sampleNs);
  made.knownUntil = knownUntil;
  setPicture(made);
}

/** `label`: its name in arguments. Without a call the communicator is not known. */
export function labelCommunicator(number: u32, label: i32): void {
  commOf(number).label = sink().texts.given(label);
}

/** No event of an unknown communicator, and of those that are left out, is drawn. */
export function leaveOutUnknown(): void {
  file().unknownComm.isLeftOut = true;
}

export function leaveOut(number: u32): void {
  commOf(number).isLeftOut = true;
}

/** Numbers of communicators of other processes: above all of a file. */
const FIRST_ORIGIN: u32 = 1 << 20;

function commOf(number: u32): Comm {
  return number >= FIRST_ORIGIN ? file().origins[number - FIRST_ORIGIN] : file().commOf(number);
}

/** The group of a communicator's tracks. */
export function groupOf(number: u32): i32 {
  return picture().groups.group(commOf(number)).number;
}

/** A communicator of another process, for which this one executes operations. Returns its number for the functions here. */
export function addOrigin(
  context: u64,
  commId: u64,
  rank: i32,
  nRanks: i32,
  finalized: f64,
  abi: i32,
  process: i32,
): u32 {
  const number = FIRST_ORIGIN + <u32>file().origins.length;
  const comm = new Comm(number, commId, rank, nRanks, finalized, abi);
  file().origins.push(comm);
  picture().origins.addContext(context, comm, sink().texts.given(process));
  return number;
}

/** `seq`: NaN: none; `correlation`: 0: none. */
export function addOriginWork(parent: u64, func: i32, seq: f64, correlation: f64): void {
  picture().origins.addWork(parent, sink().texts.given(func), seq, correlation);
}

export function addEndless(comm: i32, channel: i32, peer: i32, user: i32): void {
  picture().origins.addEndless(comm, channel, peer, user);
}

/** In order of time. */
export function addLease(ring: i32, number: i32, from: f64, end: f64, position: f64, tid: f64): void {
  picture().threads.addLease(ring, new Lease(number, from, end, position, tid));
}

export function addOverflowRing(ring: i32): void {
  picture().threads.overflowRings |= (<u64>1) << ring;
}

export function addBareCall(row: i32): void {
  picture().threads.bareCalls.add(row);
}

/** Where the numbers of steps of stand-ins belong. */
export function standInSteps(count: i32): usize {
  const steps = new StaticArray<u32>(count);
  picture().ops.standInSteps = steps;
  return changetype<usize>(steps);
}

export function addBrokenTransfer(flow: u64): void {
  picture().steps.broken.add(flow);
}

export function addOutOfStep(transfers: u64, from: f64): void {
  picture().ops.outOfStep.set(transfers, from);
}

/** `place`: among the busiest peers. */
export function addBusyPeer(place: i32, comm: u32, peer: i32, isSend: bool): void {
  picture().bytes.addPeer(place, commOf(comm), peer, isSend);
}

/** Where rows of WorkEndRow belong. */
export function workEndRows(): usize {
  return picture().workEnds.rows;
}

export function drawWorkArrows(first: u64): void {
  picture().works.arrows = first;
}

/** After the drawing: ends of arrows, and slices that show when a kernel was noticed. */
export function flowEndCount(): i32 {
  return picture().flows.rows.length;
}

/** A table of FlowEndRow. */
export function flowEnds(): usize {
  return tableOf(picture().flows.rows).start;
}

export function suspectBlocks(): i32 {
  return picture().blocks.suspects;
}
