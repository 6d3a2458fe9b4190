/** Transfers of a file from the kernel's rows: totals by connection, and the rows of the side file of steps. */

import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';
import { addTo } from '../base/grouped.js';
import type { Numbers } from '../kernel/host/numbers.js';
import { CallTotalsRow, ConnectionTotalsRow, KeptStepsRow, SizeRow } from '../kernel/result_rows.js';
import type { Communicator } from '../rankfile/file_types.js';
import { readTimes } from './time_counts.js';
import { inOrder, ROW_WIDTH, type StepRows } from './step_file.js';
import { type EndTotals, type SizeTotals, type TransferTotals, WAITS } from './transfer_totals.js';

/** As in src/kernel/connection_rows.ts. */
const BLOCK_ROWS = 32;

/** Adds the rows to the end of the side file. */
export function writeStepRows(
  path: string,
  numbers: Numbers,
  communicators: ReadonlyMap<number, Communicator>,
): StepRows[] {
  const fd = openSync(path, 'a', 0o600);
  try {
    let offset = fstatSync(fd).size;
    const written = numbers.list(() => {
      const row = numbers.row(KeptStepsRow);
      const { comm, channel, peer, sampledOut } = row;
      const { commId, rank } = communicators.get(comm)!;
      const isSend = row.isSend === 1;
      const [source, destination] = isSend ? [rank, peer] : [peer, rank];
      const halved = [row.halvedFirst, row.halvedLater] as const;
      const sorted = inOrder(numbers.blocksOf(ROW_WIDTH, BLOCK_ROWS));
      const bytes = new Uint8Array(sorted.buffer);
      for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at);
      offset += bytes.length;
      const rows: StepRows = {
        ...{ commId, channel, source, destination, isSend, sampledOut, halved },
        rows: sorted.length / ROW_WIDTH,
        offset: offset - bytes.length,
      };
      return { comm, rows };
    });
    return byComm(written).map(({ rows }) => rows);
  } finally {
    closeSync(fd);
  }
}

/** Connections of one communicator together, in the order of the communicators' first ones. */
function byComm<Connection extends { readonly comm: number }>(all: readonly Connection[]): Connection[] {
  const comms = new Map<number, Connection[]>();
  for (const one of all) addTo(comms, one.comm, one);
  return [...comms.values()].flat();
}

export const readTransfers = (numbers: Numbers, text: (id: number) => string): TransferTotals => ({
  ends: numbers.list((): EndTotals => {
    const { isSend, ...row } = numbers.row(ConnectionTotalsRow);
    return { ...row, isSend: isSend === 1, sizes: numbers.list(() => readSize(numbers)) };
  }),
  calls: numbers.rows(CallTotalsRow).map((row) => ({ ...row, func: text(row.func) })),
  sent: numbers.next(),
  ended: readTimes(numbers),
  waits: WAITS.map(() => readTimes(numbers)),
});

const readSize = (numbers: Numbers): SizeTotals => ({
  ...numbers.row(SizeRow),
  counts: readTimes(numbers),
  sums: readTimes(numbers),
  times: Uint32Array.from(numbers.some(numbers.next())),
});
