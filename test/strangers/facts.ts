/** One shape for what two readers say about a rank file, so that they can be compared: theirs in JSON, ours in types. */

import { Kind } from '../../src/rankfile/format/constants.js';
import { LAYOUTS } from '../../src/rankfile/format/layouts.js';
import type {
  ChunkFacts,
  Communicator,
  LossCause,
  RankFile,
  RankFileHeader,
  Ring,
} from '../../src/rankfile/file_types.js';

type Scalar = string | number | null;
type Facts = Readonly<Record<string, Scalar>>;
type Missing = Readonly<Record<LossCause, number>>;

export interface RankFileFacts {
  readonly header: Facts;
  readonly heartbeat: Facts | null;
  readonly communicators: readonly Facts[];
  /** "7 AllReduce". */
  readonly strings: readonly string[];
  readonly leases: readonly Facts[];
  /** "ring:position kind tick words". */
  readonly records: readonly string[];
  readonly rings: readonly RingFacts[];
  readonly badAreas: number;
  readonly unknownAreas: number;
  /** Values of the header read as another. */
  readonly replaced: number;
  readonly leasesOfNoRing: number;
  /** "tick peer-received peer-sent received boot-id source". */
  /** "number tick done events sample-every". */
  readonly changes: readonly string[];
  readonly impossibleChanges: number;
  /** Entries of tables with a field outside its range. */
  readonly impossibleEntries: number;
  readonly chunks: ChunkFacts & { readonly ofNoRing: number };
  /** Slots that two chunks have, payloads that cannot be used, slots missing in the others. */
  readonly badChunks: readonly [inTwo: number, unusable: number, missing: number];
}

interface RingFacts {
  readonly ring: number;
  readonly class: string;
  readonly capacity: number;
  readonly head: number;
  readonly records: number;
  readonly tornSlots: number;
  readonly unknownKinds: number;
  readonly missing: Missing;
  /** Count, and the positions [from, end) between which they lie; or nothing. */
  readonly chunks: readonly (readonly number[])[];
}

// -- theirs -------------------------------------------------------------------------------------------------------

interface HeaderLine {
  readonly header: Record<string, Scalar | object> & {
    readonly heartbeat: Facts | null;
    readonly communicators: readonly Facts[];
    readonly strings: readonly { readonly id: number; readonly text: string }[];
    readonly leases: readonly Facts[];
    readonly bad_areas: number;
    readonly unknown_areas: number;
    readonly replaced: number;
    readonly leases_of_no_ring: number;
    readonly changes: readonly (readonly Scalar[])[];
    readonly impossible_changes: number;
    readonly impossible_entries: number;
    readonly chunks: RankFileFacts['chunks'];
  };
}

interface RecordLine {
  readonly ring: number;
  readonly position: number;
  readonly kind: number;
  readonly tick: string;
  readonly words: readonly string[];
}

interface RingsLine {
  readonly rings: readonly {
    readonly ring: number;
    readonly class: string;
    readonly capacity: number;
    readonly head: number;
    readonly records: number;
    readonly torn_slots: number;
    readonly unknown_kinds: number;
    readonly missing: Missing;
    readonly chunks: readonly (readonly number[])[];
    readonly in_two_chunks: number;
    readonly unusable_chunks: number;
    readonly missing_in_chunks: number;
  }[];
}

interface UnusableLine {
  readonly unusable: string;
}

/** A line of rank_file.py's output. */
export type StrangersLine = HeaderLine | RecordLine | RingsLine | UnusableLine;

/** What rank_file.py printed about some files, in their order. */
export function strangersFacts(lines: readonly StrangersLine[]): (RankFileFacts | 'refused')[] {
  const files: (RankFileFacts | 'refused')[] = [];
  let header: HeaderLine | undefined;
  let records: RecordLine[] = [];
  for (const line of lines)
    if ('unusable' in line) files.push('refused');
    else if ('header' in line) [header, records] = [line, []];
    else if (!('rings' in line)) records.push(line);
    else if (header === undefined) throw new Error('rank_file.py printed rings without a header');
    else files.push(strangersFile(header, records, line));
  return files;
}

