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
  /** It says which or when, not how much. */
  readonly isName: boolean;
  readonly of: (row: Row) => Cell;
}

export interface Table<Row> {
  readonly name: TableName;
  readonly about: string;
  readonly columns: readonly Column<Row>[];
  /** What a terminal shows if it is wide enough, the most telling column first. */
  readonly telling: readonly string[];
}

export type TableName = 'collectives' | 'links' | 'ranks' | 'waits';

type Of<Row> = Column<Row>['of'];
const column =
  (unit: Column<never>['unit'], isName = false) =>
  <Row>(name: string, of: Of<Row>): Column<Row> => ({ name, unit, isName, of });
const named = column('', true);
const count = column('');
const moment = column('ns', true);
const ns = column('ns');
const bytes = column('bytes');
const rate = column('GB/s');

export const COLLECTIVES: Table<CollectiveRow> = {
  name: 'collectives',
  about: 'every collective of the run, once for all its ranks',
  columns: [
    named('comm', (row) => row.comm),
    named('comm_id', (row) => row.commId),
    named('comm_size', (row) => row.commSize),
    named('func', (row) => row.func),
    named('seq', (row) => row.seq),
    named('replay', (row) => row.replay),
    named('datatype', (row) => row.datatype),
    named('plan', (row) => row.plan),
    moment('start_ns', (row) => row.startNs),
    ns('duration_ns', (row) => row.durationNs),
    ns('skew_ns', (row) => row.skewNs),
    bytes('bytes', (row) => row.bytes),
    rate('algbw_gbs', (row) => row.algbwGBs),
    rate('busbw_gbs', (row) => row.busbwGBs),
    rate('algbw_from_first_gbs', (row) => row.algbwFromFirstGBs),
    rate('busbw_from_first_gbs', (row) => row.busbwFromFirstGBs),
    named('late_rank', (row) => row.lateRank),
    count('ranks', (row) => row.ranks),
    named('outcome', (row) => row.outcome),
  ],
  telling: [
    'func',
    'seq',
    'start_ns',
    'duration_ns',
    'comm',
    'skew_ns',
    'late_rank',
    'bytes',
    'busbw_gbs',
    'outcome',
    'plan',
    'algbw_gbs',
    'ranks',
    'replay',
    'busbw_from_first_gbs',
    'datatype',
    'comm_size',
  ],
};

export const LINKS: Table<LinkRow> = {
  name: 'links',
  about: 'every connection that sent something: one channel from one rank to another',
  columns: [
    named('comm', (row) => row.comm),
    named('comm_id', (row) => row.commId),
    named('channel', (row) => row.channel),
    named('source', (row) => row.source),
    named('destination', (row) => row.destination),
    named('source_host', (row) => row.sourceHost),
    named('destination_host', (row) => row.destinationHost),
    count('transfers', (row) => row.transfers),
    bytes('bytes', (row) => row.bytes),
    ns('mean_ns', (row) => row.meanNs),
    count('sizes', (row) => row.sizes),
    ns('avg_latency_ns', (row) => row.average?.latencyNs ?? null),
    rate('avg_rate_gbs', (row) => row.average?.rateGBs ?? null),
    count('avg_r2', (row) => row.average?.r2 ?? null),
    ns('min_latency_ns', (row) => row.least?.latencyNs ?? null),
    rate('min_rate_gbs', (row) => row.least?.rateGBs ?? null),
    count('min_r2', (row) => row.least?.r2 ?? null),
    count('timed_arrivals', (row) => row.onTheWay?.transfers ?? 0),
    ns('arrival_mean_ns', (row) => row.onTheWay && Math.round(row.onTheWay.meanNs)),
    ns('arrival_least_ns', (row) => row.onTheWay && Math.round(row.onTheWay.leastNs)),
    ns('arrival_bound_ns', (row) => row.onTheWay && Math.round(row.onTheWay.boundNs)),
    ns('sender_gpu_ns', (row) => row.senderGpuNs),
    ns('sender_room_ns', (row) => row.senderRoomNs),
    ns('receiver_gpu_ns', (row) => row.receiverGpuNs),
  ],
  telling: [
    'source',
    'destination',
    'channel',
    'bytes',
    'transfers',
    'mean_ns',
    'comm',
    'min_latency_ns',
    'min_rate_gbs',
    'arrival_mean_ns',
    'sender_room_ns',
    'sender_gpu_ns',
    'receiver_gpu_ns',
    'source_host',
    'destination_host',
    'avg_latency_ns',
    'avg_rate_gbs',
    'avg_r2',
    'arrival_least_ns',
    'arrival_bound_ns',
  ],
};

export const RANKS: Table<RankRow> = {
  name: 'ranks',
  about: 'every rank: how late it came, what its transfers waited for, what is lost',
  columns: [
    named('rank', (row) => row.rank),
    named('host', (row) => row.host),
    named('local_rank', (row) => row.localRank),
    named('pid', (row) => row.pid),
    named('verdict', (row) => row.label),
    named('life', (row) => row.life),
    count('records', (row) => row.records),
    count('lost_slots', (row) => row.lostSlots),
    count('collectives', (row) => row.collectives),
    ns('mean_late_ns', (row) => row.meanLateNs),
    count('last_in', (row) => row.lastIn),
    ns('alone_ns', (row) => row.aloneNs),
    bytes('sent_bytes', (row) => row.bytesSent),
    bytes('received_bytes', (row) => row.bytesReceived),
    ns('gpu_wait_ns', (row) => row.waits.gpu),
    ns('peer_wait_ns', (row) => row.waits.peer),
    ns('send_wait_ns', (row) => row.waits.send),
    ns('recv_wait_ns', (row) => row.waits.recv),
    ns('flush_wait_ns', (row) => row.waits.flush),
    named('file', (row) => row.file),
  ],
  telling: [
    'rank',
    'host',
    'verdict',
    'alone_ns',
    'mean_late_ns',
    'last_in',
    'collectives',
    'gpu_wait_ns',
    'peer_wait_ns',
    'recv_wait_ns',
    'send_wait_ns',
    'flush_wait_ns',
    'sent_bytes',
    'received_bytes',
    'life',
    'lost_slots',
    'records',
    'local_rank',
    'pid',
  ],
};

export const WAITS: Table<WaitRow> = {
  name: 'waits',
  about: 'who waited for whom: for its data, or for room at its end',
  columns: [
    named('rank', (row) => row.rank),
    named('for_rank', (row) => row.forRank),
    named('waits_for', (row) => row.waitsFor),
    named('comm', (row) => row.comm),
    named('comm_id', (row) => row.commId),
    count('transfers', (row) => row.transfers),
    ns('total_ns', (row) => row.totalNs),
    moment('open_since_ns', (row) => row.openSinceNs),
  ],
  telling: ['rank', 'for_rank', 'waits_for', 'total_ns', 'open_since_ns', 'comm', 'transfers'],
};

/** A table with its rows. */
export interface FilledTable {
  readonly name: TableName;
  readonly about: string;
  readonly columns: readonly Omit<Column<unknown>, 'of'>[];
  readonly telling: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

export const filled = <Row>(
  { name, about, columns, telling }: Table<Row>,
  rows: readonly Row[],
): FilledTable => ({
  ...{ name, about, telling },
  columns: columns.map(({ of: _, ...column }) => column),
  rows: rows.map((row) => columns.map(({ of }) => of(row))),
});

/** `collectives`: all of the run. `byPair`: links over all channels. */
export function tableOf(
  name: TableName,
  { ranks, links, pairs, waits }: Pick<RunReport, 'ranks' | 'links' | 'pairs' | 'waits'>,
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
