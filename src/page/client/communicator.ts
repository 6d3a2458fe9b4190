/** The column that names a row's communicator. */

import type { RunReport } from '../../report/run_report.js';
import type { Column } from './table.js';

export function communicator<Row extends { readonly comm: string; readonly commId: string }>({
  communicators,
}: RunReport): Column<Row> {
  const labels = new Map(communicators.map(({ commId, label }) => [commId, label]));
  return { title: 'Communicator', of: (row) => labels.get(row.commId) ?? (row.comm || row.commId) };
}
