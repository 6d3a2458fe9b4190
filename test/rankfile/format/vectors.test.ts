/** The test vectors and worked examples of schemas/rank-file.md, computed again by src/rankfile/format and src/rankfile. */

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { Kind } from '../../../src/rankfile/format/constants.js';
import { crc32 } from '../../../src/rankfile/format/crc32.js';
import { foldKey, splitHandle, tagBits } from '../../../src/rankfile/format/handle.js';
import { eventTypeNames, stateName } from '../../../src/rankfile/format/nccl.js';
import { metaHigh, metaLow, slotCheck, word3High } from '../../../src/rankfile/format/slot.js';
import { Sequences } from '../../../src/rankfile/chunk_index.js';
import { copyOf } from '../../../src/rankfile/records.js';
import { KernelFile } from '../../../src/kernel/host/kernel_file.js';
import { newKernel } from '../../../src/kernel/host/load.js';
import { RingStream } from '../../../src/rankfile/ring_stream.js';
import { u64 } from '../../../src/rankfile/field_values.js';
import type { RingFacts } from '../../../src/rankfile/file_types.js';
import { tablesOf } from './contract_sources.js';

const document = readFileSync(new URL('../../../schemas/rank-file.md', import.meta.url), 'utf8');
const rows = (title: string): readonly (readonly string[])[] => {
  const table = tablesOf(document).find((candidate) => candidate.title === title);
  expect(table?.rows.length).toBeGreaterThan(0);
  return table?.rows ?? [];
};

const word = (hex: string): bigint => BigInt(`0x${hex}`);
const low = (value: bigint): number => Number(value & 0xffffffffn);
const high = (value: bigint): number => Number(value >> 32n);
const words = (...values: bigint[]): Uint32Array =>
  Uint32Array.from(values.flatMap((value) => [low(value), high(value)]));

function word3(
  payload: readonly bigint[],
  kind: number,
  part: number,
  parts: number,
  position: number,
): bigint {
  const [w0 = 0n, w1 = 0n, w2 = 0n] = payload;
  const meta = metaLow(kind, part, parts, position % 0x10000);
  const check = slotCheck(low(w0), high(w0), low(w1), high(w1), low(w2), high(w2), meta, metaHigh(position));
  return u64(meta, word3High(check, position));
}

describe('test vectors', () => {
  it('of slots', () => {
    for (const [w0 = '', w1 = '', w2 = '', kind, part, parts, position, expected = ''] of rows(
      'Test vectors: slots',
    ))
      expect(
        word3([word(w0), word(w1), word(w2)], Number(kind), Number(part), Number(parts), Number(position)),
      ).toBe(word(expected));
  });

  it('of bare slots', () => {
    const table = rows('Test vectors: bare slots');
    const slots = table.map(([, w0 = '', w1 = '', w2 = '', w3 = '']) => [w0, w1, w2, w3]);
    const bare = table.map(([, , w1 = '', w2 = '', , bare0 = '', bare3 = '']) => [bare0, w1, w2, bare3]);
    const halves = words(...bare.flat().map(word));
    const { exports: kernel } = newKernel();
    kernel.begin(0n, 0n, 2 ** 53, 1, 0);
    kernel.openRing(0);
    const at = kernel.chunkMemory(0, table.length);
    const inKernel = new Uint32Array(kernel.memory.buffer, at, halves.length);
    inKernel.set(halves);
    kernel.dressChunk(0, table.length, Number(table[0]?.[0]));
    expect(inKernel).toEqual(words(...slots.flat().map(word)));
  });

  it('of positions', () => {
    for (const row of rows('Test vectors: positions')) {
      const [head = 0, stored = 0, position = 0] = row.map(Number);
      expect(position % 2 ** 24).toBe(stored);
      const slot = words(7n, 0n, 0n, word3([7n, 0n, 0n], Kind.Stop, 0, 1, position));
      const bytes = { slots: 1, read: () => new Uint8Array(slot.buffer) };
      const { ring } = new KernelFile().table({ base: 0n, farthest: 2 ** 53 }, { capacity: 1, head }, bytes);
      expect(ring.positionAt(0)).toBe(position);
    }
  });

  it('of handles', () => {
    for (const [handle = '', own, ring, position, muted] of rows('Test vectors: handles'))
      expect(splitHandle(low(word(handle)), high(word(handle)), tagBits(0x8101000000000000n))).toEqual({
        own: own === 'yes',
        ring: Number(ring),
        position: Number(position),
        muted: muted === 'yes',
      });
  });

  it('of fold keys', () => {
    for (const [handle = '', key = ''] of rows('Test vectors: fold keys'))
      expect(foldKey(word(handle))).toBe(Number(`0x${key}`));
  });

  it('of the CRC', () => {
    expect(crc32(Buffer.from('123456789'))).toBe(0xcbf43926);
  });
});

describe('the worked examples', () => {
  it('of the check ends in the second vector of its table', () => {
    const given = (name: string): string =>
      new RegExp(`^ +${name} += ([0-9A-F]{16})`, 'm').exec(document)?.[1] ?? '';
    const payload = [given('word0 \\(tick\\)'), given('word1 \\(handle\\)'), given('word2')].map(word);
    expect(word3(payload, Kind.State, 0, 1, 41)).toBe(word(given('word3')));
  });

  it('of a ring: five records, one gap overwritten, one torn', () => {
    const slots = rows('Worked example: a ring').flatMap((row) => row.slice(1, 5).map(word));
    const bytes = { slots: 8, read: () => new Uint8Array(words(...slots).buffer) };
    const frame = { base: 0n, farthest: 2 ** 53 };
    const reader = new KernelFile().table(frame, { capacity: 8, head: 10 }, bytes);
    const ring = new RingStream({
      facts: { capacity: 8, head: 10 } as RingFacts,
      chunks: [],
      window: null,
      sequences: new Sequences([]),
      load: () => null,
      reader,
    });
    const records = copyOf(ring.next()!);
    expect(ring.next()).toBeNull();
    expect([...records.position]).toEqual([5, 6, 8, 10, 11]);
    expect([...records.tick]).toEqual([500, 600, 800, 1000, 1100]);
    expect([...records.extra]).toEqual([77, 0, 0, 0, 0, 0, 78, 0, 0, 0, 0, 0]);
    expect(ring.gaps).toEqual([
      { from: 0, end: 5, cause: 'overwritten', afterTick: null, beforeTick: 500 },
      { from: 9, end: 10, cause: 'torn', afterTick: 800, beforeTick: 1000 },
    ]);
    expect(reader.ring.tornSlots).toBe(1);
  });
});

describe("NCCL's numbers", () => {
  it('have names, and those without are still shown', () => {
    expect(stateName(20)).toBe('SendPeerWait');
    expect(stateName(77)).toBe('state 77');
    expect(eventTypeNames(0x8 | 0x8000 | 0x100000)).toEqual(['ProxyOp', 'KernelPhase', '0x100000']);
    expect(eventTypeNames(0)).toEqual([]);
  });
});
