/** What a look at a running job reads of a stream file, and what its numbers of transfers are of. */

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { tmpdir } from 'node:os';
import { beforeAll, expect, it } from 'vitest';
import { workOf, type SeenWork } from '../../src/live/work.js';
import { withWorkFolder } from '../../src/output/work_folder.js';
import { diagnose, type DiagnosisOptions } from '../../src/report/diagnosis.js';
import { RankFileBuilder } from '../support/rank_files/rank_file_builder.js';
import { writeLargeStreamFile } from '../support/rank_files/large_stream_file.js';
import { folderOfFile } from '../support/program/temporary_folder.js';

const folder = folderOfFile();

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

async function look(options: DiagnosisOptions, of = file): Promise<Seen> {
  let seen: Seen | null = null;
  await withWorkFolder(tmpdir(), undefined, () =>
    diagnose([of], {
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

it('sends are told by their function, and beyond 64 peers together', async () => {
  const sends = path.join(folder, 'sends', 'rank00000.bin');
  const peers = 70;
  const builder = new RankFileBuilder({ rank: 0, worldSize: peers + 1 });
  builder.communicator({ name: 'world', commId: 7n, rank: 0, nRanks: peers + 1 });
  const ring = builder.ring('ops', 4096);
  // The further a peer, the fewer bytes: the first 64 are named. One AllReduce goes to each of them, too.
  const bytes = (peer: number): number => 1000 - peer;
  for (let peer = 1; peer <= peers; peer++)
    for (const func of ['Send', 'AllReduce']) {
      let tick = peer * 10_000 + (func === 'Send' ? 0 : 5_000);
      const work =
        func === 'Send'
          ? ring.startP2p(tick, { func, peer, count: bytes(peer) })
          : ring.startColl(tick, { func, seqNumber: peer });
      const op = ring.startProxyOp((tick += 10), { parent: work, peer, nSteps: 1, isSend: true });
      const step = ring.startProxyStep((tick += 10), { parent: op, step: 0 });
      for (const state of [8, 20, 9]) ring.state((tick += 10), step, state, bytes(peer));
      for (const ended of [step, op, work]) ring.stop((tick += 10), ended);
    }
  mkdirSync(path.dirname(sends));
  writeFileSync(sends, builder.build());
  const { work } = await look({}, sends);
  const sum = (from: number, to: number): number =>
    Array.from({ length: to - from + 1 }, (_, i) => bytes(from + i)).reduce((a, b) => a + b, 0);
  expect(work.ranks[0]!.functions.map(({ func, transfers, bytes: all }) => [func, transfers, all])).toEqual([
    ['Send', peers, sum(1, peers)],
    ['AllReduce', peers, sum(1, peers)],
  ]);
  expect(work.pairs).toHaveLength(65);
  expect(work.pairs.at(-1)).toMatchObject({ destination: 'other', transfers: 12, bytes: 2 * sum(65, peers) });
  expect(work.p2p).toHaveLength(65);
  expect(work.p2p.at(-1)).toMatchObject({ peer: 'other', operations: 6, bytes: sum(65, peers) });
});
