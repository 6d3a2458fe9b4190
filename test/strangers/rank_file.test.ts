/**
 * rank_file.py was written from schemas/rank-file.md alone, in another language, by someone who did not know the code.
 * What it reads from a file must be what our own reader reads: header, tables, records, losses.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { RankFileError } from '../../src/base/errors.js';
import {
  AreaClass,
  CHUNK_HEADER,
  CHUNK_HEADER_BYTES,
  CHUNK_MAGIC,
  FILE_HEADER,
  Kind,
} from '../../src/format/constants.js';
import { crc32 } from '../../src/format/crc32.js';
import { openRankFile } from '../../src/reader/index.js';
import { resealed } from '../reader/read.js';
import { RankFileBuilder, type ChunkCodec, type RingBuilder } from '../support/rank_file_builder.js';
import { SlotArea } from '../support/slot_area.js';
import { factsOf, type RankFileFacts, type StrangersLine, strangersFacts } from './facts.js';

const script = fileURLToPath(new URL('rank_file.py', import.meta.url));
const hasZstd = spawnSync('zstd', ['--version']).status === 0;
const samples = fileURLToPath(new URL('../../samples', import.meta.url));

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'strangers-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

type Reading = RankFileFacts | 'refused';

function readByStranger(files: readonly string[]): Reading[] {
  if (files.length === 0) return [];
  const run = spawnSync('python3', [script, ...files], { encoding: 'utf8', maxBuffer: 2 ** 29 });
  if (run.error !== undefined) throw new Error('this test needs python3 on the PATH', { cause: run.error });
  if (run.status !== 0) throw new Error(`rank_file.py failed: ${run.stderr}`);
  const lines = run.stdout.trimEnd().split('\n');
  return strangersFacts(lines.map((line) => JSON.parse(line) as StrangersLine));
}

function readByUs(file: string): Reading {
  try {
    return factsOf(openRankFile(file));
  } catch (error) {
    if (error instanceof RankFileError) return 'refused';
    throw error;
  }
}

/** Both readings of each file agree; returns what they agree on. */
function agreed(...files: Uint8Array[]): Reading[] {
  const paths = files.map((bytes, i) => {
    const file = path.join(folder, `rank${i}.bin`);
    writeFileSync(file, bytes);
    return file;
  });
  const ours = paths.map(readByUs);
  expect(readByStranger(paths)).toEqual(ours);
  return ours;
}

function agreedFacts(...files: Uint8Array[]): RankFileFacts[] {
  return agreed(...files).map((reading) => {
    if (reading === 'refused') throw new Error('refused');
    return reading;
  });
}

/** Records of one, two and four slots. */
function fill(ring: RingBuilder, from: number, rounds: number): void {
  for (let i = from; i < from + rounds; i++) {
    const coll = ring.startColl(100 + 10 * i, { seqNumber: i });
    const kernel = ring.startKernelCh(101 + 10 * i, {
      parent: coll,
      channel: i % 4,
      pTimer: BigInt(7000 + i),
    });
    ring.state(102 + 10 * i, kernel, 22, i).stop(103 + 10 * i, coll);
  }
}

function smallFile(): RankFileBuilder {
  const file = new RankFileBuilder({
    rank: 3,
    worldSize: 8,
    hostName: 'node-ä',
    gpu: 'GPU-1',
    options: 'NCCL_TRACE_MODE=flight',
    life: 'closed',
    placement: 'in-memory',
    copiedTick: 900,
    lost: { communicators: 1, strings: 2, leases: 3, threads: 4, ioErrors: 5 },
  });
  const comm = file.communicator({
    name: 'größe',
    commId: 2n ** 64n - 2n,
    nRanks: 8,
    nNodes: 2,
    initTick: 5,
  });
  file.communicator({ name: `${'x'.repeat(119)}öö`, finalizeTick: 800 });
  file.communicator({ number: 7, rank: -1, abi: 7 });
  const host = file.ring('host', 64, { tid: 41, threadName: 'python3' });
  const ops = file.ring('ops', 32);
  file.lease({ ring: 1, tid: 42, fromPosition: 1, endPosition: 9, endTick: 600, fromTick: 20 });
  fill(host, 0, 3);
  const api = host.startCollApi(200, { comm, userTag: 2n ** 63n });
  host.startGroupApi(201, { parent: api, groupDepth: 3, graphCaptured: true });
  host.startP2p(202, { comm, peer: 5, parentGroup: api });
  const op = ops.startProxyOp(300, { foreignContext: 0x7f00n, isSend: true, channel: 3 });
  ops
    .state(301, op, 20)
    .state(302, op, 9, 2n ** 50n)
    .fold(310, op, 20, 305, 1000)
    .stop(311, op);
  file.string('y'.repeat(90));
  for (const tick of [400, 500, 600]) file.heartbeat(tick).clockSample(tick + 1);
  return file;
}

