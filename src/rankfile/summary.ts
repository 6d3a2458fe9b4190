/**
 * The facts of one rank file as plain JSON, for `inspect --json` and the text of `inspect`. Times are seconds since the file's start.
 * Integers that may exceed 2^53 are decimal text. Ids and masks are hexadecimal text.
 */

import { hex64 } from '../base/hex.js';
import { tagBits } from './format/handle.js';
import { kindName } from './format/layouts.js';
import { eventTypeNames, stateName } from './format/nccl.js';
import { handleText } from './describe.js';
import type { RankFileStream, StreamedRing } from './rank_file_stream.js';
import type { FileFacts, Gap, LossCause } from './file_types.js';
import { u64 } from './field_values.js';

export type FileSummary = ReturnType<typeof summarize>;
export type RingSummary = ReturnType<typeof summarizeRing>;

/** Reads all records. */
export function summarize(file: RankFileStream) {
  const { header } = file;
  const kinds = new Map<number, number>();
  const rings = file.rings.map((ring) => ({ ring, ...readRing(ring, kinds) }));
  const folds = file.folds();
  const seconds = (tick: number): number => tick / header.tickHz;
  const newestRecord = maxOf(rings.map(({ newestTick }) => newestTick));
  const newestSample = maxOf(file.clockSamples.map(({ tick }) => tick));
  const newestFold = maxOf(folds.map(({ lastTick }) => lastTick));
  const secondsOrNull = (tick: number | null): number | null => (tick === null ? null : seconds(tick));
  return {
    version: 1,
    path: file.path,
    bytes: file.bytes,
    format: { writerVersion: header.writerVersion, readerVersion: header.readerVersion },
    process: summarizeProcess(file),
    recorder: summarizeRecorder(file),
    clock: {
      source: header.tickSource,
      tickHz: header.tickHz,
      tickBase: String(header.tickBase),
      startRealtime: String(header.startRealtime),
      startMonotonic: String(header.startMonotonic),
      samples: file.clockSamples.length,
    },
    life: header.life,
    /** When the file last changed, by its own clock: for each kind of sign, the newest one. */
    newest: {
      any: secondsOrNull(maxOf([newestRecord, newestSample, newestFold])),
      record: secondsOrNull(newestRecord),
      repeat: secondsOrNull(newestFold),
      heartbeat: secondsOrNull(file.heartbeat?.tick ?? null),
    },
    communicators: [...file.communicators.values()].map((communicator) => ({
      number: communicator.number,
      name: communicator.name,
      commId: hex64(communicator.commId),
      rank: communicator.rank,
      nRanks: communicator.nRanks,
      nNodes: communicator.nNodes,
      abi: communicator.abi,
      init: secondsOrNull(communicator.init) ?? 0,
      finalize: secondsOrNull(communicator.finalized),
    })),
    leases: file.leases.map((lease) => ({
      ring: lease.ring,
      tid: lease.tid,
      threadName: lease.threadName,
      from: seconds(lease.fromTick),
      fromPosition: lease.fromPosition,
      end: secondsOrNull(lease.endTick),
      endPosition: lease.endPosition,
    })),
    chunks: file.chunks,
    rings: rings.map(({ ring, ...read }) => summarizeRing(ring, read, header.tickHz)),
    kinds: [...kinds]
      .sort(([a], [b]) => a - b)
      .map(([kind, count]) => ({ kind, name: kindName(kind), count })),
    openFolds: folds.map((fold) => ({
      ring: fold.ring,
      handle: handleText(u64(fold.handleLow, fold.handleHigh), tagBits(header.tag)),
      state: fold.state === 'start' ? 'start' : stateName(fold.state),
      repeats: fold.count,
      last: seconds(fold.lastTick),
    })),
    lost: {
      communicators: header.communicatorsLost,
      strings: header.stringsLost,
      leases: header.leasesLost,
      threadsOverflowed: header.threadsOverflowed,
      ioErrors: header.ioErrors,
    },
    problems: file.problems(),
  };
}

function summarizeProcess({ header }: FileFacts) {
  return {
    rank: header.rank,
    worldSize: header.worldSize,
    localRank: header.localRank,
    runId: header.runId,
    hostName: header.hostName,
    gpu: header.gpu,
    program: header.program,
    ncclHostId: header.ncclHostId,
    pid: header.process.pid,
    pidNamespace: String(header.process.pidNamespace),
    startTime: String(header.process.startTime),
    bootId: header.process.bootId,
    tag: hex64(header.tag),
  };
}

function summarizeRecorder({ header }: FileFacts) {
  return {
    version: header.recorderVersion,
    nccl: header.ncclVersion,
    mode: header.mode,
    options: header.options,
    events: eventTypeNames(header.eventMask),
    eventsNow: eventTypeNames(header.maskNow),
    sampleEvery: header.sampleEvery,
    sampleNow: header.sampleNow,
    hasChanged: header.hasChanged,
    controlRefused: header.controlRefused,
    ringBytes: header.ringBytes,
    maxBytes: header.maxBytes,
    placement: header.placement,
    ringPath: header.ringPath,
    copyIntervalMs: header.copyIntervalMs,
    copied: header.copiedTick === null ? null : header.copiedTick / header.tickHz,
  };
}

interface RecordsRead {
  records: number;
  window: { fromPosition: number; from: number; lastPosition: number; last: number } | null;
  newestTick: number | null;
}

/** `window`: in ticks. Adds to `kinds`. */
function readRing(ring: StreamedRing, kinds: Map<number, number>): RecordsRead {
  const read: RecordsRead = { records: 0, window: null, newestTick: null };
  for (let records = ring.next(); records !== null; records = ring.next()) {
    const { length } = records;
    const last = length - 1;
    read.records += length;
    read.window ??= { fromPosition: records.position[0]!, from: records.tick[0]!, lastPosition: 0, last: 0 };
    read.window.lastPosition = records.position[last]!;
    read.window.last = records.tick[last]!;
    read.newestTick = maxOf([read.newestTick, maxOf(records.tick.subarray(0, length))]);
    for (const kind of records.kind.subarray(0, length)) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  return read;
}

function summarizeRing(ring: StreamedRing, { records, window }: RecordsRead, tickHz: number) {
  return {
    ring: ring.ring,
    class: ring.class,
    capacity: ring.capacity,
    head: ring.head,
    records,
    window: window && { ...window, from: window.from / tickHz, last: window.last / tickHz },
    chunks: ring.chunks,
    /** In slots. */
    lost: {
      overwritten: slotsLost(ring.gaps, 'overwritten'),
      dropped: slotsLost(ring.gaps, 'dropped'),
      torn: slotsLost(ring.gaps, 'torn'),
      copy: slotsLost(ring.gaps, 'copy'),
    },
    tornSlots: ring.tornSlots,
    folded: ring.folded,
    muted: ring.muted,
    nullCalls: ring.nullCalls,
    ordinalsLost: ring.ordinalsLost,
  };
}

const slotsLost = (gaps: readonly Gap[], cause: LossCause): number =>
  gaps.filter((gap) => gap.cause === cause).reduce((sum, gap) => sum + gap.end - gap.from, 0);

/** null for an empty list; nulls are left out. A loop, because a column may be longer than an argument list. */
function maxOf(values: Iterable<number | null>): number | null {
  let max: number | null = null;
  for (const value of values) if (value !== null && (max === null || value > max)) max = value;
  return max;
}
