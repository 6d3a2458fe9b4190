/**
 * Second pass over one file: turns its records into a block of packets when all clocks are known. It needs no other file, so ranks are
 * converted in parallel, and the bytes depend only on the job. Runs on a worker thread.
 */

import type { BlockCounts } from '../kernel/host/drawn_rows.js';
import { closeSync, openSync, writeSync } from 'node:fs';
import type { OriginTable } from '../cluster/pxn.js';
import { KernelFile } from '../kernel/host/kernel_file.js';
import { compressed, type Compression } from './compression.js';
import { inJob, type JobRanks } from '../runs/job_ranks.js';
import type { SelectedPart } from './perfetto/block_writer.js';
import type { ProcessSpec } from './perfetto/descriptors.js';
import { type DrawnFile, type DrawnRank, type RankFacts, RankPicture, ringsToRead } from './rank_picture.js';
import { readScanned, type ScannedFile } from './scanned_file.js';
import { type Found, type Watch, WatchedTracks } from './tracks/watched_tracks.js';

/** `sharesClock` of the facts is `clockMates` and `counterMates` here, which can be sent to another thread. */
export interface ConvertJob extends Omit<RankFacts, 'names' | 'sharesClock' | 'rings'>, ScannedFile {
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
  const kernel = new KernelFile();
  return readScanned(kernel, job, (file) => drawFile(kernel, withNames(file, job.commNames), job, out));
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
