/** What a look at a running job reads of a stream file, and whose rates its rates are. */

import path from 'node:path';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { workOf, type SeenWork } from '../../src/live/work.js';
import { withWorkFolder } from '../../src/output/work_folder.js';
import { diagnose, type DiagnosisOptions } from '../../src/report/diagnosis.js';
import { writeLargeStreamFile } from '../support/rank_files/large_stream_file.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';

const { folder, remove } = temporaryFolder();
afterAll(remove);

const SECONDS = 1000;
const file = path.join(folder, 'rank00000.bin');
let written: number;
beforeAll(() => {
  written = writeLargeStreamFile(file, 2 ** 18, 'raw', SECONDS);
});

interface Seen {
  readonly records: number;
  readonly work: SeenWork;
}

async function look(options: DiagnosisOptions): Promise<Seen> {
  let seen: Seen | null = null;
  await withWorkFolder(tmpdir(), undefined, () =>
    diagnose([file], {
      ...{ jobs: 1, ...options },
      onStudied: (studied, numbers) =>
        (seen = { records: studied.records, work: workOf(studied, numbers, []).seen }),
    }),
  );
  return seen!;
}

it('of a long stream file it reads the newest lap of each ring, and all of it when the run is over', async () => {
  const select = { last: SECONDS * 0.9e9 };
  expect((await look({ select, aroundNs: Infinity })).records).toBe(written);
  expect((await look({ select, isLapOnly: true })).records).toBeLessThan(written / 4);
});

it('what a rank sends per second is what it sent since the look before', async () => {
  const rate = async (seconds: number): Promise<number> => {
    const { work } = await look({ select: { last: seconds * 1e9 }, aroundNs: Infinity });
    return work.ranks[0]!.sent! / 1e6;
  };
  // 205 AllReduces of 1 MiB, one in 4.9 s. Nothing was sent after the last one.
  expect(await rate(500)).toBeCloseTo((102 * 2 ** 20) / 500e6, 2);
  expect(await rate(2)).toBe(0);
});
