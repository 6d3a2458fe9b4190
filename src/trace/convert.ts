/**
 * Second pass over one file: turns its records into a block of packets when all clocks are known. It needs no other file, so ranks are
 * converted in parallel, and the bytes depend only on the job. Runs on a worker thread.
 */

import { closeSync, openSync, writeSync } from 'node:fs';
import { RankFileError } from '../base/errors.js';
import type { OriginTable } from '../cluster/pxn.js';
import { KernelFile } from '../kernel/host/kernel_file.js';
import { streamSegments, withFile } from '../rankfile/index.js';
import type { RankFileHeader } from '../rankfile/file_types.js';
import { redactFile, type Aliases } from '../runs/redact.js';
import type { RankScan } from '../scan/scan.js';
import { compressed, type Compression } from './compression.js';
import { inJob, type JobRanks } from './job_ranks.js';
import type { BlockCounts, SelectedPart } from './perfetto/block_writer.js';
import type { ProcessSpec } from './perfetto/descriptors.js';
import { type DrawnFile, type DrawnRank, type RankFacts, RankPicture, ringsToRead } from './rank_picture.js';
import { type Found, type Watch, WatchedTracks } from './tracks/watched_tracks.js';

/** `sharesClock` of the facts is `clockMates` and `counterMates` here, which can be sent to another thread. */
export interface ConvertJob extends Omit<RankFacts, 'names' | 'sharesClock' | 'rings'> {
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
  /** Number of a communicator → its name in this run. */
  readonly commNames: ReadonlyMap<number, string>;
  /** Tracks that the first screen shows. */
  readonly watches: readonly Watch[];
  /** Correlation id of the collective that the verdict names, for their lanes; null: none. */
  readonly named: number | null;
  readonly traceStart: bigint;
  readonly origins: OriginTable;
  /** Per communicator (commId in decimal) its ranks on this file's axis. */
  readonly clockMates: ReadonlyMap<string, ReadonlySet<number>>;
  /** The ranks on this file's own counter. */
  readonly counterMates: ReadonlyMap<string, ReadonlySet<number>>;
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

export function convertFile(job: ConvertJob): ConvertResult {
  const out = new BlockFile(job.blockPath, job.compression);
  try {
    return { ...draw(job, out), pieces: out.close() };
  } finally {
    out.close();
  }
}

function draw(job: ConvertJob, out: BlockFile): Omit<ConvertResult, 'pieces'> {
  // Both passes count works, calls and operations, so they must read the same part.
  const kernel = new KernelFile();
  const file = streamSegments(job.path, job.scanned.window, kernel, (ring, bytes) =>
    kernel.rows(ring, bytes),
  );
  try {
    checkSame(file, job);
    const shown = job.aliases === null ? file : redactFile(file, job.aliases);
    const drawn = drawFile(kernel, withNames(shown, job.commNames), job, out);
    checkWhole(
      withFile(job.path, ({ bytes }) => bytes),
      job,
    );
    return drawn;
  } finally {
    file.close();
  }
}

function drawFile(
  kernel: KernelFile,
  file: DrawnFile,
  job: ConvertJob,
  out: BlockFile,
): Omit<ConvertResult, 'pieces'> {
  const watched = new WatchedTracks(job.watches);
  const facts: RankFacts = {
    ...job,
    names: { own: job.title, inJob: inJob(job.jobRanks) },
    sharesClock: (commId, rank, needsCounter) =>
      (needsCounter ? job.counterMates : job.clockMates).get(String(commId))?.has(rank) ?? false,
    rings: ringsToRead(job.plan, job.callRings),
  };
  const picture = new RankPicture(kernel, file, facts, {
    ...job,
    watch: (...track) => watched.add(...track),
    output: (chunk) => {
      out.write(chunk);
    },
  });
  const { writer } = picture;
  const drawn = picture.draw();
  const found = watched.finish(writer);
  const selected = job.plan && writer.part();
  writer.close();
  return { ...drawn, found, selected, counts: writer.counts() };
}

const withNames = (file: DrawnFile, names: ConvertJob['commNames']): DrawnFile => ({
  ...file,
  communicators: new Map(
    [...file.communicators].map(([number, comm]) => [
      number,
      { ...comm, name: names.get(number) ?? comm.name },
    ]),
  ),
});

/** Refuses a file of another process. The job's times and ends would be wrong for that file, and the trace would not show the error. */
function checkSame({ path, bytes, header, rings }: DrawnFile, job: ConvertJob): void {
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

/** Adds a block to a file. Its pieces are compressed one by one. */
export class BlockFile {
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
