/** Rows in typed columns of equal length: `table.column[row]`. */

/** One number per row. NaN: not known. */
export type Column = Int16Array | Int32Array | Float64Array;

/** Most columns that say nothing hold one of these numbers in all rows. */
const USUAL = [NaN, -1, 0, 1];
/** By number: the longest column of it so far. */
const same = new Map<number, Column>();

/** A copy that takes no more bytes than its numbers need. Copies of one usual number share their memory, so nothing may be written to them. */
export function narrow(numbers: ArrayLike<number>): Column {
  const { length } = numbers;
  const first = numbers[0]!;
  let [bytes, isSame] = [2, true];
  for (let row = 0; row < length; row++) {
    const number = numbers[row]!;
    if (number !== first && !(Number.isNaN(number) && Number.isNaN(first))) isSame = false;
    if (number !== (number << 16) >> 16) bytes = Math.max(bytes, number === (number | 0) ? 4 : 8);
  }
  const Kind = bytes === 2 ? Int16Array : bytes === 4 ? Int32Array : Float64Array;
  if (length === 0 || !isSame || !USUAL.includes(first)) return new Kind(numbers);
  let column = same.get(first);
  if (!column || column.length < length) same.set(first, (column = new Kind(length).fill(first)));
  return column.subarray(0, length);
}

/** Copies of the named columns. */
export const narrowed = <Name extends string>(
  columns: Readonly<Record<Name, ArrayLike<number>>>,
  names: readonly Name[],
): Record<Name, Column> =>
  Object.fromEntries(names.map((name) => [name, narrow(columns[name])])) as Record<Name, Column>;

type Columns = Readonly<Record<string, Uint8Array | Uint32Array | Int32Array | Float64Array>>;

/** The same columns with another number of rows. New rows are 0. In Float64 columns, such as times, they are NaN. */
export function withRows<C extends Columns>(columns: C, rows: number): C {
  return Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [name, resized(column, rows)]),
  ) as C;
}

function resized<C extends Columns[string]>(column: C, rows: number): C {
  if (rows <= column.length) return column.slice(0, rows) as C;
  const longer = new (column.constructor as new (rows: number) => C)(rows);
  if (longer instanceof Float64Array) longer.fill(NaN, column.length);
  longer.set(column);
  return longer;
}

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
