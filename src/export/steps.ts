/**
 * The network transfers of one file as a table: the file is read again, block by block. CSV is written as the blocks come. Parquet is encoded
 * asynchronously, which a block cannot wait for, so the blocks go to a side file first. Runs on a worker thread.
 */

import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import type { JobRanks } from '../runs/job_ranks.js';
import { isKnown } from '../base/exact_numbers.js';
import { hex64 } from '../base/hex.js';
import { lostText } from '../base/lost_text.js';
import { KernelFile } from '../kernel/host/kernel_file.js';
import { type KnownNumbers, readStepTable, type StepBlock } from '../kernel/host/step_table.js';
import { WAIT_OF } from '../model/waits.js';
import type { Communicator } from '../rankfile/file_types.js';
import type { DrawnFile } from '../trace/rank_picture.js';
import { readScanned } from '../trace/scanned_file.js';
import type { TransfersJob } from '../trace/transfers_job.js';
import { type Batch, type BatchColumn, exportColumns } from './batch.js';
import { writeCsv } from './csv.js';
import { STEPS } from './step_columns.js';

export interface StepsJob extends TransfersJob {
  readonly format: 'parquet' | 'csv';
  /** The file to write. */
  readonly output: string;
  /** The rank of the process; null: it has several. */
  readonly rank: number | null;
  /** Number of a communicator → its name in this run. */
  readonly commNames: ReadonlyMap<number, string>;
}

/** By number. */
const PHASES = Object.values(WAIT_OF);
const COLUMNS = exportColumns(STEPS.columns);

/** Returns the number of rows. */
export async function exportSteps(job: StepsJob): Promise<number> {
  const kernel = new KernelFile();
  let rows = 0;
  const read = (take: (batch: Batch) => void): void => {
    readScanned(kernel, job, (file) => {
      const columns = columnsOf(job, file);
      readStepTable(kernel, file, job, (block) => {
        rows += block.rows;
        take({ rows: block.rows, columns: columns(block) });
      });
    });
  };
  if (job.format === 'csv') writeCsv(job.output, COLUMNS, read);
  else await writeByWay(job.output, read);
  return rows;
}

type Read = (take: (batch: Batch) => void) => void;

async function writeByWay(path: string, read: Read): Promise<void> {
  const { arrowStream, writeParquet } = await import('./parquet.js');
  const side = `${path}.blocks`;
  const file = openSync(side, 'wx+', 0o600);
  try {
    const sizes: number[] = [];
    read((batch) => {
      const stream = arrowStream(COLUMNS, batch);
      for (let at = 0; at < stream.length;) at += writeSync(file, stream, at);
      sizes.push(stream.length);
    });
    const streams = sizes.length > 0 ? pieces(file, sizes) : [arrowStream(COLUMNS, noSteps())];
    await writeParquet(path, COLUMNS, streams);
  } finally {
    closeSync(file);
    rmSync(side);
  }
}

function* pieces(file: number, sizes: readonly number[]): Generator<Uint8Array> {
  let from = 0;
  for (const size of sizes) {
    const piece = new Uint8Array(size);
    for (let at = 0; at < size;) {
      const got = readSync(file, piece, at, size - at, from + at);
      if (got === 0) throw new Error('a side file lost its end');
      at += got;
    }
    from += size;
    yield piece;
  }
}

