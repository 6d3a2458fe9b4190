/**
 * The tables: communicators, strings, leases, clock samples. Each is an area with fixed places for its records. A record at a place of
 * another kind is damage: it is counted and left out.
 */

import { type Ticks, ticks } from '../base/time.js';
import * as format from './format/constants.js';
import type { Problems } from './problems.js';
import { type TickFrame, tickIn } from './tick_frame.js';
import type { ClockSample, Communicator, ControlChange, Lease, RecordColumns } from './file_types.js';
import { impossibleField } from './value_ranges.js';
import { u64, wordAt } from './field_values.js';

const { Kind } = format;

/** The rows of `kind` at slot `at` of an entry of `slots`: entry number and row. */
function* entries(
  records: RecordColumns,
  kind: number,
  slots: number,
  at: number,
  problems: Problems,
): Generator<readonly [number: number, row: number]> {
  for (let row = 0; row < records.length; row++) {
    if (records.kind[row] !== kind) continue;
    const place = records.position[row]! - at;
    const wrong = impossibleField(records, row);
    if (place % slots !== 0) problems.add('table entries in the wrong place, skipped: the file was damaged');
    else if (wrong !== null) problems.add(`entries of tables with an impossible ${wrong}, left out`);
    else yield [place / slots, row];
  }
}

const tickOf = (records: RecordColumns, row: number): Ticks => ticks(records.tick[row]!);
const low32 = (value: bigint): number => Number(BigInt.asUintN(32, value));
const signed32 = (value: bigint): number => Number(BigInt.asIntN(32, value));

/** `length` bytes of text from words [from, ...) of the record's slots after `first`; a NUL ends it. */
function textOf(
  records: RecordColumns,
  row: number,
  slot: number,
  first: readonly number[],
  length: number,
): string {
  const from = records.extraStart[row]! + (slot - 1) * 6;
  const words = Uint32Array.from([...first, ...records.extra.subarray(from, records.extraStart[row + 1])]);
  const bytes = Buffer.from(words.buffer);
  const text = bytes.subarray(0, Math.min(length, bytes.length));
  const end = text.indexOf(0);
  return (end === -1 ? text : text.subarray(0, end)).toString('utf8');
}

export function readCommunicators(records: RecordColumns, problems: Problems): Map<number, Communicator> {
  const ends = new Map<number, Ticks>();
  const slots = format.COMMUNICATOR_SLOTS;
  for (const [number, row] of entries(records, Kind.CommunicatorEnd, slots, slots - 1, problems))
    ends.set(number, tickOf(records, row));

  const communicators = new Map<number, Communicator>();
  for (const [number, row] of entries(records, Kind.Communicator, slots, 0, problems)) {
    const sizes = wordAt(records, row, 0, 2);
    const nodes = wordAt(records, row, 1, 0);
    const length = Math.min(Number(wordAt(records, row, 1, 1)), format.MAX_COMM_NAME_BYTES);
    communicators.set(number, {
      number,
      commId: wordAt(records, row, 0, 1),
      name: textOf(records, row, 2, [], length),
      rank: signed32(sizes),
      nRanks: signed32(sizes >> 32n),
      nNodes: signed32(nodes),
      abi: Number((nodes >> 32n) & 0xffn),
      init: knownInit(tickOf(records, row)),
      finalized: ends.get(number) ?? null,
    });
  }
  return communicators;
}

/** No event is older than the start of the file. */
const knownInit = (tick: Ticks): Ticks | null => (tick > 0 ? tick : null);

export function readStrings(records: RecordColumns, problems: Problems): (string | undefined)[] {
  const strings: (string | undefined)[] = [''];
  for (const [entry, row] of entries(records, Kind.String, format.STRING_SLOTS, 0, problems)) {
    const id = entry + 1;
    if (id >= format.STRING_LOST) continue;
    const length = Math.min(Number(wordAt(records, row, 0, 1)), format.MAX_STRING_BYTES);
    while (strings.length < id) strings.push(undefined);
    strings[id] = textOf(records, row, 1, [records.word2Low[row]!, records.word2High[row]!], length);
  }
  return strings;
}

/** `isRing`: whether an area of the directory is a ring; a lease of another area is unusable. */
export function readLeases(
  records: RecordColumns,
  isRing: (area: number) => boolean,
  problems: Problems,
): Lease[] {
  const ends = new Map<number, { tick: Ticks; position: number }>();
  for (const [number, row] of entries(records, Kind.LeaseEnd, format.LEASE_SLOTS, 2, problems))
    ends.set(number, { tick: tickOf(records, row), position: Number(wordAt(records, row, 0, 1)) });

  const leases: Lease[] = [];
  for (const [number, row] of entries(records, Kind.Lease, format.LEASE_SLOTS, 0, problems)) {
    const names = wordAt(records, row, 0, 2);
    const ring = low32(names);
    if (!isRing(ring)) {
      problems.add('leases of areas that are no rings, skipped');
      continue;
    }
    const end = ends.get(number);
    leases.push({
      ring,
      tid: low32(names >> 32n),
      threadName: textOf(records, row, 1, [], 16),
      fromTick: tickOf(records, row),
      fromPosition: Number(wordAt(records, row, 0, 1)),
      endPosition: end?.position ?? null,
      endTick: end?.tick ?? null,
    });
  }
  return leases;
}

/** By number, so the newest is last. */
export function readClockSamples(records: RecordColumns, problems: Problems): ClockSample[] {
  const samples: ClockSample[] = [];
  for (const [, row] of entries(records, Kind.ClockSample, format.CLOCK_SAMPLE_SLOTS, 0, problems)) {
    const at = records.extraStart[row]!;
    samples.push({
      tick: tickOf(records, row),
      realtime: u64(records.word1Low[row]!, records.word1High[row]!),
      monotonic: u64(records.word2Low[row]!, records.word2High[row]!),
      width: Number(u64(records.extra[at]!, records.extra[at + 1]!)),
      boottime: u64(records.extra[at + 2]!, records.extra[at + 3]!),
    });
  }
  return samples;
}

/** By tick; a sample in two areas counts once. */
export function sortedSamples(samples: readonly ClockSample[]): ClockSample[] {
  const sorted = [...samples].sort((a, b) => a.tick - b.tick);
  return sorted.filter((sample, i) => {
    const before = sorted[i - 1];
    return before?.tick !== sample.tick || before.realtime !== sample.realtime;
  });
}

/** In order of their numbers. */
export function readControlChanges(
  records: RecordColumns,
  frame: TickFrame,
  problems: Problems,
): ControlChange[] {
  const changes: ControlChange[] = [];
  const slots = format.CONTROL_CHANGE_SLOTS;
  for (const [number, row] of entries(records, Kind.ControlChange, slots, 0, problems)) {
    const tick = tickOf(records, row);
    const done = tickIn(frame, wordAt(records, row, 0, 1));
    const asked = wordAt(records, row, 0, 2);
    const sampleEvery = low32(asked >> 32n);
    if (done === null || done < tick) problems.add('changes by control that cannot be true, skipped');
    else changes.push({ number, tick, done, events: low32(asked), sampleEvery });
  }
  return changes;
}