/** A copy from front to back during which the ring went on: what lies before `at` is older than what lies behind. */
function liveCopy(older: Uint8Array, newer: Uint8Array, at: number): Uint8Array {
  const copy = newer.slice();
  copy.set(older.subarray(0, at));
  return copy;
}

/** The file with an empty chunk behind it, behind a hole if you like. */
function withChunk(file: Uint8Array, hole = 0): Uint8Array {
  const header = new Uint8Array(CHUNK_HEADER_BYTES);
  const view = new DataView(header.buffer);
  view.setUint32(CHUNK_HEADER.magic, CHUNK_MAGIC, true);
  view.setUint32(CHUNK_HEADER.headerCrc, crc32(header), true);
  return Buffer.concat([file, new Uint8Array(hole), header]);
}

/** Makes the checks of the chunk whose header stands at `at` good again, as far as its sizes allow. */
function sealChunk(file: Uint8Array, at: number): void {
  const view = new DataView(file.buffer, at);
  const payload = file
    .subarray(at + CHUNK_HEADER_BYTES)
    .subarray(0, view.getUint32(CHUNK_HEADER.storedBytes, true));
  view.setUint32(CHUNK_HEADER.payloadCrc, crc32(payload), true);
  view.setUint32(CHUNK_HEADER.headerCrc, 0, true);
  view.setUint32(CHUNK_HEADER.headerCrc, crc32(file.subarray(at, at + CHUNK_HEADER_BYTES)), true);
}

/** Says of a chunk that its slots stand elsewhere. */
function shiftChunk(file: Uint8Array, at: number, by: number): void {
  const view = new DataView(file.buffer, at);
  for (const field of [CHUNK_HEADER.firstPosition, CHUNK_HEADER.endPosition])
    view.setBigUint64(field, BigInt.asUintN(64, view.getBigUint64(field, true) + BigInt(by)), true);
  sealChunk(file, at);
}

/** A ring of 64 slots that the recorder drains after each so many records. */
function streamed(pauses: readonly number[], codec: ChunkCodec = 'raw', capacity = 64): RankFileBuilder {
  const file = new RankFileBuilder({ mode: 'stream' });
  const [steps, host] = [file.ring('steps', capacity), file.ring('host', capacity)];
  let tick = 100;
  for (const pause of pauses) {
    for (let i = 0; i < pause; i++, tick += 10) {
      if (i % 3 === 0) steps.stop(tick, 1n);
      else steps.startKernelCh(tick, { channel: i % 8 });
      if (i % 40 === 0) host.startColl(tick, { seqNumber: i });
      if (capacity - (steps.head - steps.drainedTo) < 10 && pause <= capacity) steps.drain({ codec });
    }
    steps.drain({ from: Math.max(steps.drainedTo, steps.head - capacity), codec });
    if (pause % 2 === 0 && host.head > host.drainedTo) host.drain({ codec });
  }
  for (let i = 0; i < 5; i++) steps.stop(tick + i, 1n);
  return file;
}

