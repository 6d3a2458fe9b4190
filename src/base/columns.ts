/** Rows in typed columns of equal length. */

import { packParts, type PackedNumbers } from './packed_numbers.js';

type Column = Float64Array | Int32Array | Uint32Array | Uint16Array | Uint8Array;

type Columns = Readonly<Record<string, Column>>;

/** The same columns with another number of rows. New rows are 0. In Float64 columns, such as times, they are NaN. */
export function withRows<C extends Columns>(columns: C, rows: number): C {
  return Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [name, resized(column, rows)]),
  ) as C;
}

function resized(column: Column, rows: number): Column {
  if (rows <= column.length) return column.slice(0, rows);
  const longer = new (column.constructor as new (rows: number) => Column)(rows);
  if (longer instanceof Float64Array) longer.fill(NaN, column.length);
  longer.set(column);
  return longer;
}

const BLOCK_BITS = 10;
const BLOCK_ROWS = 1 << BLOCK_BITS;
const FIRST_ROWS = 64;

/** The columns in packed form. */
export type PackedColumns<C> = { readonly [name in keyof C]: PackedNumbers };

/**
 * Rows that become more and more, in blocks of columns. A full block is never copied, and at most one block has room for rows to come. Doubled
 * columns would take three times the memory of their rows while they grow.
 */
export class RowBlocks<C extends Columns> {
  rows = 0;
  /** Rows that the blocks have room for. */
  private room = 0;
  private readonly blocks: C[] = [];

  /** `empty`: the columns without rows. */
  constructor(private readonly empty: C) {}

  /** The columns that hold the row, in the place `placeOf(row)`. The row must exist. */
  holding(row: number): C {
    return this.blocks[row >>> BLOCK_BITS]!;
  }

  /** Adds rows up to this number of them. New rows are as in `withRows`. */
  growTo(rows: number): void {
    this.rows = Math.max(this.rows, rows);
    while (this.room < rows) this.addRoom();
  }

  /** `names`: of the columns that are wanted. */
  pack<Name extends keyof C>(
    names: readonly Name[] = Object.keys(this.empty) as Name[],
  ): PackedColumns<Pick<C, Name>> {
    const packed = names.map((name) => {
      const parts = this.blocks.map((block) => block[name]);
      return [name, packParts(parts, BLOCK_ROWS, this.rows)];
    });
    return Object.fromEntries(packed) as PackedColumns<Pick<C, Name>>;
  }

  /** The first block begins small, because many tables stay small. */
  private addRoom(): void {
    const { blocks, empty, room } = this;
    if (room > 0 && room < BLOCK_ROWS) blocks[0] = withRows(blocks[0]!, 2 * room);
    else blocks.push(withRows(empty, room === 0 ? FIRST_ROWS : BLOCK_ROWS));
    this.room += room === 0 ? FIRST_ROWS : Math.min(room, BLOCK_ROWS);
  }
}

/** Where a row is in its block. */
export const placeOf = (row: number): number => row & (BLOCK_ROWS - 1);

/** Gives each string a number, in the order of first use, because a row of numbers holds no strings. */
export class Names {
  private readonly numbers = new Map<string, number>();
  private readonly names: string[] = [];

  number(name: string): number {
    const known = this.numbers.get(name);
    if (known !== undefined) return known;
    this.numbers.set(name, this.names.length);
    return this.names.push(name) - 1;
  }

  name(number: number): string {
    return this.names[number]!;
  }

  all(): readonly string[] {
    return this.names;
  }
}
