/** Draws a made-up rank file as lines of text: the reader, both passes' pairing and all tracks, without Perfetto. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localNs } from '../../../src/base/time.js';
import { toTrace, type ClockMap } from '../../../src/clocks/clock_map.js';
import { gpuLines, gpuTimes } from '../../../src/clocks/evidence/gpu_clocks.js';
import { scanFile, type RankScan } from '../../../src/scan/scan.js';
import { NO_ORIGINATORS } from '../../../src/model/pxn.js';
import { Pairing } from '../../../src/model/pairing.js';
import { connectionKey, mayBeEndless } from '../../../src/model/endless_ops.js';
import type { Op } from '../../../src/model/types.js';
import type { RankFile, RowRange } from '../../../src/rankfile/types.js';
import { openRankFile, pairedRows } from '../../../src/rankfile/index.js';
import { RankTracks } from '../../../src/trace/tracks/rank_tracks.js';
import type { RankFileBuilder } from '../rank_files/rank_file_builder.js';
import { TextSink } from './text_sink.js';
import { endsOf } from '../../../src/model/work_end_table.js';

/** 1 tick = 1 ns = 1 ns of trace: times in the lines are the builder's ticks. */
const IDENTITY: ClockMap = {
  domain: 'test',
  segments: [
    {
      from: localNs(0),
      to: localNs(Infinity),
      offset: 0,
      drift: 0,
      hardBound: 0,
      bound99: 0,
      source: 'own-counter',
      flags: [],
    },
  ],
};

export interface Picture {
  readonly sink: TextSink;
  readonly scan: RankScan;
  readonly suspectKernels: number;
}

export function draw(builder: RankFileBuilder, sharesClock = true, isSilent = false): Picture {
  const folder = mkdtempSync(join(tmpdir(), 'picture-'));
  try {
    const path = join(folder, 'rank.bin');
    builder.write(path);
    return drawFile(path, sharesClock, isSilent);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** `order`: the order in which records are paired. */
export function drawFile(
  path: string,
  sharesClock: boolean,
  isSilent: boolean,
  order: (rings: RankFile['rings']) => Iterable<RowRange> = pairedRows,
): Picture {
  const scan = scanFile(path);
  const file = openRankFile(path);
  const sink = new TextSink();
  const nsPerTick = 1e9 / file.header.tickHz;
  const gpuTime = gpuTimes(gpuLines(scan, { offset: 0, nsPerTick }), IDENTITY);
  const neverEnds = (op: Op): boolean => mayBeEndless(op) && scan.endlessConnections.has(connectionKey(op));
  const tracks = new RankTracks(
    {
      sink,
      file,
      names: { own: `rank ${file.header.rank ?? 'unknown'}`, inJob: (_, rank) => rank },
      time: (at) => toTrace(IDENTITY, localNs(at * nsPerTick)),
      gpuTime: (comm) => gpuTime(comm?.number ?? -1),
      workEnd: endsOf(scan.workEnds),
      standInSteps: (op) => scan.standInSteps[op.standIn]!,
      lastSign: scan.lastSign,
      isSilent,
      isBareCall: (row) => scan.bareCalls.has(row),
      neverEnds,
      brokenTransfers: new Set(),
      outOfStep: new Map(),
      busiestPeers: scan.busiestPeers,
      sharesClock: () => sharesClock,
    },
    { binNs: 1e6, sampleNs: 100_000 },
  );
  const pairing = new Pairing(file, tracks, NO_ORIGINATORS, neverEnds);
  for (const range of order(file.rings)) pairing.read(range);
  pairing.openFolds(file.folds);
  const { suspectKernels } = tracks.finish(pairing.steps);
  return { sink, scan, suspectKernels };
}
