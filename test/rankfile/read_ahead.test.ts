import { expect, it } from 'vitest';

import { memorySource } from '../../src/rankfile/byte_source.js';
import { readAhead } from '../../src/rankfile/read_ahead.js';
import { randomOf } from '../support/forged/forged_values.js';

function counted(content: Uint8Array) {
  const reads: [offset: number, length: number][] = [];
  const inner = memorySource('rank0.bin', content);
  const read: typeof inner.read = (offset, length) => {
    reads.push([offset, length]);
    return inner.read(offset, length);
  };
  return { reads, source: readAhead({ ...inner, read, close: () => undefined }), inner };
}

const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (i * 7) % 251);

it('small reads side by side are one read of whole pages', () => {
  const { reads, source } = counted(bytes(20_000));
  for (let at = 8_200; at < 12_000; at += 128) source.read(at, 128);
  expect(reads).toEqual([[8192, 4096]]);
  source.read(12_200, 200);
  expect(reads.at(-1)).toEqual([8192, 8192]);
});

it('large reads are not touched', () => {
  const { reads, source } = counted(bytes(20_000));
  source.read(100, 4096);
  expect(reads).toEqual([[100, 4096]]);
});

it('every read has the bytes of the source, also at and after its end', () => {
  const random = randomOf(11);
  for (let run = 0; run < 50; run++) {
    const { source, inner } = counted(bytes(random(3 * 4096)));
    for (let i = 0; i < 40; i++) {
      const [offset, length] = [random(4 * 4096), random(5000)];
      expect([...source.read(offset, length)]).toEqual([...inner.read(offset, length)]);
    }
  }
});

it('what a read returned does not change with the next one', () => {
  const { source } = counted(bytes(20_000));
  const first = source.read(0, 16);
  source.read(9000, 16);
  expect([...first]).toEqual([...bytes(16)]);
});
