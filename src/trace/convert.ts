/**
 * Second pass over one file: turns its records into a block of packets when all clocks are known. It needs no other file, so ranks are
 * converted in parallel, and the bytes depend only on the job. Runs on a worker thread.
 */

import { commKey } from '../model/identity.js';
import { closeSync, openSync, writeSync } from 'node:fs';
import { RankFileError } from '../base/errors.js';
import type { Ticks } from '../base/time.js';
import type { ClockMap } from '../clocks/clock_map.js';
import { traceTime, type TickScale } from '../clocks/domains.js';
import { Pairing } from '../model/pairing.js';
import type { PeerTraffic } from '../model/peer_traffic.js';
import { connectionKey, mayBeEndless } from '../model/endless_ops.js';
import type { Op } from '../model/types.js';
import { endsOf, type WorkEndTable } from '../model/work_end_table.js';
import { BlockWriter } from './perfetto/block_writer.js';
import type { BlockCounts } from './perfetto/counts.js';
import type { ProcessSpec } from './perfetto/descriptors.js';
import { pairedRows, type RankFileStream, streamRankFile, withFile } from '../rankfile/index.js';
import type { RankFileHeader } from '../rankfile/types.js';
import type { RankScan } from '../scan/scan.js';
import { ClippedSink } from './tracks/clipped_sink.js';
import { RankTracks, type DrawnRank } from './tracks/rank_tracks.js';
import { type Found, type Watch, WatchingSink } from './tracks/watched_tracks.js';
import { SelectedEvents } from './tracks/selected_events.js';
import type { Detail } from '../model/detail.js';
import { type DrawPlan, EVERYTHING } from './tracks/selection.js';
import { compressed, type Compression } from './compression.js';
import { originators, type OriginTable } from '../cluster/pxn.js';
import { gpuTimes, type GpuLines } from '../clocks/evidence/gpu_clocks.js';
import { inJob, type JobRanks } from './job_ranks.js';
import { redactFile, type Aliases } from '../runs/redact.js';

export interface ConvertJob {
  readonly path: string;
  /** The scan of the file: it must still be the same file. */
  readonly scanned: Pick<RankFileHeader, 'tag' | 'tickBase'> &
    Pick<RankScan, 'window' | 'bytes'> & { readonly heads: readonly number[] };
  /** Null: names are drawn unchanged. */
  readonly aliases: Aliases | null;
  readonly blockIndex: number;
  readonly blockCount: number;
  readonly process: ProcessSpec;
  /** Its name on tracks: "rank 6", "ranks 0-7". */
  readonly title: string;
  readonly jobRanks: JobRanks;
  /** Number of a communicator → its name in this run. A communicator that NCCL did not name gets it. */
  readonly commNames: ReadonlyMap<number, string>;
  /** Tracks that the first screen shows. */
  readonly watches: readonly Watch[];
  readonly traceStart: bigint;
  readonly map: ClockMap;
  readonly scale: TickScale;
  readonly gpuLines: GpuLines;
  readonly workEnds: WorkEndTable;
  readonly standInSteps: Uint32Array;
  /** See `RankScan`. `isSilent`: see verdict/process_states.ts. */
  readonly lastSign: Ticks | null;
  readonly isSilent: boolean;
  /** Calls without further events, by row. */
  readonly bareCalls: ReadonlyMap<number, string>;
  readonly endlessConnections: ReadonlySet<string>;
  readonly origins: OriginTable;
  /** Per communicator (commId in decimal) its ranks on this file's axis. */
  readonly clockMates: ReadonlyMap<string, ReadonlySet<number>>;
  /** The ranks on this file's own counter. */
  readonly counterMates: ReadonlyMap<string, ReadonlySet<number>>;
  /** Transfers of any rank that get no arrow. */
  readonly brokenTransfers: ReadonlySet<string>;
  /** Connections that get no arrows from the operation with this ordinal on. */
  readonly outOfStep: ReadonlyMap<string, number>;
  readonly busiestPeers: readonly PeerTraffic[];
  readonly rateBinNs: number;
  /** Shortest time between drawn samples of totals. */
  readonly sampleNs: number;
  /** null: everything is drawn, of all ranks. */
  readonly plan: DrawPlan | null;
  /** Rings with calls and collectives: the only ones read if nothing deeper is drawn. */
  readonly callRings: ReadonlySet<number>;
  readonly compression: Compression;
  /** The file to whose end the block is added. */
  readonly blockPath: string;
}

export interface ConvertResult extends DrawnRank {
  /** By watch. */
  readonly found: readonly Found[];
  readonly counts: BlockCounts;
  /** Null without a plan. */
  readonly selected: SelectedPart | null;
  /** Bytes of each piece of the block. */
  readonly pieces: readonly number[];
}

export interface SelectedPart {
  /** Slices drawn, by depth of detail. */
  readonly slices: Readonly<Record<Detail, number>>;
  /** Ends of drawn arrows: a number that both ends share. Replaces `flows`. */
  readonly flowEnds: BigUint64Array;
}

export function convertFile(job: ConvertJob): ConvertResult {
  const out = new BlockFile(job.blockPath, job.compression);
  try {
    const writer = new BlockWriter({
      ...job,
      output: (chunk) => {
        out.write(chunk);
      },
    });
    const result = draw(job, writer);
    writer.close();
    return { ...result, counts: writer.counts(), pieces: out.close() };
  } finally {
    out.close();
  }
}

type Drawn = DrawnRank & Pick<ConvertResult, 'selected' | 'found'>;