function strangersFile(first: HeaderLine, records: readonly RecordLine[], last: RingsLine): RankFileFacts {
  const { heartbeat, communicators, strings, leases, changes, chunks, ...header } = first.header;
  const sum = (field: 'in_two_chunks' | 'unusable_chunks' | 'missing_in_chunks'): number =>
    last.rings.reduce((total, ring) => total + ring[field], 0);
  const facts = without(header as Facts, NOT_COMPARED);
  return {
    // Counters that our reader does not know have no number in it.
    header: { ...facts, tick_source: KNOWN_COUNTERS.find((counter) => counter === facts.tick_source) ?? 0 },
    heartbeat,
    communicators: communicators.map((communicator) => without(communicator, ['name_length'])),
    strings: strings.map(({ id, text }) => `${id} ${text}`).filter((line) => !line.endsWith(' ')),
    leases: leases.map((lease) => without(lease, ['number'])),
    records: records.map(recordLine),
    rings: last.rings.map(strangersRing),
    badAreas: header.bad_areas,
    unknownAreas: header.unknown_areas,
    replaced: header.replaced,
    leasesOfNoRing: header.leases_of_no_ring,
    changes: changes.map((change) => change.join(' ')),
    impossibleChanges: header.impossible_changes,
    impossibleEntries: header.impossible_entries,
    chunks,
    badChunks: [sum('in_two_chunks'), sum('unusable_chunks'), sum('missing_in_chunks')],
  };
}

const KNOWN_COUNTERS = [1, 2, 3];

/** What our reader does not return, or returns elsewhere in RankFileFacts. */
const NOT_COMPARED = [
  'area_count',
  'chunks_begin',
  'chunks_end',
  'misplaced',
  'bad_areas',
  'unknown_areas',
  'replaced',
  'leases_of_no_ring',
  'impossible_changes',
  'impossible_entries',
];

const strangersRing = (ring: RingsLine['rings'][number]): RingFacts => ({
  ring: ring.ring,
  class: ring.class,
  capacity: ring.capacity,
  head: ring.head,
  records: ring.records,
  tornSlots: ring.torn_slots,
  unknownKinds: ring.unknown_kinds,
  missing: ring.missing,
  chunks: ring.chunks,
});

const without = (facts: Facts, names: readonly string[]): Facts =>
  Object.fromEntries(Object.entries(facts).filter(([name]) => !names.includes(name)));

const recordLine = ({ ring, position, kind, tick, words }: RecordLine): string =>
  `${ring}:${position} ${kind} ${tick} ${words.join(' ')}`;

// -- ours ---------------------------------------------------------------------------------------------------------

export function factsOf(file: RankFile): RankFileFacts {
  const tick = (relative: number): string => `${file.header.tickBase + BigInt(relative)}`;
  const { heartbeat } = file;
  return {
    header: headerOf(file.header),
    heartbeat: heartbeat && {
      tick: tick(heartbeat.tick),
      realtime: `${heartbeat.realtime}`,
      monotonic: `${heartbeat.monotonic}`,
      width: `${heartbeat.width}`,
      boottime: `${heartbeat.boottime}`,
    },
    communicators: [...file.communicators.values()].map((communicator) => communicatorOf(communicator, tick)),
    strings: file.strings.map((text, id) => `${id} ${text ?? ''}`).filter((line) => !line.endsWith(' ')),
    leases: file.leases.map((lease) => ({
      tick: tick(lease.fromTick),
      position: `${lease.fromPosition}`,
      area: lease.ring,
      tid: lease.tid,
      name: lease.threadName,
      end_tick: lease.endTick === null ? null : tick(lease.endTick),
      end_position: lease.endPosition === null ? null : `${lease.endPosition}`,
    })),
    records: file.rings.flatMap((ring) => recordsOf(ring, tick).map(recordLine)),
    rings: file.rings.map((ring) => ringOf(ring)),
    badAreas: problems(file, /^directory entries/),
    unknownAreas: problems(file, /^areas of unknown class/),
    replaced: problems(file, /^header: /),
    leasesOfNoRing: problems(file, /^leases of areas that are no rings/),
    changes: file.changes.map(({ number, tick: from, done, events, sampleEvery }) =>
      [number, tick(from), tick(done), events, sampleEvery].join(' '),
    ),
    impossibleChanges: problems(file, /^changes by control that cannot be true/),
    impossibleEntries: problems(file, /^entries of tables with an impossible/),
    chunks: { ...file.chunks, ofNoRing: problems(file, /^chunks of areas that are no rings/) },
    badChunks: [
      problems(file, /^slots that are in two chunks/),
      problems(file, /^chunks .*, left out$/),
      problems(file, /^slots of chunks that do not check out/),
    ],
  };
}

