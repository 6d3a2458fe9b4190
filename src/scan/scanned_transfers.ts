/** Transfers of a file from the kernel's rows: totals by connection, and the rows of the side file of steps. */

import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';
import { addTo } from '../base/grouped.js';
import type { Ticks } from '../base/time.js';
import type { Numbers } from '../kernel/host/numbers.js';
import { CallTotalsRow } from '../kernel/result_rows.js';
import type { Communicator } from '../rankfile/file_types.js';
import { readTimes } from './time_counts.js';
import { inOrder, ROW_WIDTH, type StepRows } from './step_file.js';
import { type CallTotals, type EndTotals, type TransferTotals, WAITS } from './transfer_totals.js';

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
      const comm = numbers.next();
      const { commId, rank } = communicators.get(comm)!;
      const [channel, peer, isSend] = [numbers.next(), numbers.next(), numbers.flag()];
      const [source, destination] = isSend ? [rank, peer] : [peer, rank];
      const sampledOut = numbers.next();
      const halved = [numbers.next(), numbers.next()] as const;
      const sorted = inOrder(numbers.rows(ROW_WIDTH, BLOCK_ROWS));
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

export function readTransfers(numbers: Numbers, text: (id: number) => string): TransferTotals {
  const waits = (): number[] => [...numbers.some(WAITS.length)];
  return {
    ends: numbers.list((): EndTotals => {
      const end = {
        comm: numbers.next(),
        channel: numbers.next(),
        peer: numbers.next(),
        isSend: numbers.flag(),
        transfers: numbers.next(),
        bytes: numbers.next(),
        waits: waits(),
      };
      const open = { transfers: numbers.next(), since: numbers.next() as Ticks, wait: numbers.next() };
      const drawn = numbers.next();
      const longest = { took: numbers.next(), since: numbers.next() as Ticks, step: numbers.next() };
      const sizes = numbers.list(() => ({
        bytes: numbers.next(),
        sumOfSquares: numbers.next(),
        least: numbers.next(),
        counts: readTimes(numbers),
        sums: readTimes(numbers),
        own: numbers.next(),
        times: Uint32Array.from(numbers.some(numbers.next())),
      }));
      return { ...end, open: open.transfers === 0 ? null : open, drawn, longest, sizes };
    }),
    calls: numbers.list((): CallTotals => {
      const row = numbers.row(CallTotalsRow);
      return { ...row, func: text(row.func), waits: waits() };
    }),
    sent: numbers.next(),
    ended: readTimes(numbers),
    waits: WAITS.map(() => readTimes(numbers)),
  };
}
