/**
 * The side file of a scan's steps (scan/step_file.ts) on its way through a .scan. A node scans before it is known whether the run has several
 * hosts, so it keeps every step. If the run turns out to be on one host, only the first step of each operation is used, as `merge` does.
 */

import { closeSync, openSync, readSync, statSync, write, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { ROW_WIDTH, STEP_ROW, type StepRows } from '../scan/step_file.js';
import { rowsFromPlanes, toPlanes } from './byte_planes.js';
import type { SectionFile, SectionWriter } from './sections.js';

const ROW_BYTES = ROW_WIDTH * 8;
/** Rows of a section. */
const SECTION_ROWS = 1 << 17;

export const stepSections = (path: string): number =>
  Math.ceil(statSync(path).size / (SECTION_ROWS * ROW_BYTES));

export function writeSteps(writer: SectionWriter<'scan'>, path: string): void {
  const fd = openSync(path, 'r');
  try {
    const rows = new Float64Array(SECTION_ROWS * ROW_WIDTH);
    for (let bytes; (bytes = readWhole(fd, rows)) > 0;)
      writer.bytes('step', byColumns(rows.subarray(0, bytes / 8)));
  } finally {
    closeSync(fd);
  }
}

/**
 * Decompresses steps into side files. Each section is written while the next one is decompressed. For a thousand ranks these are 5 GB, and
 * writing takes as long as decompressing.
 */
export class StepUnpacker {
  /** One buffer is written while the other is filled. */
  private buffers: readonly [Float64Array, Float64Array] = [new Float64Array(0), new Float64Array(0)];
  private written: Promise<void> = Promise.resolve();

  /** Decompresses the steps of one rank file to `path`. `first`: the number of the rank file's first section of steps. */
  async unpack(file: SectionFile<'scan'>, first: number, sections: number, path: string): Promise<void> {
    closeSync(openSync(path, 'wx', 0o600));
    for (let i = 0; i < sections; i++) {
      const columns = file.bytes('step', first + i);
      const [spare, other] = this.buffers;
      const buffer = columns.length <= spare.byteLength ? spare : new Float64Array(columns.length / 8);
      rowsFromPlanes(columns, ROW_WIDTH, buffer);
      await this.written;
      this.written = append(path, new Uint8Array(buffer.buffer, 0, columns.length));
      // Awaited later, or never if another file is damaged.
      this.written.catch(() => undefined);
      this.buffers = [other, buffer];
    }
  }

  /** All of them are written. */
  finish(): Promise<void> {
    return this.written;
  }
}

const writeBehind = promisify(write);

/** Writes all bytes at once. Several writes would each wait for the busy main thread. */
async function append(path: string, bytes: Uint8Array): Promise<void> {
  const fd = openSync(path, 'a');
  try {
    for (let at = 0; at < bytes.length;)
      at += (await writeBehind(fd, bytes, at, bytes.length - at, null)).bytesWritten;
  } finally {
    closeSync(fd);
  }
}

/** Keeps the first step of each operation, in a side file of its own. */
export function firstSteps(all: readonly StepRows[], from: string, to: string): readonly StepRows[] {
  const input = openSync(from, 'r');
  const output = openSync(to, 'wx', 0o600);
  let end = 0;
  try {
    return all.flatMap((connection) => {
      const rows = new Float64Array(connection.rows * ROW_WIDTH);
      readSync(input, new Uint8Array(rows.buffer), 0, rows.byteLength, connection.offset);
      let kept = 0;
      for (let at = 0; at < rows.length; at += ROW_WIDTH) {
        if (rows[at + STEP_ROW.step] !== 0) continue;
        rows.copyWithin(kept, at, at + ROW_WIDTH);
        kept += ROW_WIDTH;
      }
      const offset = end;
      end += kept * 8;
      writeSync(output, new Uint8Array(rows.buffer, 0, kept * 8));
      return kept === 0 ? [] : [{ ...connection, rows: kept / ROW_WIDTH, offset }];
    });
  } finally {
    closeSync(input);
    closeSync(output);
  }
}

function readWhole(fd: number, into: Float64Array): number {
  const bytes = new Uint8Array(into.buffer);
  let done = 0;
  for (let got = -1; got !== 0 && done < bytes.length; done += got)
    got = readSync(fd, bytes, done, bytes.length - done, null);
  return done;
}

function byColumns(rows: Float64Array): Uint8Array {
  const count = rows.length / ROW_WIDTH;
  const columns = new Float64Array(rows.length);
  for (let column = 0; column < ROW_WIDTH; column++)
    for (let row = 0; row < count; row++) columns[column * count + row] = rows[row * ROW_WIDTH + column]!;
  return toPlanes(columns);
}
