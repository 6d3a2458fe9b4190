/** What a snapshot copies from a file in stream mode while its writer is at work. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';

import { FILE_HEADER } from '../../src/rankfile/format/constants.js';
import { openRankFile, takeSnapshot } from '../../src/rankfile/index.js';
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
