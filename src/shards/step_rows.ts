/**
 * The side file of a scan's steps (scan/step_file.ts) on its way through a .scan. A node scans before it is known whether the run has several
 * hosts, so it keeps every step. If the run turns out to be on one host, only the first step of each operation is used, as `merge` does.
 */

import { closeSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import type { RankScan } from '../scan/scan.js';
import { ROW_WIDTH, STEP_ROW, type StepRows } from '../scan/step_file.js';
import { rowsFromPlanes, toPlanes } from './byte_planes.js';
import type { SectionFile, SectionWriter } from './sections.js';

const ROW_BYTES = ROW_WIDTH * 8;
/** Rows of a section. */
const SECTION_ROWS = 1 << 17;
/** Used again for each section: a run has thousands. */
let unpacked: Float64Array | undefined;

export const stepSections = (path: string): number =>
  Math.ceil(statSync(path).size / (SECTION_ROWS * ROW_BYTES));

export function writeSteps(writer: SectionWriter, path: string): void {
  const fd = openSync(path, 'r');
  try {
    const rows = new Float64Array(SECTION_ROWS * ROW_WIDTH);
    for (let bytes; (bytes = readWhole(fd, rows)) > 0;)
      writer.bytes('step', byColumns(rows.subarray(0, bytes / 8)));
  } finally {
    closeSync(fd);
  }
}

/** Writes the steps to `path`; returns where they lie in it. `first`: the number of the file's first section of steps. */
export function readSteps(
  file: SectionFile,
  first: number,
  sections: number,
  scan: RankScan,
  path: string,
): readonly StepRows[] {
  const fd = openSync(path, 'wx', 0o600);
  let end = 0;
  try {
    for (let i = 0; i < sections; i++) {
      const columns = file.bytes('step', first + i);
      if (columns.length % ROW_BYTES !== 0) file.damaged('its steps are cut');
      unpacked ??= new Float64Array(SECTION_ROWS * ROW_WIDTH);
      if (columns.length > unpacked.byteLength) file.damaged('its steps are more than a section holds');
      rowsFromPlanes(columns, ROW_WIDTH, unpacked);
      writeSync(fd, new Uint8Array(unpacked.buffer, 0, columns.length));
      end += columns.length;
    }
  } finally {
    closeSync(fd);
  }
  for (const { offset, rows } of scan.steps)
    if (!isCount(rows) || !isCount(offset) || offset + rows * ROW_BYTES > end)
      file.damaged('its steps do not lie where they should');
  return scan.steps;
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

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;

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
