/** Rows in typed columns of equal length. */

type Column = Float64Array | Int32Array | Uint32Array | Uint16Array | Uint8Array;

/** The same columns with another number of rows. New rows are 0. In Float64 columns, such as times, they are NaN. */
export function withRows<C extends Readonly<Record<string, Column>>>(columns: C, rows: number): C {
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
