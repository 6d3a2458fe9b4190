/**
 * The tables for spreadsheets and notebooks: their columns, units, and the values of a row. CSV, JSON and the page have the same rows.
 * schemas/tables.md describes them, and a test compares the two.
 */

import type { CollectiveRow } from '../analysis/collectives.js';
import type { LinkRow } from '../analysis/link_rows.js';
import type { WaitRow } from '../analysis/wait_rows.js';
import type { RankRow, RunReport } from './run_report.js';
import { printable } from './text.js';

export type Cell = string | number | null;

export interface Column<Row> {
  readonly name: string;
  readonly unit: '' | 'ns' | 'bytes' | 'GB/s';
  readonly of: (row: Row) => Cell;
}

export interface Table<Row> {
  readonly name: TableName;
  readonly about: string;
  readonly columns: readonly Column<Row>[];
}

export type TableName = 'collectives' | 'links' | 'ranks' | 'waits';

const text = <Row>(name: string, of: (row: Row) => Cell): Column<Row> => ({ name, unit: '', of });
const ns = <Row>(name: string, of: (row: Row) => Cell): Column<Row> => ({ name, unit: 'ns', of });
const bytes = <Row>(name: string, of: (row: Row) => Cell): Column<Row> => ({ name, unit: 'bytes', of });
const rate = <Row>(name: string, of: (row: Row) => Cell): Column<Row> => ({ name, unit: 'GB/s', of });

export const COLLECTIVES: Table<CollectiveRow> = {
  name: 'collectives',
  about: 'every collective of the run, once for all its ranks',
  columns: [
    text('comm', (row) => row.comm),
    text('comm_id', (row) => row.commId),
    text('comm_size', (row) => row.commSize),
    text('func', (row) => row.func),
    text('seq', (row) => row.seq),
    text('replay', (row) => row.replay),
    text('datatype', (row) => row.datatype),
    text('plan', (row) => row.plan),
    ns('start_ns', (row) => row.startNs),
    ns('duration_ns', (row) => row.durationNs),
    ns('skew_ns', (row) => row.skewNs),
    bytes('bytes', (row) => row.bytes),
    rate('algbw_gbs', (row) => row.algbwGBs),
    rate('busbw_gbs', (row) => row.busbwGBs),
    rate('algbw_from_first_gbs', (row) => row.algbwFromFirstGBs),
    rate('busbw_from_first_gbs', (row) => row.busbwFromFirstGBs),
    text('late_rank', (row) => row.lateRank),
    text('ranks', (row) => row.ranks),
    text('outcome', (row) => row.outcome),
  ],
};

export const LINKS: Table<LinkRow> = {
  name: 'links',
  about: 'every connection that sent something: one channel from one rank to another',
  columns: [
    text('comm', (row) => row.comm),
    text('comm_id', (row) => row.commId),
    text('channel', (row) => row.channel),
    text('source', (row) => row.source),
    text('destination', (row) => row.destination),
    text('source_host', (row) => row.sourceHost),
    text('destination_host', (row) => row.destinationHost),
    text('transfers', (row) => row.transfers),
    bytes('bytes', (row) => row.bytes),
    ns('mean_ns', (row) => row.meanNs),
    text('sizes', (row) => row.sizes),
    ns('avg_latency_ns', (row) => row.average?.latencyNs ?? null),
    rate('avg_rate_gbs', (row) => row.average?.rateGBs ?? null),
    text('avg_r2', (row) => row.average?.r2 ?? null),
    ns('min_latency_ns', (row) => row.least?.latencyNs ?? null),
    rate('min_rate_gbs', (row) => row.least?.rateGBs ?? null),
    text('min_r2', (row) => row.least?.r2 ?? null),
    text('timed_arrivals', (row) => row.onTheWay?.transfers ?? 0),
    ns('arrival_mean_ns', (row) => row.onTheWay && Math.round(row.onTheWay.meanNs)),
    ns('arrival_least_ns', (row) => row.onTheWay && Math.round(row.onTheWay.leastNs)),
    ns('arrival_bound_ns', (row) => row.onTheWay && Math.round(row.onTheWay.boundNs)),
    ns('sender_gpu_ns', (row) => row.senderGpuNs),
    ns('sender_room_ns', (row) => row.senderRoomNs),
    ns('receiver_gpu_ns', (row) => row.receiverGpuNs),
  ],
};

