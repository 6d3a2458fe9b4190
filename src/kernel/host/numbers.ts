/** Numbers that the kernel wrote one after the other (src/kernel/results.ts). NaN stands for one that is not known. */

import { assert } from '../../base/assert.js';
import type { Ticks } from '../../base/time.js';

/** Numbers of a block: a power of two, as in src/kernel/results.ts. */
const BLOCK_BITS = 12;
const BLOCK_NUMBERS = 2 ** BLOCK_BITS;

/** By name, one number per row. They lie in the kernel's memory and are valid until the file is closed. */
export type Columns<Row> = Readonly<Record<keyof Row, Float64Array>> & { readonly length: number };

/** The columns of a table of the kernel (src/kernel/table.ts). */
export function tableAt<Row extends object>(
  row: new () => Row,
  memory: ArrayBuffer,
  at: number,
  length: number,
): Columns<Row> {
  const columns = Object.keys(new row()).map((name, i) => {
    const column = new Float64Array(memory, at + 8 * i * length, length);
    return [name, column] as const;
  });
  return { ...(Object.fromEntries(columns) as Record<keyof Row, Float64Array>), length };
}

/** A row of the kernel: a copy. */
export function rowAt<Row extends object>(row: new () => Row, memory: ArrayBuffer, at: number): Row {
  const names = Object.keys(new row());
  const numbers = new Float64Array(memory, at, names.length);
  return Object.fromEntries(names.map((name, i) => [name, numbers[i]!])) as Row;
}

/** null: not known. */
export const known = (number: number): number | null => (Number.isNaN(number) ? null : number);

/** The same. */
export const knownTick = (tick: number): Ticks | null => known(tick) as Ticks | null;

/** 64 bits. */
export const long = (high: number, low: number): bigint => (BigInt(high) << 32n) | BigInt(low);

export class Numbers {
  private at = 0;
  private readonly blocks: readonly Float64Array[];

  /** `list`: where the addresses of the blocks lie in `memory`; `length`: how many numbers they have. */
  constructor(
    private readonly memory: ArrayBuffer,
    list: number,
    private readonly length: number,
  ) {
    const addresses = new Uint32Array(memory, list, Math.ceil(length / BLOCK_NUMBERS));
    this.blocks = Array.from(addresses, (address) => new Float64Array(memory, address, BLOCK_NUMBERS));
  }

  next(): number {
    const at = this.at++;
    assert(at < this.length, 'the kernel wrote fewer numbers');
    return this.blocks[at >>> BLOCK_BITS]![at & (BLOCK_NUMBERS - 1)]!;
  }

  /** The bits of a number of 64. */
  bits(): number[] {
    const bits = long(this.next(), this.next());
    return Array.from({ length: 64 }, (_, bit) => bit).filter((bit) => (bits >> BigInt(bit)) & 1n);
  }

  /** A copy. */
  some(count: number): Float64Array {
    const numbers = new Float64Array(count);
    for (let i = 0; i < count; i++) numbers[i] = this.next();
    return numbers;
  }

  /** A number, and so many things. */
  list<Thing>(read: () => Thing): Thing[] {
    return Array.from({ length: this.next() }, read);
  }

  /** One row. `row`: a class of kernel/result_rows.ts, whose fields are the columns. */
  row<Row extends object>(row: new () => Row): Readonly<Row> {
    const read = new row() as Record<keyof Row, number>;
    for (const name of Object.keys(read) as (keyof Row)[]) read[name] = this.next();
    return read as Row;
  }

  /** A number, and so many such rows. */
  rows<Row extends object>(row: new () => Row): Readonly<Row>[] {
    return this.list(() => this.row(row));
  }

  table<Row extends object>(row: new () => Row): Columns<Row> {
    return tableAt(row, this.memory, this.next(), this.next());
  }

  /** A copy of rows of so many numbers, row after row. In the kernel they lie in blocks of `inBlock` rows. */
  blocksOf(width: number, inBlock: number): Float64Array {
    const rows = new Float64Array(this.next() * width);
    const most = inBlock * width;
    for (let at = 0; at < rows.length; at += most)
      rows.set(new Float64Array(this.memory, this.next(), Math.min(most, rows.length - at)), at);
    return rows;
  }

  /** Call it after the last number. */
  end(): void {
    assert(this.at === this.length, 'the kernel wrote more numbers');
  }
}
