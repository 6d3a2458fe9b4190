/** What a snapshot copies from a file in stream mode while its writer is at work, and from files that claim what is not there. */

import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { FILE_HEADER, HEADER_FIXED_BYTES } from '../../src/rankfile/format/constants.js';
import { crc32 } from '../../src/rankfile/format/crc32.js';
import { openRankFile, takeSnapshot } from '../../src/rankfile/index.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';
import { RankFileBuilder } from '../support/rank_files/rank_file_builder.js';

// The writer begins the newer lap between our reading of the header and of the chunks.
it('has the newer lap, which the writer began before the oldest chunk', () => {
  const builder = new RankFileBuilder({ mode: 'stream' });
  const ring = builder.ring('steps', 16);
  for (let i = 0; i < 36; i++) {
    if (i === 10 || i === 20 || i === 30) ring.drain();
    ring.stop(100 + i, 1n);
  }
  const bytes = builder.build();
  const [, second] = builder.chunkOffsets();
  new DataView(bytes.buffer).setBigUint64(FILE_HEADER.chunksBegin, BigInt(second!), true);
  const folder = mkdtempSync(path.join(tmpdir(), 'snapshot-'));
  try {
    const from = path.join(folder, 'rank00000.bin');
    const to = path.join(folder, 'copy.bin');
    writeFileSync(from, bytes);
    expect(openRankFile(from).chunks.count).toBe(2);
    takeSnapshot(from, to, []);
    const { chunks, problems } = openRankFile(to);
    expect(chunks.count).toBe(3);
    expect(problems).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe('of a file that claims to be large', () => {
  let folder: string;
  let remove: () => void;
  beforeEach(() => ({ folder, remove } = temporaryFolder()));
  afterEach(() => {
    remove();
  });
  const from = (): string => path.join(folder, 'rank00000.bin');
  const to = (): string => path.join(folder, 'copy.bin');

  /** A recorded file with its border moved, and holes up to `bytes`. */
  function sparse(chunksOffset: number, bytes: number, chunksBegin = 0): void {
    const builder = new RankFileBuilder({ mode: 'stream' });
    const ring = builder.ring('steps', 16);
    for (let i = 0; i < 10; i++) ring.stop(100 + i, 1n);
    const content = builder.build();
    const view = new DataView(content.buffer);
    view.setBigUint64(FILE_HEADER.chunksOffset, BigInt(chunksOffset), true);
    view.setBigUint64(FILE_HEADER.chunksBegin, BigInt(chunksBegin), true);
    view.setUint32(FILE_HEADER.headerCrc, 0, true);
    view.setUint32(FILE_HEADER.headerCrc, crc32(content.subarray(0, HEADER_FIXED_BYTES)), true);
    writeFileSync(from(), content);
    truncateSync(from(), bytes);
  }

  const GIB = 2 ** 30;

  it.each([3, 40])('%i GiB of nothing before the chunks stay a hole, and take no memory', (gib) => {
    sparse(gib * GIB, gib * GIB);
    const before = process.memoryUsage().arrayBuffers;
    takeSnapshot(from(), to(), []);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(GIB / 2);
    expect(statSync(to()).size).toBe(gib * GIB);
    expect(statSync(to()).blocks * 512).toBeLessThan(GIB / 100);
    expect(openRankFile(to()).rings[0]!.records.kind.length).toBe(10);
  });

  it('something at the end of 40 GiB of nothing ends the copy with a sentence, and nothing is left', () => {
    sparse(40 * GIB, 40 * GIB);
    const file = openSync(from(), 'r+');
    writeSync(file, 'something', 39 * GIB);
    closeSync(file);
    expect(() => takeSnapshot(from(), to(), [])).toThrow(/more than 1 GiB of nothing before its chunks/);
    expect(existsSync(to())).toBe(false);
  });

  it.each([0, 150 * GIB])(
    'of 200 GiB of nothing behind the rings, what readers look at is copied',
    (begin) => {
      sparse(GIB / 64, 200 * GIB, begin);
      const { bytes } = takeSnapshot(from(), to(), []);
      expect(bytes).toBeLessThan(GIB / 64);
      expect(openRankFile(to()).rings[0]!.records.kind.length).toBe(10);
    },
  );

  it('a copy that is there already stays as it is', () => {
    sparse(GIB / 64, GIB / 64);
    writeFileSync(to(), 'mine');
    expect(() => takeSnapshot(from(), to(), [])).toThrow('EEXIST');
    expect(readFileSync(to(), 'utf8')).toBe('mine');
  });
});