export const RANKS: Table<RankRow> = {
  name: 'ranks',
  about: 'every rank: how late it came, what its transfers waited for, what is lost',
  columns: [
    text('rank', (row) => row.rank),
    text('host', (row) => row.host),
    text('local_rank', (row) => row.localRank),
    text('pid', (row) => row.pid),
    text('verdict', (row) => row.label),
    text('life', (row) => row.life),
    text('records', (row) => row.records),
    text('lost_slots', (row) => row.lostSlots),
    text('collectives', (row) => row.collectives),
    ns('mean_late_ns', (row) => row.meanLateNs),
    text('last_in', (row) => row.lastIn),
    ns('alone_ns', (row) => row.aloneNs),
    bytes('sent_bytes', (row) => row.bytesSent),
    bytes('received_bytes', (row) => row.bytesReceived),
    ns('gpu_wait_ns', (row) => row.waits.gpu),
    ns('peer_wait_ns', (row) => row.waits.peer),
    ns('send_wait_ns', (row) => row.waits.send),
    ns('recv_wait_ns', (row) => row.waits.recv),
    ns('flush_wait_ns', (row) => row.waits.flush),
    text('file', (row) => row.file),
  ],
};

export const WAITS: Table<WaitRow> = {
  name: 'waits',
  about: 'who waited for whom: for its data, or for room at its end',
  columns: [
    text('rank', (row) => row.rank),
    text('for_rank', (row) => row.forRank),
    text('waits_for', (row) => row.waitsFor),
    text('comm', (row) => row.comm),
    text('comm_id', (row) => row.commId),
    text('transfers', (row) => row.transfers),
    ns('total_ns', (row) => row.totalNs),
    ns('open_since_ns', (row) => row.openSinceNs),
  ],
};

/** A table with its rows. */
export interface FilledTable {
  readonly name: TableName;
  readonly about: string;
  readonly columns: readonly Pick<Column<unknown>, 'name' | 'unit'>[];
  readonly rows: readonly (readonly Cell[])[];
}

export const filled = <Row>({ name, about, columns }: Table<Row>, rows: readonly Row[]): FilledTable => ({
  name,
  about,
  columns: columns.map((column) => ({ name: column.name, unit: column.unit })),
  rows: rows.map((row) => columns.map(({ of }) => of(row))),
});

/** `collectives`: all of the run. `byPair`: links over all channels. */
export function tableOf(
  name: TableName,
  { ranks, links, pairs, waits }: RunReport,
  collectives: readonly CollectiveRow[],
  byPair = false,
): FilledTable {
  switch (name) {
    case 'collectives':
      return filled(COLLECTIVES, collectives);
    case 'links':
      return filled(LINKS, byPair ? pairs : links);
    case 'ranks':
      return filled(RANKS, ranks);
    case 'waits':
      return filled(WAITS, waits);
  }
}

/** RFC 4180, with line feeds. */
export const csvOf = ({ columns, rows }: FilledTable): string =>
  [columns.map(({ name }) => name), ...rows].map((cells) => `${cells.map(csvCell).join(',')}\n`).join('');

/**
 * Names are data. An apostrophe marks a name that a spreadsheet would run as a formula. Characters that control a terminal are replaced, as
 * in all our text.
 */
function csvCell(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const shown = printable(cell);
  const safe = /^[=+\-@]/.test(shown) ? `'${shown}` : shown;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Objects by column name. */
export const jsonOf = ({ columns, rows }: FilledTable): string =>
  `${JSON.stringify(
    rows.map((cells) => Object.fromEntries(columns.map(({ name }, i) => [name, cells[i]]))),
    null,
    1,
  )}\n`;