function draw(job: ConvertJob, writer: BlockWriter): Drawn {
  // Both passes count works, calls and operations, so they must read the same part.
  const file = streamRankFile(job.path, job.scanned.window);
  try {
    checkSame(file, job);
    const shown = job.aliases === null ? file : redactFile(file, job.aliases);
    const drawn = drawFile(withNames(shown, job.commNames), job, writer);
    checkWhole(
      withFile(job.path, ({ bytes }) => bytes),
      job,
    );
    return drawn;
  } finally {
    file.close();
  }
}

const withNames = (file: RankFileStream, names: ConvertJob['commNames']): RankFileStream => ({
  ...file,
  communicators: new Map(
    [...file.communicators].map(([number, comm]) => [
      number,
      comm.name === '' ? { ...comm, name: names.get(number) ?? '' } : comm,
    ]),
  ),
});

/** Refuses a file of another process. The job's times and ends would be wrong for that file, and the trace would not show the error. */
function checkSame({ path, bytes, header, rings }: RankFileStream, job: ConvertJob): void {
  const { scanned } = job;
  if (header.tag !== scanned.tag || header.tickBase !== scanned.tickBase)
    throw new RankFileError({
      path,
      what: 'the file was replaced by that of another process while it was being read',
      advice: 'merge again, when nobody copies files here',
    });
  checkWhole(bytes, job);
  // Both passes count works, calls and operations. If the ring had moved, each event would get the end of another.
  const heads = rings.map(({ head }) => head);
  if (heads.length !== scanned.heads.length || heads.some((head, i) => head !== scanned.heads[i]))
    throw new RankFileError({
      path,
      what: 'the file was written while it was being read',
      advice: 'copy it with "nccl-trace snapshot", and merge the copy',
    });
}

/** The trace of a file that was cut off since the scan would lack records without saying so. */
function checkWhole(bytes: number, { path, scanned }: ConvertJob): void {
  if (bytes < scanned.bytes)
    throw new RankFileError({
      path,
      what: 'the file was cut off while it was being read',
      advice: 'merge again, when nobody copies files here',
    });
}

function drawFile(file: RankFileStream, job: ConvertJob, writer: BlockWriter): Drawn {
  const { plan } = job;
  const watching = job.watches.length === 0 ? null : new WatchingSink(writer, job.watches);
  const clipped = plan && new ClippedSink(watching ?? writer, plan.windows);
  const time = traceTime(job.map, job.scale);
  const neverEnds = (op: Op): boolean =>
    job.endlessConnections.size > 0 && mayBeEndless(op) && job.endlessConnections.has(connectionKey(op));
  const gpuTime = gpuTimes(job.gpuLines, job.map);
  const tracks = new RankTracks(
    {
      sink: clipped ?? watching ?? writer,
      file: plan?.comms ? { ...file, communicators: selectedComms(file, plan.comms) } : file,
      names: { own: job.title, inJob: inJob(job.jobRanks) },
      time,
      gpuTime: (comm) => gpuTime(comm?.number ?? -1),
      workEnd: endsOf(job.workEnds),
      standInSteps: (op) => job.standInSteps[op.standIn]!,
      lastSign: job.lastSign,
      isSilent: job.isSilent,
      isBareCall: (row) => job.bareCalls.has(row),
      neverEnds,
      brokenTransfers: job.brokenTransfers,
      outOfStep: job.outOfStep,
      busiestPeers: job.busiestPeers,
      sharesClock: (commId, rank, needsCounter) =>
        (needsCounter ? job.counterMates : job.clockMates).get(String(commId))?.has(rank) ?? false,
    },
    { binNs: job.rateBinNs, sampleNs: job.sampleNs },
  );
  const listener = plan ? new SelectedEvents(tracks, plan, time) : tracks;
  const pairing = new Pairing(file, listener, originators(job.origins), neverEnds);
  for (const range of pairedRows(ringsToRead(file, job))) pairing.read(range);
  pairing.openFolds(file.folds());
  const { reordered, ...drawn } = tracks.finish(pairing.steps);
  clipped?.finish();
  const found = watching?.finish() ?? [];
  return {
    ...drawn,
    reordered: reordered + pairing.reorderedSteps,
    found,
    selected: clipped && { slices: clipped.drawn, flowEnds: clipped.flowEnds() },
  };
}

/** If only collectives and calls are drawn, other rings are not needed, because the scan knows when work ended. */
function ringsToRead({ rings }: RankFileStream, { plan, callRings }: ConvertJob): RankFileStream['rings'] {
  const { op, step } = (plan ?? EVERYTHING).windows;
  return op || step ? rings : rings.filter(({ ring }) => callRings.has(ring));
}

function selectedComms({ communicators }: RankFileStream, comms: ReadonlySet<string>) {
  return new Map([...communicators].filter(([, comm]) => comms.has(commKey(comm))));
}

/** Adds a block to a file. Its pieces are compressed one by one. */
class BlockFile {
  private readonly fd: number;
  private readonly pieces: number[] = [];
  private closed = false;

  constructor(
    path: string,
    private readonly compression: Compression,
  ) {
    this.fd = openSync(path, 'a', 0o600);
  }

  write(piece: Uint8Array): void {
    const bytes = compressed(piece, this.compression);
    for (let at = 0; at < bytes.length;) at += writeSync(this.fd, bytes, at);
    this.pieces.push(bytes.length);
  }

  /** The bytes of each piece. It may be called twice. */
  close(): readonly number[] {
    if (!this.closed) closeSync(this.fd);
    this.closed = true;
    return this.pieces;
  }
}
