/** Most rings of a file are never used. Their slots are not read where that is certain. */

import { expect, it } from 'vitest';

import { memorySource } from '../../src/rankfile/byte_source.js';
import { SLOT_BYTES } from '../../src/rankfile/format/constants.js';
import { parseRankFile } from '../../src/rankfile/rank_file.js';
import { RankFileBuilder, type FileOptions } from '../support/rank_files/rank_file_builder.js';

const CAPACITY = 4096;

/** The longest read of a file with a used ring and a large one without a lease. */
function longestRead(options: FileOptions): number {
  const file = new RankFileBuilder(options);
  const used = file.ring('host', 64, { threadName: 'python' });
  used.stop(20, used.startColl(10, { func: 'AllReduce' }));
  file.ring('ops', CAPACITY);
  file.heartbeat(30);
  const inner = memorySource('rank0.bin', file.build());
  let longest = 0;
  const read: typeof inner.read = (offset, length) => {
    longest = Math.max(longest, length);
    return inner.read(offset, length);
  };
  const { rings, problems } = parseRankFile({ ...inner, read });
  expect([rings.map(({ records }) => records.length), problems]).toEqual([[2, 0], []]);
  return longest;
}

it('a ring with head 0 and no lease is not read in a closed file', () => {
  expect(longestRead({ life: 'closed' })).toBeLessThan(CAPACITY * SLOT_BYTES);
});

it('it is read if a thread may have taken it since the leases were read, or if its lease may be lost', () => {
  expect(longestRead({ life: 'recording' })).toBe(CAPACITY * SLOT_BYTES);
  expect(longestRead({ life: 'closed', lost: { leases: 1 } })).toBe(CAPACITY * SLOT_BYTES);
});