/** One place for each column of STEPS, in its order. */
function columnsOf(
  job: StepsJob,
  { communicators, strings }: DrawnFile,
): (block: StepBlock) => BatchColumn[] {
  const comms = [...communicators.values()];
  const names = comms.map(({ name, number }) => job.commNames.get(number) ?? name);
  const ids = comms.map(({ commId }) => hex64(commId));
  const places = new Map(comms.map(({ number }, place) => [number, place]));
  const peers = comms.map((comm) => ranksOf(job.jobRanks, comm));
  const own = comms.map((comm, place) => knownOr(peers[place]!(comm.rank), job.rank ?? UNKNOWN));
  const known = Array.from(strings, (text, id) => text ?? lostText(id));
  return (block) => {
    const { rows } = block;
    const [comm, peer, isSend, func, phase] = (['comm', 'peer', 'isSend', 'func', 'waitsIn'] as const).map(
      (name) => numbersOf(block[name]),
    ) as [Numbers, Numbers, Numbers, Numbers, Numbers];
    const place = placesOf(rows, comm, places);
    const texts = textsFor(rows, func, known);
    const whole = (name: keyof Omit<StepBlock, 'rows'>): BatchColumn => ({ type: 'whole', ...block[name] });
    return [
      wholes(rows, (row) => (place[row] === UNKNOWN ? (job.rank ?? UNKNOWN) : own[place[row]!]!)),
      wholes(rows, (row) => (place[row] === UNKNOWN ? UNKNOWN : peers[place[row]!]!(peer(row)))),
      chosen(rows, ['recv', 'send'], isSend),
      chosen(rows, names, (row) => (names[place[row]!] === '' ? UNKNOWN : place[row]!)),
      chosen(rows, ids, (row) => place[row]!),
      whole('channel'),
      chosen(rows, texts, func),
      ...(['seq', 'work', 'op', 'step', 'bytes', 'start'] as const).map(whole),
      { type: 'time', ...block.startTime },
      whole('end'),
      { type: 'time', ...block.endTime },
      ...(['gpuWait', 'peerWait', 'sendWait', 'recvWait', 'flushWait'] as const).map(whole),
      chosen(rows, PHASES, phase),
      whole('polls'),
    ];
  };
}

const noSteps = (): Batch => ({
  rows: 0,
  columns: COLUMNS.map(({ type }): BatchColumn => {
    if (type === 'text') return { type, texts: [], places: new Int32Array(0), known: null };
    if (type === 'real') return { type, numbers: new Float64Array(0), known: null };
    return { type, numbers: new BigInt64Array(0), known: null };
  }),
});

/** Stands for a number that is not known. */
const UNKNOWN = -1;
type Numbers = (row: number) => number;

const knownOr = (number: number, other: number): number => (number === UNKNOWN ? other : number);

/** For numbers below 2^31. */
function numbersOf({ numbers, known }: KnownNumbers): Numbers {
  const words = new Int32Array(numbers.buffer, numbers.byteOffset, 2 * numbers.length);
  return (row) => (isKnown(known, row) ? words[2 * row]! : UNKNOWN);
}

function ranksOf(jobRanks: JobRanks, { commId }: Communicator): Numbers {
  const known = jobRanks.get(String(commId));
  return (rank) => (known === 'same' ? rank : (known?.get(rank) ?? UNKNOWN));
}

/** Adds those that are needed and lie behind the last one that can be read. */
function textsFor(rows: number, id: Numbers, texts: string[]): readonly string[] {
  for (let row = 0; row < rows; row++) while (texts.length <= id(row)) texts.push(lostText(texts.length));
  return texts;
}

/** Most transfers are of the communicator of the one before. */
function placesOf(rows: number, comm: Numbers, places: ReadonlyMap<number, number>): Int32Array {
  const found = new Int32Array(rows);
  let [last, place] = [UNKNOWN, UNKNOWN];
  for (let row = 0; row < rows; row++) {
    const number = comm(row);
    if (number !== last) [last, place] = [number, places.get(number) ?? UNKNOWN];
    found[row] = place;
  }
  return found;
}

function wholes(rows: number, of: Numbers): BatchColumn {
  const numbers = new BigInt64Array(rows);
  return { type: 'whole', numbers, known: fill(rows, of, new Int32Array(numbers.buffer), 2) };
}

function chosen(rows: number, texts: readonly string[], of: Numbers): BatchColumn {
  const places = new Int32Array(rows);
  return { type: 'text', texts, places, known: fill(rows, of, places, 1) };
}

/** Returns which are known. */
function fill(rows: number, of: Numbers, into: Int32Array, apart: number): Uint8Array {
  const known = new Uint8Array(Math.ceil(rows / 8));
  for (let row = 0; row < rows; row++) {
    const value = of(row);
    if (value === UNKNOWN) continue;
    into[row * apart] = value;
    known[row >> 3]! |= 1 << (row & 7);
  }
  return known;
}
