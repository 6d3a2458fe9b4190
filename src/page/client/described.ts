/** Columns of a table of the run as the page shows them: by title and unit of their one description. */

import type { Column as Described, Table } from '../../report/run_tables.js';
import { bytes, count, timeOfDay } from './format.js';
import { time } from './in_trace.js';
import type { Column } from './table.js';

interface Arrangement<Row> {
  /** Names, and columns that only the page has. All others with a title follow, so a new column is there by itself. */
  readonly first: readonly (string | Column<Row>)[];
  /** By name: what the page shows in another way. */
  readonly otherwise?: Readonly<Record<string, Partial<Column<Row>>>>;
  readonly traceStart: string;
}

export function described<Row>(
  { columns }: Table<Row>,
  { first, otherwise = {}, traceStart }: Arrangement<Row>,
): Column<Row>[] {
  const own = (column: Described<Row>): Column<Row> => ({
    ...column.shown,
    ...{ title: column.title, isName: column.isName, of: column.of },
    ...showing(column, traceStart),
    ...otherwise[column.name],
  });
  const rest = columns.filter(({ name, title }) => title !== '' && !first.includes(name));
  return [
    ...first.map((one) => (typeof one === 'string' ? own(columns.find(({ name }) => name === one)!) : one)),
    ...rest.map(own),
  ];
}

function showing<Row>({ unit, isName }: Described<Row>, traceStart: string): Partial<Column<Row>> {
  if (unit === 'bytes') return { show: bytes };
  if (unit === 'ns') return { show: isName ? (ns: number) => timeOfDay(traceStart, ns) : time };
  return unit === '' && !isName ? { show: count } : {};
}
