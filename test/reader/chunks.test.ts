/** Chunks are not read, but never passed over in silence: wherever the walk of schemas/rank-file.md finds one. */

import { describe, expect, it } from 'vitest';

import { CHUNK_HEADER, CHUNK_MAGIC, FILE_HEADER } from '../../src/format/constants.js';
import { crc32 } from '../../src/format/crc32.js';
import { parseRankFile } from '../../src/reader/rank_file.js';
import { RankFileBuilder } from '../support/rank_file_builder.js';
import { readBytes, resealed } from './read.js';

const PLACE = 4096;
const file = new RankFileBuilder({ mode: 'stream' }).build();
const FOUND = [
  {
    what: 'stream-mode chunks, not read by this version: the records shown are the newest only',
    count: 1,
  },
];

/** A chunk header of `slots` slots, stored as they are. */
function chunkHeader(slots = 0): Buffer {
  const header = Buffer.alloc(64);
  header.writeUInt32LE(CHUNK_MAGIC, CHUNK_HEADER.magic);
  header.writeBigUInt64LE(7n, CHUNK_HEADER.firstPosition);
  header.writeBigUInt64LE(7n + BigInt(slots), CHUNK_HEADER.endPosition);
  header.writeUInt32LE(slots * 32, CHUNK_HEADER.rawBytes);
  header.writeUInt32LE(slots * 32, CHUNK_HEADER.storedBytes);
  return sealed(header);
}

function sealed(header: Buffer): Buffer {
  header.writeUInt32LE(0, CHUNK_HEADER.headerCrc);
  header.writeUInt32LE(crc32(header), CHUNK_HEADER.headerCrc);
  return header;
}

/** The file and `places` times 4096 bytes, with `header` `at` bytes into them. */
function withChunk(header: Uint8Array, at = 0, places = 4): Uint8Array {
  const bytes = new Uint8Array(file.length + places * PLACE);
  bytes.set(file);
  bytes.set(header, file.length + at);
  return bytes;
}

const chunksBegin = (bytes: Uint8Array, offset: number): Uint8Array => {
  new DataView(bytes.buffer).setBigUint64(FILE_HEADER.chunksBegin, BigInt(offset), true);
  return bytes;
};

describe('chunks', () => {
  it('are found at once, behind a hole, and at the very end', () => {
    expect(readBytes(file).problems).toEqual([]);
    expect(readBytes(withChunk(chunkHeader(10))).problems).toEqual(FOUND);
    expect(readBytes(withChunk(chunkHeader(10), 3 * PLACE)).problems).toEqual(FOUND);
    expect(readBytes(withChunk(chunkHeader(), PLACE, 1 + 64 / PLACE)).problems).toEqual(FOUND);
  });

  it('begin at multiples of 4096 only', () => {
    expect(readBytes(withChunk(chunkHeader(), 64)).problems).toEqual([]);
    const uneven = resealed(withChunk(chunkHeader(), PLACE), (view) => {
      view.setBigUint64(FILE_HEADER.chunksOffset, BigInt(file.length + 64), true);
    });
    expect(readBytes(uneven).problems).toEqual(FOUND);
  });

  it('are sought from chunks_begin on, unless no chunk can begin there', () => {
    const bytes = withChunk(chunkHeader(), 0);
    expect(readBytes(chunksBegin(bytes, file.length + PLACE)).problems).toEqual([]);
    for (const wrong of [1, PLACE, file.length + 2, bytes.length, 2 ** 50])
      expect(readBytes(chunksBegin(bytes, wrong)).problems).toEqual(FOUND);
  });

  it('are none if chunks_offset is 0', () => {
    const bytes = resealed(withChunk(chunkHeader()), (view) => {
      view.setBigUint64(FILE_HEADER.chunksOffset, 0n, true);
    });
    expect(readBytes(chunksBegin(bytes, file.length)).problems).toEqual([]);
  });

  it('have a header that checks out, and sizes that fit each other and the file', () => {
    const changed = (field: keyof typeof CHUNK_HEADER, value: number): Buffer => {
      const header = chunkHeader(10);
      header.writeUInt32LE(value, CHUNK_HEADER[field]);
      return header;
    };
    const wrong = [
      changed('headerCrc', 1),
      sealed(changed('magic', 1)),
      sealed(changed('rawBytes', 352)),
      sealed(changed('endPosition', 6)),
      sealed(changed('storedBytes', 300 * PLACE - 63)),
      chunkHeader(2 ** 15 + 1),
    ];
    for (const header of wrong) expect(readBytes(withChunk(header, 0, 300)).problems).toEqual([]);
    const just = sealed(changed('storedBytes', 300 * PLACE - 64));
    expect(readBytes(withChunk(just, 0, 300)).problems).toEqual(FOUND);
  });

  it('are not sought for ever: after 1 GiB of nothing it says so', () => {
    let reads = 0;
    const { problems } = parseRankFile({
      path: 'sparse.bin',
      bytes: 2 ** 52,
      read(offset, length) {
        reads++;
        const bytes = new Uint8Array(length);
        bytes.set(file.subarray(offset, offset + length));
        return bytes;
      },
    });
    expect(problems).toEqual([
      { what: '1 GiB without a stream-mode chunk where they should begin, not searched further', count: 1 },
    ]);
    expect(reads).toBeLessThan(2 ** 18 + 50);
  });
});
