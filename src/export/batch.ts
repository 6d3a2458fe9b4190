/**
 * A part of a table in typed columns, on its way to a file. Parquet and CSV are written from this, so both have the same columns: those of
 * report/run_tables.ts, and beside each moment of the trace (`start_ns`) its date (`start_time`, µs, UTC).
 */

export interface ExportColumn {
  readonly name: string;
  /** `time`: microseconds since 1970. */
  readonly type: 'text' | 'whole' | 'real' | 'time';
}

interface Known {
  /** A bit per row, lowest first: 1: known. null: all are. */
  readonly known: Uint8Array | null;
}

export type BatchColumn =
  | (Known & { readonly type: 'whole' | 'time'; readonly numbers: BigInt64Array })
  | (Known & { readonly type: 'real'; readonly numbers: Float64Array })
  /** `places`: into `texts`. */
  | (Known & { readonly type: 'text'; readonly texts: readonly string[]; readonly places: Int32Array });

export interface Batch {
  readonly rows: number;
  readonly columns: readonly BatchColumn[];
}

/** A column of report/run_tables.ts or step_columns.ts. */
export interface Described {
  readonly name: string;
  readonly unit: string;
  readonly type: 'text' | 'rank' | 'whole' | 'real';
  readonly isName: boolean;
}

/** A rank that is one of several has no number, so it is not known. */
export const exportColumns = (columns: readonly Described[]): ExportColumn[] =>
  columns.flatMap(({ name, type, unit, isName }) => [
    { name, type: type === 'rank' ? 'whole' : type },
    ...(isName && unit === 'ns' ? [{ name: timeName(name), type: 'time' } as const] : []),
  ]);

const timeName = (name: string): string => name.replace(/_ns$/, '_time');