/** The example of schemas/rank-file.md. */
function workedExample(): Uint8Array {
  const file = new RankFileBuilder({ mode: 'stream' });
  const ring = file.ring('steps', 8);
  const upToPosition = (head: number): void => {
    while (ring.head < head) ring.stop(100 + ring.head, 1n);
  };
  for (const [from, to] of [
    [0, 2],
    [2, 6],
    [6, 10],
    [10, 15],
    [15, 20],
    [24, 30],
  ] as const) {
    upToPosition(to);
    if (from === 24) ring.tear(27);
    ring.drain({ from, to });
  }
  upToPosition(40);
  const bytes = file.dropChunks(3).build();
  bytes[file.chunkOffsets()[4]! + 64]! ^= 1;
  return bytes;
}

/** The file with 64-bit numbers changed, and the header's check made good. */
const withNumbers = (file: Uint8Array, ...numbers: (readonly [at: number, value: bigint])[]): Uint8Array =>
  resealed(file, (view) => {
    for (const [at, value] of numbers) view.setBigUint64(at, value, true);
  });

const withU32 = (file: Uint8Array, at: number, value: number): Uint8Array =>
  resealed(file, (view) => {
    view.setUint32(at, value, true);
  });

const liveOffset = (bytes: Uint8Array, area: number): number =>
  Number(new DataView(bytes.buffer).getBigUint64(4096 + area * 64 + 8, true));
const slotsOffset = (bytes: Uint8Array, area: number): number =>
  Number(new DataView(bytes.buffer).getBigUint64(4096 + area * 64 + 24, true));

const upTo = (end: number): number[] => Array.from({ length: end }, (_, i) => i);