function headerOf(header: RankFileHeader): Facts {
  const copied = header.copiedTick === null ? 0n : header.tickBase + BigInt(header.copiedTick);
  return {
    reader_version: header.readerVersion,
    writer_version: header.writerVersion,
    tag: `${header.tag}`,
    boot_id: header.process.bootId,
    pid_namespace: `${header.process.pidNamespace}`,
    process_start: `${header.process.startTime}`,
    pid: header.process.pid,
    tick_source: 1 + ['tsc', 'cntvct', 'monotonic'].indexOf(header.tickSource),
    tick_hz: `${header.tickHz}`,
    start_tick: `${header.tickBase}`,
    start_realtime: `${header.startRealtime}`,
    start_monotonic: `${header.startMonotonic}`,
    rank: header.rank ?? -1,
    world_size: header.worldSize ?? -1,
    local_rank: header.localRank ?? -1,
    mode: ['flight', 'stream'].indexOf(header.mode),
    event_mask: `${header.eventMask}`,
    sample_every: `${header.sampleEvery}`,
    ring_bytes: `${header.ringBytes}`,
    max_bytes: `${header.maxBytes}`,
    placement: 1 + ['in-file', 'in-ring-file', 'in-memory'].indexOf(header.placement),
    copy_interval_ms: header.copyIntervalMs,
    nccl_version: (header.ncclVersion ?? '0').split('.').reduce((code, part) => 100 * code + Number(part), 0),
    host_name: header.hostName,
    run_id: header.runId,
    nccl_hostid: header.ncclHostId,
    program: header.program,
    gpu: header.gpu,
    recorder_version: header.recorderVersion,
    ring_path: header.ringPath,
    options: header.options,
    life: header.life === 'closed' ? 'Closed' : 'Recording',
    mask_now: `${header.maskNow}`,
    copied_tick: `${copied}`,
    communicators_lost: `${header.communicatorsLost}`,
    strings_lost: `${header.stringsLost}`,
    leases_lost: `${header.leasesLost}`,
    threads_overflowed: `${header.threadsOverflowed}`,
    io_errors: `${header.ioErrors}`,
  };
}

const communicatorOf = (communicator: Communicator, tick: (relative: number) => string): Facts => ({
  number: communicator.number,
  tick: tick(communicator.init ?? 0),
  comm_id: `${communicator.commId}`,
  rank: communicator.rank,
  n_ranks: communicator.nRanks,
  n_nodes: communicator.nNodes,
  abi: communicator.abi,
  name: communicator.name,
  end_tick: communicator.finalized === null ? null : tick(communicator.finalized),
});

const TABLE_KINDS = new Set<number>([Kind.ControlChange]);
/** Kinds that mean something in a ring: tables begin their own below those of starts. */
const isKnown = (kind: number): boolean => kind >= 0x10 && !TABLE_KINDS.has(kind) && LAYOUTS.has(kind);

function recordsOf({ ring, records }: Ring, tick: (relative: number) => string): RecordLine[] {
  const rows = Array.from({ length: records.length }, (_, row) => row);
  return rows
    .filter((row) => isKnown(records.kind[row]!))
    .map((row) => {
      const halves = [
        ...[records.word1Low[row]!, records.word1High[row]!, records.word2Low[row]!, records.word2High[row]!],
        ...records.extra.subarray(records.extraStart[row], records.extraStart[row + 1]),
      ];
      const firstWord = tick(records.tick[row]!);
      return {
        ring,
        position: records.position[row]!,
        kind: records.kind[row]!,
        tick: firstWord,
        words: [BigInt(firstWord), ...wordsOf(halves)].map((word) => `0x${word.toString(16)}`),
      };
    });
}

const wordsOf = (halves: readonly number[]): bigint[] =>
  Array.from(
    { length: halves.length / 2 },
    (_, i) => BigInt(halves[2 * i]!) | (BigInt(halves[2 * i + 1]!) << 32n),
  );

function ringOf(ring: Ring): RingFacts {
  const missing = { overwritten: 0, dropped: 0, torn: 0, copy: 0 };
  for (const { cause, from, end } of ring.gaps) missing[cause as LossCause] += end - from;
  const known = ring.records.kind.filter(isKnown).length;
  return {
    ring: ring.ring,
    class: `Ring${ring.class.slice(0, 1).toUpperCase()}${ring.class.slice(1)}`,
    capacity: ring.capacity,
    head: ring.head,
    records: known,
    tornSlots: ring.tornSlots,
    unknownKinds: ring.records.length - known,
    missing,
    chunks: ring.chunks === null ? [] : [[ring.chunks.count, ring.chunks.from, ring.chunks.end]],
  };
}

const problems = (file: RankFile, what: RegExp): number =>
  file.problems.filter((problem) => what.test(problem.what)).reduce((sum, { count }) => sum + count, 0);
