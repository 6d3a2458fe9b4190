/** Draws a made-up rank file as lines of text: the reader, both passes and all tracks. The lines are read from the packets. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localNs } from '../../../src/base/time.js';
import type { ClockMap } from '../../../src/clocks/clock_map.js';
import { gpuLines } from '../../../src/clocks/evidence/gpu_clocks.js';
import { KernelFile } from '../../../src/kernel/host/kernel_file.js';
import { streamSegments } from '../../../src/rankfile/index.js';
import { scanFile, type RankScan } from '../../../src/scan/scan.js';
import { busiestPeers } from '../../../src/scan/transfer_totals.js';
import { prologue } from '../../../src/trace/perfetto/prologue.js';
import { type DrawnFile, RankPicture } from '../../../src/trace/rank_picture.js';
import type { Silence } from '../../../src/trace/tracks/recorder_tracks.js';
import type { RankFileBuilder } from '../rank_files/rank_file_builder.js';
import { textOf } from './drawn_text.js';
import type { TextSink } from './text_sink.js';

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

export function draw(builder: RankFileBuilder, sharesClock = true, silence: Silence | null = null): Picture {
  const folder = mkdtempSync(join(tmpdir(), 'picture-'));
  try {
    const path = join(folder, 'rank.bin');
    builder.write(path);
    return drawFile(path, sharesClock, silence);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** `change`: what is drawn instead of the file. */
export function drawFile(
  path: string,
  sharesClock: boolean,
  silence: Silence | null,
  change: (file: DrawnFile) => DrawnFile = (file) => file,
): Picture {
  const scan = scanFile(path);
  const kernel = new KernelFile();
  const file = streamSegments(path, null, kernel, (ring, bytes) => kernel.rows(ring, bytes));
  const scale = { offset: 0, nsPerTick: 1e9 / file.header.tickHz };
  const traceStart = 1_790_000_000_000_000_000n;
  const pieces = [prologue({ traceStart, uuid: { high: 1n, low: 2n }, attributes: [] })];
  const picture = new RankPicture(
    kernel,
    change(file),
    {
      ...scan,
      busiestPeers: busiestPeers(scan.transfers),
      workArrows: null,
      names: { own: `rank ${file.header.rank ?? 'unknown'}`, inJob: (_, rank) => rank },
      map: IDENTITY,
      scale,
      gpuLines: gpuLines(scan, scale),
      silence,
      origins: { contexts: new Map(), works: new Map() },
      sharesClock: () => sharesClock,
      brokenTransfers: new Set(),
      outOfStep: new Map(),
      rateBinNs: 1e6,
      sampleNs: 100_000,
      plan: null,
      rings: null,
    },
    {
      ...{ blockIndex: 0, blockCount: 1, process: null, traceStart },
      output: (chunk) => void pieces.push(chunk.slice()),
    },
  );
  const { suspectKernels } = picture.draw();
  picture.writer.close();
  file.close();
  return { sink: textOf(Buffer.concat(pieces)), scan, suspectKernels };
}
