/** How many threads a run gets, by what there is to read. */

import { statSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

import { ringBytesAlike, threadsFor } from '../../src/study/workers.js';
import { RankFileBuilder } from '../support/rank_files/rank_file_builder.js';
import { folderOfFile } from '../support/program/temporary_folder.js';

const folder = folderOfFile();

it.each([
  // Two CPUs: the second compiles for the first, until both have enough to do.
  [1e6, 2, 1],
  [1.2e9, 2, 1],
  [1.3e9, 2, 2],
  // Many: as many threads as have work, up to half of them, then all.
  [1e6, 16, 1],
  [1.2e9, 16, 5],
  [8e9, 16, 8],
  [11e9, 16, 16],
  [50e9, 1, 1],
])('%s bytes on %s CPUs: %s threads', (bytes, cpus, threads) => {
  expect(threadsFor(bytes, cpus)).toBe(threads);
});

describe('bytes to read', () => {
  const fileOf = (name: string, mode: 'flight' | 'stream', bytes: number): string => {
    const file = path.join(folder, name);
    const builder = new RankFileBuilder({ rank: 0, mode });
    builder.ring('host', 1 << 17, { threadName: 'python', tid: 1 });
    builder.write(file);
    truncateSync(file, bytes);
    return file;
  };

  it('rings count as they are', () => {
    expect(ringBytesAlike([fileOf('a', 'flight', 30e6), fileOf('b', 'flight', 10e6)])).toBe(40e6);
  });

  it('chunks hold more records per byte', () => {
    const ring = 4 << 20;
    const files = [fileOf('c', 'stream', 4 * ring), fileOf('d', 'stream', 2 * ring)];
    // Three quarters of the larger file are chunks, so of the other one, too.
    expect(ringBytesAlike(files)).toBe(6 * ring * (1 / 4 + (3 / 4) * 14));
  });

  it('a recorded run in stream mode, whose rings had 64 KiB', () => {
    const file = path.join(import.meta.dirname, '../../samples/stream-killed/rank00000.bin');
    const { size } = statSync(file);
    expect(size).toBeGreaterThan(128 << 10);
    expect(ringBytesAlike([file])).toBe((64 << 10) + 14 * (size - (64 << 10)));
  });

  it('files that cannot be read count as rings, and none as nothing', () => {
    const [empty, gone] = [fileOf('e', 'flight', 0), path.join(folder, 'gone')];
    expect(ringBytesAlike([empty, gone])).toBe(0);
    expect(ringBytesAlike([])).toBe(0);
  });
});
