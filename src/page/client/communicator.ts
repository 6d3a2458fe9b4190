/** The column that names a row's communicator. */

import type { Column } from './table.js';

export const communicator = <
  Row extends { readonly comm: string; readonly commId: string },
>(): Column<Row> => ({
  title: 'Communicator',
  of: (row) => row.comm || row.commId,
});
