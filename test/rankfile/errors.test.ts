/** The error for a file that cannot be used: what is wrong, in which file, a likely cause, what to do. */

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

import { memorySource } from '../../src/rankfile/byte_source.js';
import { openRankFile, openRankFileHeader, parseRankFile } from '../../src/rankfile/rank_file.js';
import { FILE_HEADER } from '../../src/rankfile/format/constants.js';
import { RankFileBuilder } from '../support/rank_files/rank_file_builder.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';
import { resealed } from './read.js';

const good = new RankFileBuilder().build();

function sentence(use: () => unknown): string {
  try {
    use();
  } catch (error) {
    return (error as Error).message;
  }
  return 'no error';
}

const ofBytes = (bytes: Uint8Array): string => sentence(() => parseRankFile(memorySource('r.bin', bytes)));

function changed(change: (bytes: Uint8Array, view: DataView) => void): Uint8Array {
  const bytes = good.slice();
  change(bytes, new DataView(bytes.buffer));
  return bytes;
}

describe('errors of a file', () => {
  it.each([
    ['empty', new Uint8Array(0), 'the file is empty'],
    ['zeros', new Uint8Array(8192), 'nothing but zeros where its header should be at byte 0'],
    ['text', Buffer.from('rank 3 has been killed'), 'not a rank file at byte 0 (expected 8e 4e 54 52'],
    ['gzip', Buffer.from([0x1f, 0x8b, 8, 0]), 'is a gzip file, not a rank file'],
    ['zstd', Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), 'is a zstd file'],
    ['zip', Buffer.from('PK\x03\x04'), 'is a zip file'],
    [
      'a pickle',
      Buffer.from([0x80, 0x02, 0x7d, 0x71]),
      "r.bin: is a Python pickle, perhaps a dump of PyTorch's Flight Recorder, not a rank file; name the folder of the dumps with --flight-recorder",
    ],
    ['JSON', Buffer.from(' {"a": []}'), 'is JSON, not a rank file; name the files'],
    ['CR LF rewritten', Buffer.from([0x8e, 0x4e, 0x54, 0x52, 0x0a, 0x1a, 0x0a, 4]), 'copied in text mode'],
    ['LF rewritten', Buffer.from([0x8e, 0x4e, 0x54, 0x52, 0x0d, 0x0d, 0x0a, 0x1a]), 'copied in text mode'],
    ['seven bits', Buffer.from([0x0e, 0x4e, 0x54, 0x52, 0x0d, 0x0a, 0x1a, 0x0a]), 'copied in text mode'],
    ['as UTF-8', Buffer.from([0xef, 0xbf, 0xbd, 0x4e, 0x54, 0x52, 0x0d, 0x0a]), 'copied in text mode'],
    ['cut in the magic', good.slice(0, 5), 'the file ends inside its header at byte 5'],
    ['cut in the header', good.slice(0, 4095), 'the file ends inside its header at byte 4095'],
    ['cut in the directory', good.slice(0, 4200), 'the file ends inside its directory at byte 4200'],
    [
      'big-endian',
      changed((_, v) => {
        v.setUint32(8, 0x01020304, false);
      }),
      'written in big-endian byte order',
    ],
    [
      'newer',
      changed((_, v) => {
        v.setUint16(12, 2, true);
      }),
      'its format is newer than this program at byte 12',
    ],
    [
      'being created',
      changed((_, v) => {
        v.setUint32(2048, 0, true);
      }),
      'had not finished creating it',
    ],
    [
      'damaged',
      changed((b) => {
        b[300]! ^= 1;
      }),
      "the header's check does not match at byte 20",
    ],
  ])('%s', (_, bytes, words) => {
    expect(ofBytes(bytes)).toContain(words);
    expect(ofBytes(bytes)).toMatch(/^r\.bin: .*; .+$/);
  });

  it.each([
    ['a directory in the header', 5n, 4088n, 'a directory of 5 areas at byte 4088 cannot be true'],
    ['a directory at an odd place', 5n, 4100n, 'a directory of 5 areas at byte 4100 cannot be true'],
    [
      'a directory with too many areas',
      4097n,
      4096n,
      'a directory of 4097 areas at byte 4096 cannot be true',
    ],
    ['an empty directory behind the file', 0n, 1n << 40n, 'the file ends inside its directory'],
  ])('%s', (_, areas, offset, words) => {
    const bytes = resealed(good, (view) => {
      view.setUint32(FILE_HEADER.areaCount, Number(areas), true);
      view.setBigUint64(FILE_HEADER.directoryOffset, offset, true);
    });
    expect(ofBytes(bytes)).toContain(words);
  });

  it('a newer writer alone is no error', () => {
    expect(ofBytes(new RankFileBuilder({ writerVersion: 9 }).build())).toBe('no error');
  });

  it('an unknown life, which damage can cause, is read as recording and counted', () => {
    const file = parseRankFile(
      memorySource(
        'r.bin',
        changed((_, v) => {
          v.setUint32(2048, 7, true);
        }),
      ),
    );
    expect(file.header.life).toBe('recording');
    expect(file.problems).toEqual([{ what: 'header: life 7 is unknown, read as recording', count: 1 }]);
  });
});

describe('errors of the system', () => {
  const { folder, remove } = temporaryFolder();
  afterAll(remove);

  it('no such file, a directory, no permission', () => {
    expect(sentence(() => openRankFile(path.join(folder, 'none.bin')))).toContain(
      'none.bin: does not exist; check',
    );
    mkdirSync(path.join(folder, 'run'));
    expect(sentence(() => openRankFile(path.join(folder, 'run')))).toContain('run: is a directory');
    const closed = path.join(folder, 'closed.bin');
    writeFileSync(closed, good);
    chmodSync(closed, 0);
    // Root may read anything.
    const words =
      process.getuid?.() === 0 ? 'no error' : 'may not be read by this user; rank files are private';
    expect(sentence(() => openRankFile(closed))).toContain(words);
  });

  it('no error for a good file', () => {
    const file = path.join(folder, 'good.bin');
    new RankFileBuilder({ rank: 5 }).write(file);
    expect(openRankFile(file)).toMatchObject({ path: file, bytes: good.length, problems: [] });
    expect(openRankFileHeader(file).rank).toBe(5);
  });
});
