/**
 * A table as a CSV file (RFC 4180, line feeds, what is not known is empty). Times are `2026-11-28 03:02:11.004512`, UTC. Numbers are written
 * as bytes: a string for each takes several times as long.
 */

import { closeSync, openSync, writeSync } from 'node:fs';
import { csvCell } from '../base/csv.js';
import { exactNumbers, isKnown } from '../base/exact_numbers.js';
import { printable } from '../report/text.js';
import { type Batch, type BatchColumn, type ExportColumn } from './batch.js';

/** `each` calls its argument for each batch. The file must not exist. Throws the system's errors. */
export function writeCsv(
  path: string,
  columns: readonly ExportColumn[],
  each: (take: (batch: Batch) => void) => void,
): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    const out = new Bytes(file);
    out.text(encoded(`${columns.map(({ name }) => name).join(',')}\n`));
    each((batch) => {
      writeLines(out, batch);
    });
    out.flush();
  } finally {
    closeSync(file);
  }
}

const COMMA = 44;
const LINE_FEED = 10;
const DOT = 46;
const MINUS = 45;
const ZERO = 48;

function writeLines(out: Bytes, { rows, columns }: Batch): void {
  const cells = columns.map((column) => cellsOf(column, out));
  for (let row = 0; row < rows; row++)
    for (let i = 0; i < columns.length; i++) {
      if (isKnown(columns[i]!.known, row)) cells[i]!(row);
      out.byte(i + 1 < columns.length ? COMMA : LINE_FEED);
    }
}

/** Writes the cell of a row. */
function cellsOf(column: BatchColumn, out: Bytes): (row: number) => void {
  switch (column.type) {
    case 'text': {
      const texts = column.texts.map((text) => encoded(csvCell(text, printable)));
      return (row) => {
        out.text(texts[column.places[row]!]!);
      };
    }
    case 'real':
      return (row) => {
        out.text(encoded(String(column.numbers[row]!)));
      };
    case 'whole': {
      const number = exactNumbers(column.numbers);
      return (row) => {
        out.whole(number(row));
      };
    }
    case 'time':
      return dates(exactNumbers(column.numbers), out);
  }
}

const encoded = (text: string): Uint8Array => Buffer.from(text);

/** Most times are in the same second as the one before. */
function dates(micros: (row: number) => number, out: Bytes): (row: number) => void {
  let second = NaN;
  let shown = encoded('');
  return (row) => {
    const at = micros(row);
    const whole = Math.floor(at / 1e6);
    if (whole !== second)
      shown = encoded(new Date(whole * 1000).toISOString().slice(0, 19).replace('T', ' '));
    second = whole;
    out.text(shown);
    out.byte(DOT);
    out.digits(at - whole * 1e6, 6);
  };
}

const ROOM = 1 << 20;
/** A number and a comma. */
const MOST_DIGITS = 24;

/** Collects bytes for a file. */
class Bytes {
  private readonly bytes = Buffer.alloc(ROOM);
  private used = 0;

  constructor(private readonly file: number) {}

  byte(byte: number): void {
    if (this.used === ROOM) this.flush();
    this.bytes[this.used++] = byte;
  }

  text(text: Uint8Array): void {
    if (this.used + text.length > ROOM) this.flush();
    if (text.length > ROOM) writeAll(this.file, text);
    else {
      this.bytes.set(text, this.used);
      this.used += text.length;
    }
  }

  whole(number: number): void {
    if (number < 0) this.byte(MINUS);
    const amount = Math.abs(number);
    let [count, next] = [1, 10];
    for (; next <= amount; next *= 10) count++;
    this.digits(amount, count);
  }

  /** The last `count` digits. */
  digits(number: number, count: number): void {
    if (this.used + MOST_DIGITS > ROOM) this.flush();
    let left = number;
    for (let at = this.used + count - 1; at >= this.used; at--) {
      const tenth = Math.floor(left / 10);
      this.bytes[at] = ZERO + left - tenth * 10;
      left = tenth;
    }
    this.used += count;
  }

  flush(): void {
    writeAll(this.file, this.bytes.subarray(0, this.used));
    this.used = 0;
  }
}

function writeAll(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
}
