/**
 * The loops alone, on 64 recorded slots in memory: numbers, kinds, parts and places are changed, mostly with their checks made good again. The
 * kernel and the tests' own reader must read the same. Some thousands a second, where whole files are some dozens.
 */

import { isDeepStrictEqual } from 'node:util';

import { memorySource } from '../../src/rankfile/byte_source.js';
import { readDirectory } from '../../src/rankfile/directory.js';
import { SLOT_BYTES } from '../../src/rankfile/format/constants.js';
import { readHeader } from '../../src/rankfile/header.js';
import { Problems } from '../../src/rankfile/problems.js';
import { KernelFile } from '../../src/kernel/host/kernel_file.js';
import type { FileRecords } from '../../src/rankfile/record_reader.js';
import { copyOf } from '../../src/rankfile/records.js';
import { clipped } from '../../src/rankfile/slots.js';
import { frameOf, type TickFrame } from '../../src/rankfile/tick_frame.js';
import type { Random } from '../support/forged/forged_values.js';
import { ReferenceFile } from '../support/rank_files/reference_records.js';
import { checkRing } from '../support/rank_files/reference_slots.js';
import { sealSlot } from '../support/rank_files/sealed_slot.js';

const SLOTS = 64;

/** Slots at consecutive positions, each at its position modulo 64. */
export interface SlotWindow {
  readonly words: Uint32Array;
  readonly first: number;
  readonly frame: TickFrame;
}

/** Of all rings of a recorded file. */
export function windowsOf(recorded: Uint8Array): SlotWindow[] {
  const source = memorySource('recorded.bin', recorded);
  const problems = new Problems();
  const { header, layout } = readHeader(source, problems);
  const frame = frameOf(header);
  return readDirectory(source, layout, problems).areas.flatMap((area) => {
    if (area.ring === null) return [];
    const at = area.slotsOffset;
    const words = new Uint32Array(recorded.slice(at, at + area.capacity * SLOT_BYTES).buffer);
    const head = Number(
      new DataView(recorded.buffer, recorded.byteOffset).getBigUint64(area.liveOffset, true),
    );
    const { position } = checkRing(words, area.capacity, head);
    const windows = new Map<number, Uint32Array>();
    position.forEach((place, index) => {
      if (place < 0) return;
      const first = place - (place % SLOTS);
      const own = windows.get(first) ?? new Uint32Array(SLOTS * 8);
      windows.set(first, own);
      own.set(words.subarray(index * 8, index * 8 + 8), (place - first) * 8);
    });
    return [...windows].map(([first, own]) => ({ words: own, first, frame }));
  });
}

/** What is read, in two segments: a record may begin in one and end in the next. */
export function readWindow(
  file: FileRecords,
  { words, first, frame }: SlotWindow,
  split: number,
): { readonly records: number; readonly all: unknown } {
  const bytes = { slots: SLOTS, read: () => new Uint8Array(words.slice().buffer) };
  const reader = file.table(frame, { capacity: SLOTS, head: first + SLOTS }, bytes);
  const { ring } = reader;
  const positions = Array.from({ length: SLOTS }, (_, index) => ring.positionAt(index));
  const order = ring.stretches();
  const read = (from: number, end: number) => {
    const { segment, holes } = reader.read(ring, clipped(order, from, end));
    return { records: segment && copyOf(segment), holes };
  };
  const [before, after] = [read(0, first + split), read(first + split, Infinity)];
  const counts = reader.counts();
  reader.release();
  file.close();
  return {
    records: (before.records?.length ?? 0) + (after.records?.length ?? 0),
    all: [positions, ring.tornSlots, order, before, after, counts],
  };
}

/** `into`: words of a copy. */
export function forgeSlots({ words, first }: SlotWindow, random: Random, into: Uint32Array): void {
  into.set(words);
  for (let changes = 1 + random(4); changes > 0; changes--) {
    const slot = random(SLOTS);
    const at = slot * 8;
    switch (random(6)) {
      case 0:
        into[at + random(8)]! ^= 1 << random(32);
        continue;
      case 1:
        into.fill(0, at, at + 8);
        continue;
      case 2: // another slot's content
        into.copyWithin(at, random(SLOTS) * 8, random(SLOTS) * 8 + 8);
        into[at + 6] = into[at + 6]! & 0xffff;
        break;
      case 3: // kind, part, parts
        into[at + 6] = random(2) === 0 ? random(0x10000) : (into[at + 6]! & 0xffff) ^ (1 << random(16));
        break;
      case 4:
        into[at + random(6)] = [0, 1, 0x7fffffff, 0x80000000, 0xffffffff][random(5)]!;
        break;
      default:
        into[at + random(6)] = random(2 ** 32);
    }
    sealSlot(into, at, first + slot);
  }
}

export interface SlotsFuzzed {
  readonly executions: number;
  /** Executions in which at least one record was read. */
  readonly withRecords: number;
  readonly findings: readonly string[];
}

export function fuzzSlots(
  windows: readonly SlotWindow[],
  random: Random,
  { runs, seconds }: { readonly runs: number; readonly seconds: number },
): SlotsFuzzed {
  const findings: string[] = [];
  const words = new Uint32Array(SLOTS * 8);
  const until = performance.now() + seconds * 1000;
  let [executions, withRecords] = [0, 0];
  for (; executions < runs && (executions % 64 > 0 || performance.now() < until); executions++) {
    const window = windows[random(windows.length)]!;
    forgeSlots(window, random, words);
    const forged = { ...window, words };
    const split = random(SLOTS);
    try {
      const read = readWindow(new ReferenceFile(), forged, split);
      if (!isDeepStrictEqual(readWindow(new KernelFile(), forged, split), read))
        findings.push(`the kernel differs: split ${split}, ${Buffer.from(words.buffer).toString('base64')}`);
      if (read.records > 0) withRecords++;
    } catch (error) {
      findings.push(`${String((error as Error).stack)}: ${Buffer.from(words.buffer).toString('base64')}`);
    }
  }
  return { executions, withRecords, findings };
}