describe("a stranger's reader agrees with ours on", () => {
  it('a small file', () => {
    const [facts] = agreedFacts(smallFile().build());
    expect(facts?.records).toHaveLength(12 + 3 + 5);
    expect(facts?.communicators).toHaveLength(3);
    expect(facts?.leases).toHaveLength(2);
    expect(facts?.heartbeat).not.toBeNull();
  });

  it('an empty file', () => {
    expect(agreedFacts(new RankFileBuilder().build())[0]?.rings).toEqual([]);
  });

  it('a ring before, at and after its first lap', () => {
    const files = upTo(80).map((slots) => {
      const file = new RankFileBuilder();
      const ring = file.ring('steps', 32);
      while (ring.head < slots)
        if (ring.head % 3 === 0) ring.stop(ring.head, 1n);
        else ring.startKernelCh(ring.head);
      return file.build();
    });
    agreed(...files);
  });

  it('a wrapped ring', () => {
    const file = new RankFileBuilder();
    fill(file.ring('steps', 64, { startAt: 2 ** 33 - 40 }), 0, 50);
    fill(file.ring('overflow', 16), 0, 7);
    const [facts] = agreedFacts(file.build());
    expect(facts?.rings.map(({ missing }) => missing.overwritten > 0)).toEqual([true, true]);
  });

  it('torn slots, wherever they are', () => {
    const files = upTo(48).map((torn) => {
      const file = new RankFileBuilder();
      const young = file.ring('host', 64);
      const wrapped = file.ring('steps', 64);
      fill(young, 0, 6);
      fill(wrapped, 0, 20);
      young.tear(torn);
      wrapped.tear(wrapped.head - 1 - torn);
      return file.build();
    });
    for (const { rings } of agreedFacts(...files))
      expect(rings.map(({ tornSlots }) => tornSlots)).toEqual([1, 1]);
  });

  it('a head that is behind, and one that is ahead', () => {
    const behind = [1, 30, 63, 64, 5000, 2 ** 23 - 1, 2 ** 23, 2 ** 23 + 70];
    const files = [...behind, -1, -20, -64, -500].map((stale) => {
      const file = new RankFileBuilder();
      fill(file.ring('steps', 64, { startAt: 2 ** 24 - 20 }).staleHead(stale), 0, 10);
      fill(file.ring('host', 64).staleHead(stale), 0, 4);
      return file.build();
    });
    agreed(...files);
  });

  it('a live copy: half of the old lap, half of the new', () => {
    const file = new RankFileBuilder();
    const steps = file.ring('steps', 64);
    fill(steps, 0, 11);
    const older = file.build();
    fill(steps, 11, 5);
    const newer = file.build();
    const copies = upTo(65).flatMap((index) => {
      const at = slotsOffset(older, 0) + index * 32;
      return [liveCopy(older, newer, at), liveCopy(newer, older, at)];
    });
    const gaps = agreedFacts(...copies).map(({ rings }) => rings[0]?.missing.copy ?? 0);
    expect(Math.max(...gaps)).toBeGreaterThan(20);
  });

  it('kinds and areas of a later version, records too short and too long', () => {
    const file = new RankFileBuilder({ writerVersion: 9 });
    file.area(77, new SlotArea(8, 'wraps')).area(0, new SlotArea(8, 'wraps'));
    const ring = file.ring('host', 64);
    ring.record(0x99, 10, 1n, 2n);
    ring.record(0x41, 11, 1n, 2n, 3n, 4n, 5n);
    ring.record(Kind.Lease, 12, 1n, 2n, 3n, 4n, 5n);
    ring.record(Kind.StartColl, 13, 1n, 2n, 3n, 4n, 5n);
    ring.record(Kind.Stop, 14, 1n, 2n, 3n, 4n, 5n);
    const [facts] = agreedFacts(file.build());
    expect(facts).toMatchObject({ unknownAreas: 2, records: [expect.stringMatching(/^0:7 /)] });
    expect(facts?.rings[0]).toMatchObject({ unknownKinds: 3, missing: { torn: 2 } });
  });

  it('where chunks are', () => {
    const whole = smallFile().build();
    const end = BigInt(whole.length);
    const found = (...files: Uint8Array[]): number[] =>
      agreedFacts(...files).map(({ chunks }) => chunks.count);
    expect(found(whole, withChunk(whole), withChunk(whole, 8192), withChunk(whole, 100))).toEqual([
      0, 1, 1, 0,
    ]);
    const chunk = withChunk(whole, 4096);
    const begins = [0n, 1n, 4096n, end + 4096n, end + 64n, end + 2n ** 40n];
    expect(found(...begins.map((at) => withNumbers(chunk, [FILE_HEADER.chunksBegin, at])))).toEqual(
      begins.map(() => 1),
    );
    const none = withNumbers(chunk, [FILE_HEADER.chunksOffset, 0n], [FILE_HEADER.chunksBegin, end + 4096n]);
    expect(found(none)).toEqual([0]);
  });

  it('the worked example of chunks', () => {
    const [facts] = agreedFacts(workedExample());
    expect(facts?.records).toHaveLength(5 + 5 + 8);
    expect(facts?.rings[0]?.missing).toEqual({ overwritten: 4 + 2, dropped: 10, torn: 5 + 1, copy: 0 });
  });

  it('a drained ring, wherever the borders of its chunks lie', () => {
    const histories = fc.sample(fc.array(fc.nat(40), { minLength: 3, maxLength: 30 }), {
      seed: 31,
      numRuns: 30,
    });
    const files = histories.map((pauses) => streamed(pauses).build());
    for (const { rings } of agreedFacts(...files))
      for (const { missing } of rings)
        expect(missing).toEqual({ overwritten: 0, dropped: 0, torn: 0, copy: 0 });
  });

  it('a newer lap of chunks before the older one', () => {
    const history = upTo(12).map((i) => (i % 5 === 0 ? 90 : 11));
    const kept = upTo(12).flatMap((keep) => upTo(keep).map((newest) => ({ keep, newest })));
    const wrapped = kept.map(({ keep, newest }) =>
      streamed(history).dropChunks(keep).wrapChunks(newest).build(),
    );
    const straight = kept.map(({ keep }) => streamed(history).dropChunks(keep).build());
    const held = ({ records, rings, chunks }: RankFileFacts) => ({ records, rings, chunks });
    expect(agreedFacts(...wrapped).map(held)).toEqual(agreedFacts(...straight).map(held));
  });

  it('a recorder that came too late, and the disk limit', () => {
    const files = upTo(12).map((keep) => {
      const file = streamed(upTo(12).map((i) => (i % 5 === 0 ? 90 : 11)));
      return file.dropChunks(keep).build();
    });
    const missing = agreedFacts(...files).map(({ rings }) => rings[0]!.missing);
    expect(missing.filter(({ overwritten }) => overwritten > 0).length).toBeGreaterThan(5);
    expect(missing.filter(({ dropped }) => dropped > 0).length).toBeGreaterThan(5);
    expect(missing.every(({ torn, copy }) => torn + copy === 0)).toBe(true);
  });

  it('damaged chunks', () => {
    const whole = streamed([30, 25, 40, 3, 60, 31, 20, 9], 'raw');
    const bytes = whole.build();
    const at = whole.chunkOffsets();
    const { area, codec, firstPosition, endPosition, sequence, rawBytes, storedBytes } = CHUNK_HEADER;
    const fields = [area, codec, firstPosition, endPosition, sequence, rawBytes, storedBytes];
    const chunk = fc.nat(at.length - 1);
    const byte = fc.record({ chunk, offset: fc.nat(2000), to: fc.nat(255), sealed: fc.boolean() });
    const number = fc.record({
      chunk,
      offset: fc.constantFrom(...fields),
      to: fc.nat(9),
      sealed: fc.constant(true),
    });
    const shift = fc.record({ chunk, by: fc.integer({ min: -40, max: 40 }) });
    const damages = fc.sample(fc.array(fc.oneof(byte, number, shift), { minLength: 1, maxLength: 4 }), {
      seed: 32,
      numRuns: process.env.NCCL_TRACE_LONG === '1' ? 1000 : 60,
    });
    const files = damages.map((changes) => {
      const damaged = bytes.slice();
      for (const change of changes) {
        const header = at[change.chunk]!;
        if ('by' in change) shiftChunk(damaged, header, change.by);
        else if (header + change.offset < damaged.length) {
          damaged[header + change.offset] = change.to;
          if (change.sealed) sealChunk(damaged, header);
        }
      }
      return damaged;
    });
    const facts = agreedFacts(...files);
    expect(facts.some(({ badChunks }) => badChunks[0] > 0)).toBe(true);
    expect(facts.some(({ badChunks }) => badChunks[1] > 0)).toBe(true);
    expect(facts.some(({ badChunks }) => badChunks[2] > 0)).toBe(true);
    expect(facts.some(({ chunks }) => chunks.ofNoRing > 0)).toBe(true);
    expect(facts.some(({ chunks }) => chunks.missing > 0)).toBe(true);
  });

  it('chunks before an older, a newer and a damaged ring', () => {
    const file = streamed([20, 30, 25, 40]);
    const newer = file.build();
    const older = streamed([20, 30]).build();
    const from = slotsOffset(newer, 0);
    const ringBytes = 64 * 32;
    const rings = [older.subarray(from, from + ringBytes), new Uint8Array(ringBytes)];
    const torn = newer.slice(from, from + ringBytes);
    for (let i = 5; i < torn.length; i += 77) torn[i]! ^= 1;
    const files = [...rings, torn].map((ring) => {
      const bytes = newer.slice();
      bytes.set(ring, from);
      return bytes;
    });
    agreed(...files);
  });

  it.skipIf(!hasZstd).each(['zstd', 'zstdBare', 'zstdPlanes'] as const)(
    'compressed chunks (%s), whole and damaged',
    (codec) => {
      const file = streamed([200, 150, 3, 250], codec, 256);
      const bytes = file.build();
      const [first = 0] = file.chunkOffsets();
      const frame = first + 64;
      const changes: [at: number, to: number][] = [
        [frame, 0],
        [frame + 4, 0x21],
        [frame + 4, 0xe0],
        [frame + 5, 0xff],
        [frame + 6, 7],
        [frame + 7, 0xff],
      ];
      const damaged = changes.map(([at, to]) => {
        const copy = bytes.slice();
        copy[at] = to;
        sealChunk(copy, first);
        return copy;
      });
      const [facts, ...others] = agreedFacts(bytes, ...damaged);
      expect(facts?.badChunks).toEqual([0, 0, 0]);
      expect(facts?.chunks.compressed).toBe(facts?.chunks.count);
      expect(facts?.records.length).toBeGreaterThan(500);
      expect(others.map(({ badChunks }) => badChunks[1])).toEqual(changes.map(() => 1));
    },
  );

  it('numbers of the header that are unknown or cannot be true', () => {
    const whole = new RankFileBuilder().build();
    const { life, mode, placement, rank, worldSize, localRank } = FILE_HEADER;
    const unknown = [life, mode, placement].map((at) => withU32(whole, at, 9));
    const nobody = [rank, worldSize, localRank].map((at) => withU32(whole, at, 2 ** 32 - 7));
    expect(agreedFacts(...unknown, ...nobody).map(({ replaced }) => replaced)).toEqual([1, 1, 1, 0, 0, 0]);

    const copied = smallFile();
    const start = copied.startTick;
    const { maskNow, copiedTick, leasesLost, ioErrors } = FILE_HEADER;
    const counts = [maskNow, leasesLost, ioErrors].flatMap((at) =>
      [2n ** 53n - 1n, 2n ** 53n, 2n ** 64n - 1n].map((value) => [at, value] as const),
    );
    const ticks = [0n, 1n, start, start + 2n ** 53n - 1n, start + 2n ** 53n];
    const files = [...counts, ...ticks.map((tick) => [copiedTick, tick] as const)];
    expect(
      agreedFacts(...files.map((number) => withNumbers(copied.build(), number))).map(
        ({ replaced }) => replaced,
      ),
    ).toEqual([0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 0, 0, 1]);
  });

  it('heads that cannot be true', () => {
    const whole = smallFile().build();
    const heads = [2n ** 48n - 1n, 2n ** 48n, 2n ** 63n];
    const files = heads.flatMap((head) =>
      [0, 1, 3, 5].map((area) => withNumbers(whole, [liveOffset(whole, area), head])),
    );
    const host = agreedFacts(...files).flatMap(({ rings }) => rings[0]?.head ?? []);
    expect(host.filter((head) => head === 0)).toHaveLength(2);
  });

  it('tables that there should be one of, heartbeats out of order, leases of no ring', () => {
    const file = smallFile().heartbeat(550);
    const late = new SlotArea(4, 'wraps');
    late.append(Kind.ClockSample, [file.rawTick(900), 1n, 2n, 3n, 4n, 0n]);
    file.area(AreaClass.TableHeartbeat, late);
    for (const ring of [2, 62, 1000]) file.lease({ ring, tid: 1 });
    const [facts] = agreedFacts(file.build());
    expect(facts?.heartbeat).toMatchObject({ tick: `${file.rawTick(550)}` });
    expect(facts).toMatchObject({ leasesOfNoRing: 3 });
    expect(facts?.leases).toHaveLength(2);
  });

  it('beacons, whole, empty, too short and in wrong places', () => {
    const file = smallFile();
    const exchange = { sent: 50, received: 90, peerReceived: 7n, peerSent: 9n };
    file.beacons({ bootId: '0123456789abcdef'.repeat(2), tickSource: 3 }, [
      exchange,
      { ...exchange, sent: 30, received: 20 },
      { ...exchange, sent: 10, peerSent: 2n ** 64n - 1n },
    ]);
    const odd = new SlotArea(64, 'wraps');
    const words = [file.rawTick(70), 1n, 2n, file.rawTick(80), 1n, 0n, 5n, 6n, 0n];
    for (const position of [1, 8, 20]) odd.write(position, Kind.Beacon, words);
    odd.write(28, Kind.Beacon, words.slice(0, 6));
    file.area(AreaClass.TableBeacon, odd);
    const [facts] = agreedFacts(file.build());
    expect(facts?.beacons).toHaveLength(3);
    expect(facts).toMatchObject({ emptyBeacons: 1 });
  });

  it('changes by control, older ones overwritten, and such as cannot be true', () => {
    const file = smallFile();
    const change = { tick: 50, done: 60, events: 0x1a, sampleEvery: 3 };
    file.changes(
      [
        { ...change, done: 49 },
        { ...change, sampleEvery: 0 },
        ...upTo(63).map((i) => ({ ...change, tick: 40 + i, done: 60 + 2 * i, events: i })),
      ],
      7,
    );
    const [facts] = agreedFacts(file.build());
    expect(facts?.changes).toHaveLength(63);
    expect(facts).toMatchObject({ impossibleChanges: 1 });
  });

  it('kinds of tables in a ring, whole and too short', () => {
    const file = new RankFileBuilder();
    const ring = file.ring('host', 128);
    for (const kind of [
      Kind.ClockSample,
      Kind.Communicator,
      Kind.CommunicatorEnd,
      Kind.String,
      Kind.Lease,
      Kind.ControlChange,
      Kind.Beacon,
    ])
      for (const slots of [1, 2, 4, 7])
        ring.record(kind, 10, ...Array.from({ length: 3 * slots - 1 }, () => 1n));
    const [facts] = agreedFacts(file.build());
    expect(facts?.rings[0]).toMatchObject({ records: 0, unknownKinds: 19, missing: { torn: 15 } });
  });

  it('files cut short', () => {
    const whole = smallFile().build();
    agreed(...upTo(100).map((i) => whole.subarray(0, Math.floor((i * whole.length) / 100))));
  });

  it('what may not be used', () => {
    const damaged = [0, 7, FILE_HEADER.endianMark, FILE_HEADER.rank, FILE_HEADER.slotBytes].map((offset) => {
      const bytes = smallFile().build();
      bytes[offset]! ^= 1;
      return bytes;
    });
    const creating = new RankFileBuilder({ life: 'creating' }).build();
    const versions = [0, 2].map((readerVersion) => new RankFileBuilder({ readerVersion }).build());
    const whole = smallFile().build();
    const end = BigInt(whole.length);
    const places = [2048n, 4088n, 4100n, end - 64n, end, 2n ** 60n];
    const misplaced = places.map((at) => withNumbers(whole, [FILE_HEADER.directoryOffset, at]));
    const tooMany = withU32(Buffer.concat([whole, new Uint8Array(4097 * 64)]), FILE_HEADER.areaCount, 4097);
    const nowhere = withNumbers(withU32(whole, FILE_HEADER.areaCount, 0), [
      FILE_HEADER.directoryOffset,
      end + 8n,
    ]);
    const readings = agreed(...damaged, creating, ...versions, ...misplaced, tooMany, nowhere);
    expect(new Set(readings)).toEqual(new Set(['refused']));
  });

  it('damaged directories', () => {
    const whole = smallFile().build();
    const byte = fc.record({ at: fc.integer({ min: 4096, max: 4096 + 7 * 64 - 1 }), to: fc.nat(255) });
    const damages = fc.sample(fc.array(byte, { minLength: 1, maxLength: 4 }), { seed: 21, numRuns: 300 });
    const files = damages.map((bytes) => {
      const damaged = whole.slice();
      for (const { at, to } of bytes) damaged[at] = to;
      return damaged;
    });
    agreed(...files);
  });

  it('damaged slots', () => {
    const whole = smallFile().build();
    const place = fc.nat(63);
    const block = fc.record({ from: place, to: place, slots: fc.nat(9), zeros: fc.boolean() });
    const damages = fc.sample(fc.array(block, { minLength: 1, maxLength: 6 }), { seed: 22, numRuns: 300 });
    const files = damages.map((blocks) => {
      const damaged = whole.slice();
      const ring = damaged.subarray(slotsOffset(whole, 0)).subarray(0, 64 * 32);
      for (const { from, to, slots, zeros } of blocks)
        if (zeros) ring.fill(0, from * 32, (from + slots) * 32);
        else ring.copyWithin(to * 32, from * 32, (from + slots) * 32);
      return damaged;
    });
    agreed(...files);
  });

  it('every sample', () => {
    const entries = existsSync(samples) ? readdirSync(samples, { recursive: true, encoding: 'utf8' }) : [];
    for (const entry of entries.filter((name) => /^rank.*\.bin$/.test(path.basename(name)))) {
      const file = path.join(samples, entry);
      expect(readByStranger([file]), entry).toEqual([readByUs(file)]);
    }
  }, 300_000);
});
