/** What both readers make of the same bytes (readings.ts). */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'vitest';

import { resealed } from '../rankfile/read.js';
import { RankFileBuilder, type RingBuilder } from '../support/rank_files/rank_file_builder.js';
import type { RankFileFacts } from './facts.js';
import { readByStranger, readByUs, type Reading } from './readings.js';

/** Both readings of each file agree; returns what they agree on. */
export function agreed(...files: Uint8Array[]): Reading[] {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'strangers-'));
  try {
    const paths = files.map((bytes, i) => {
      const file = path.join(folder, `rank${i}.bin`);
      writeFileSync(file, bytes);
      return file;
    });
    const ours = paths.map(readByUs);
    expect(readByStranger(paths)).toEqual(ours);
    return ours;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export function agreedFacts(...files: Uint8Array[]): RankFileFacts[] {
  return agreed(...files).map((reading) => {
    if (reading === 'refused') throw new Error('refused');
    return reading;
  });
}

/** Records of one, two and four slots. */
export function fill(ring: RingBuilder, from: number, rounds: number): void {
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

export function smallFile(): RankFileBuilder {
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
export function liveCopy(older: Uint8Array, newer: Uint8Array, at: number): Uint8Array {
  const copy = newer.slice();
  copy.set(older.subarray(0, at));
  return copy;
}

/** The file with 64-bit numbers changed, and the header's check made good. */
export const withNumbers = (
  file: Uint8Array,
  ...numbers: (readonly [at: number, value: bigint])[]
): Uint8Array =>
  resealed(file, (view) => {
    for (const [at, value] of numbers) view.setBigUint64(at, value, true);
  });

export const withU32 = (file: Uint8Array, at: number, value: number): Uint8Array =>
  resealed(file, (view) => {
    view.setUint32(at, value, true);
  });

export const liveOffset = (bytes: Uint8Array, area: number): number =>
  Number(new DataView(bytes.buffer).getBigUint64(4096 + area * 64 + 8, true));
export const slotsOffset = (bytes: Uint8Array, area: number): number =>
  Number(new DataView(bytes.buffer).getBigUint64(4096 + area * 64 + 24, true));

export const upTo = (end: number): number[] => Array.from({ length: end }, (_, i) => i);
