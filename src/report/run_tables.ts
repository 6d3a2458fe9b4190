/**
 * The tables of a run, described once: the columns, their units and types, and the values of a row. Parquet, CSV, JSON, queries, the terminal
 * and the page print by this description. schemas/tables.md has a sentence for each column, and a test compares the two.
 */

import type { CollectiveRow } from '../analysis/collectives.js';
import type { AllToAllRow, ExchangeRow } from '../analysis/exchanges.js';
import type { LinkRow } from '../analysis/link_rows.js';
import type { WaitRow } from '../analysis/wait_rows.js';
import type { WorkTableRow } from '../analysis/work_rows.js';
import type { ExposedStep } from '../foreign/beside/training_steps.js';
import type { RankRow, RunReport } from './run_report.js';

export type Cell = string | number | null;

export interface Column<Row> {
  readonly name: string;
  readonly unit: '' | 'ns' | 'bytes' | 'GB/s';
  /** `rank`: a whole number, or a text if it is one of several (RankLabel). */
  readonly type: 'text' | 'rank' | 'whole' | 'real';
  /** It says which or when, not how much. */
  readonly isName: boolean;
  readonly of: (row: Row) => Cell;
  /** On the page; '': it is not there. */
  readonly title: string;
  readonly shown: Shown;
}

interface Shown {
  /** A terminal has no room for it: it is in JSON and files. */
  readonly isOffTerminal?: true;
  /** On the page: what the title means; a bar behind the number; hidden on narrow screens; left out if all rows have the same value. */
  readonly about?: string;
  readonly bar?: true;
  readonly minor?: true;
  readonly ifVaries?: true;
}

export interface Table<Row> {
  readonly name: TableName;
  readonly columns: readonly Column<Row>[];
  /** What a terminal shows if it is wide enough, the most telling column first. Columns that are not named here follow. */
  readonly telling: readonly string[];
}

export type TableName =
  ShownName | 'groups' | 'pairs' | 'works' | 'all_to_alls' | 'exchanges' | 'steps' | 'training_steps';
/** Those that have a command of their own. */
export type ShownName = 'collectives' | 'links' | 'ranks' | 'waits';

const words = (names: string): string[] => names.split(/\s+/);

const column =
  (unit: Column<never>['unit'], type: Column<never>['type'], isName = false) =>
  <Row>(name: string, title: string, of: Column<Row>['of'], shown: Shown = {}): Column<Row> => ({
    ...{ name, unit, type, isName, of, title, shown },
  });
const named = column('', 'text', true);
const rank = column('', 'rank', true);
const number = column('', 'whole', true);
const count = column('', 'whole');
const share = column('', 'real');
const moment = column('ns', 'whole', true);
const ns = column('ns', 'whole');
const bytes = column('bytes', 'whole');
const rate = column('GB/s', 'real');

export const COLLECTIVES: Table<CollectiveRow> = {
  name: 'collectives',
  columns: [
    named('comm', '', (row) => row.comm),
    named('comm_id', '', (row) => row.commId, { isOffTerminal: true }),
    number('comm_size', '', (row) => row.commSize),
    named('func', 'Function', (row) => row.func),
    number('seq', 'Seq', (row) => row.seq),
    number('replay', '', (row) => row.replay),
    named('datatype', '', (row) => row.datatype),
    named('plan', '', (row) => row.plan),
    moment('start_ns', 'Start', (row) => row.startNs),
    ns('duration_ns', 'Duration', (row) => row.durationNs, { bar: true }),
    ns('skew_ns', 'Skew', (row) => row.skewNs),
    bytes('bytes', 'Size', (row) => row.bytes),
    rate('algbw_gbs', '', (row) => row.algbwGBs),
    rate('busbw_gbs', 'busbw GB/s', (row) => row.busbwGBs),
    rate('algbw_from_first_gbs', '', (row) => row.algbwFromFirstGBs, { isOffTerminal: true }),
    rate('busbw_from_first_gbs', '', (row) => row.busbwFromFirstGBs),
    rank('late_rank', 'Last', (row) => row.lateRank),
    count('ranks', '', (row) => row.ranks),
    named('outcome', 'Ended', (row) => row.outcome, { ifVaries: true }),
  ],
  telling:
    words(`func seq start_ns duration_ns comm skew_ns late_rank bytes busbw_gbs outcome plan algbw_gbs ranks
    replay busbw_from_first_gbs datatype comm_size`),
};

type GroupRow = RunReport['groups'][number];

/** Collectives by communicator, function and size class: of a report, and of no file. */
export const GROUPS: Table<GroupRow> = {
  name: 'groups',
  columns: [
    count('comm_size', 'Ranks', (row) => row.commSize),
    named('func', 'Function', (row) => row.func),
    bytes('bytes', 'Size', (row) => row.bytes),
    count('count', 'Count', (row) => row.count),
    ns('p50_ns', 'p50', (row) => row.durationP50Ns),
    ns('p99_ns', 'p99', (row) => row.durationP99Ns),
    ns('max_ns', 'Max', (row) => row.durationMaxNs),
    ns('skew_p50_ns', 'Skew p50', (row) => row.skewP50Ns),
    ns('skew_max_ns', 'Skew max', (row) => row.skewMaxNs),
    rate('algbw_gbs', 'algbw GB/s', (row) => row.algbwGBs, { minor: true }),
    rate('busbw_gbs', 'busbw GB/s', (row) => row.busbwGBs),
    share('achieved', 'Of allowed', (row) => row.achieved),
    rank('late_rank', 'Last most', (row) => row.lateRank),
  ],
  telling: [],
};

export const LINKS: Table<LinkRow> = {
  name: 'links',
  columns: [
    named('comm', '', (row) => row.comm),
    named('comm_id', '', (row) => row.commId, { isOffTerminal: true }),
    number('channel', 'Channel', (row) => row.channel),
    rank('source', 'From', (row) => row.source),
    rank('destination', 'To', (row) => row.destination),
    named('source_host', '', (row) => row.sourceHost),
    named('destination_host', '', (row) => row.destinationHost),
    count('transfers', 'Transfers', (row) => row.transfers),
    bytes('bytes', 'Bytes', (row) => row.bytes, { bar: true }),
    ns('mean_ns', 'Mean send', (row) => row.meanNs),
    count('sizes', '', (row) => row.sizes, { isOffTerminal: true }),
    ns('avg_latency_ns', 'Latency, avg', (row) => row.average?.latencyNs ?? null),
    rate('avg_rate_gbs', 'GB/s, avg', (row) => row.average?.rateGBs ?? null),
    share('avg_r2', 'R², avg', (row) => row.average?.r2 ?? null, { minor: true }),
    ns('min_latency_ns', 'Latency, min', (row) => row.least?.latencyNs ?? null),
    rate('min_rate_gbs', 'GB/s, min', (row) => row.least?.rateGBs ?? null),
    share('min_r2', 'R², min', (row) => row.least?.r2 ?? null, { isOffTerminal: true, minor: true }),
    count('timed_arrivals', '', (row) => row.onTheWay?.transfers ?? 0, { isOffTerminal: true }),
    ns('arrival_mean_ns', 'Until arrival', (row) => row.onTheWay && Math.round(row.onTheWay.meanNs)),
    ns('arrival_least_ns', '', (row) => row.onTheWay && Math.round(row.onTheWay.leastNs)),
    ns('arrival_bound_ns', '', (row) => row.onTheWay && Math.round(row.onTheWay.boundNs)),
    ns('sender_gpu_ns', 'Wait: GPU', (row) => row.senderGpuNs, { minor: true }),
    ns('sender_room_ns', 'Wait: room', (row) => row.senderRoomNs),
    ns('receiver_gpu_ns', 'Receiver’s GPU', (row) => row.receiverGpuNs),
  ],
  telling:
    words(`source destination channel bytes transfers mean_ns comm min_latency_ns min_rate_gbs arrival_mean_ns
    sender_room_ns sender_gpu_ns receiver_gpu_ns source_host destination_host avg_latency_ns
    avg_rate_gbs avg_r2 arrival_least_ns arrival_bound_ns`),
};

export const RANKS: Table<RankRow> = {
  name: 'ranks',
  columns: [
    rank('rank', 'Rank', (row) => row.rank),
    named('host', 'Host', (row) => row.host),
    number('local_rank', 'Local rank', (row) => row.localRank, { minor: true }),
    number('pid', '', (row) => row.pid),
    named('verdict', 'Verdict', (row) => row.label),
    named('life', 'Ended', (row) => row.life, { minor: true }),
    count('records', 'Records', (row) => row.records, { minor: true }),
    count('lost_slots', 'Lost', (row) => row.lostSlots, {
      about: 'slots of records that are lost',
      minor: true,
    }),
    count('collectives', '', (row) => row.collectives),
    ns('mean_late_ns', 'Mean lateness', (row) => row.meanLateNs, {
      about: 'mean time behind the first GPU to arrive',
    }),
    count('last_in', 'Waited for in', (row) => row.lastIn, {
      about: 'collectives in which all others waited for it alone',
    }),
    ns('alone_ns', 'Others waited for it', (row) => row.aloneNs, { bar: true }),
    bytes('sent_bytes', 'Sent', (row) => row.bytesSent),
    bytes('received_bytes', '', (row) => row.bytesReceived),
    ns('gpu_wait_ns', 'GPU', (row) => row.waits.gpu, { about: 'waited for its GPU' }),
    ns('peer_wait_ns', 'Room', (row) => row.waits.peer, { about: 'waited for room at the receiver' }),
    ns('send_wait_ns', 'Wire', (row) => row.waits.send),
    ns('recv_wait_ns', 'Data', (row) => row.waits.recv, { about: "waited for the peer's data" }),
    ns('flush_wait_ns', 'Flush', (row) => row.waits.flush, { minor: true }),
    named('file', '', (row) => row.file, { isOffTerminal: true }),
  ],
  telling:
    words(`rank host verdict alone_ns mean_late_ns last_in collectives gpu_wait_ns peer_wait_ns recv_wait_ns
    send_wait_ns flush_wait_ns sent_bytes received_bytes life lost_slots records local_rank pid`),
};

/** The steps of a training loop, as other tools recorded them (`merge --with`). */
export const TRAINING_STEPS: Table<ExposedStep> = {
  name: 'training_steps',
  columns: [
    rank('rank', 'Rank', (row) => row.rank),
    named('step', 'Step', (row) => row.step ?? '(whole file)'),
    moment('start_ns', 'Start', (row) => row.start, { isOffTerminal: true }),
    ns('duration_ns', 'Duration', (row) => row.duration),
    ns('nccl_ns', 'NCCL', (row) => row.nccl),
    ns('overlapped_ns', 'Overlapped', (row) => row.overlapped),
    ns('exposed_ns', 'Exposed', (row) => row.exposed, { bar: true }),
    count('exposed_percent', 'Exposed %', (row) => percent(row.exposed, row.duration)),
    count('overlap_percent', 'Overlap %', (row) => percent(row.overlapped, row.nccl)),
  ],
  telling: [],
};

const percent = (part: number, whole: number): number | null =>
  whole > 0 ? Math.round((1000 * part) / whole) / 10 : null;

export const WAITS: Table<WaitRow> = {
  name: 'waits',
  columns: [
    rank('rank', 'Rank', (row) => row.rank),
    rank('for_rank', 'Waited for', (row) => row.forRank),
    named('waits_for', 'To', (row) => row.waitsFor),
    named('comm', '', (row) => row.comm),
    named('comm_id', '', (row) => row.commId, { isOffTerminal: true }),
    count('transfers', 'Transfers', (row) => row.transfers, { minor: true }),
    ns('total_ns', 'Sum of waits', (row) => row.totalNs, {
      about: 'transfers run side by side: up to 8 per channel',
      bar: true,
    }),
    moment('open_since_ns', 'Still waits since', (row) => row.openSinceNs),
  ],
  telling: words(`rank for_rank waits_for total_ns open_since_ns comm transfers`),
};

/** The same columns for all channels of a pair of ranks together. */
export const PAIRS: Table<LinkRow> = { ...LINKS, name: 'pairs' };

/** What each rank called, as NCCL reported it: of tables that leave the program, not of those in a terminal. */
export const WORKS: Table<WorkTableRow> = {
  name: 'works',
  columns: [
    rank('rank', '', (row) => row.rank),
    number('work', '', (row) => row.work),
    named('comm', '', (row) => row.comm),
    named('comm_id', '', (row) => row.commId),
    named('func', '', (row) => row.func),
    number('seq', '', (row) => row.seq),
    rank('peer', '', (row) => row.peer),
    number('root', '', (row) => row.root),
    named('datatype', '', (row) => row.datatype),
    count('count', '', (row) => row.count),
    bytes('bytes', '', (row) => row.bytes),
    named('plan', '', (row) => row.plan),
    count('channels', '', (row) => row.channels),
    moment('call_ns', '', (row) => row.callNs),
    moment('enqueued_ns', '', (row) => row.enqueuedNs),
    moment('end_ns', '', (row) => row.endNs),
    named('outcome', '', (row) => row.outcome),
  ],
  telling: [],
};

export const ALL_TO_ALLS: Table<AllToAllRow> = {
  name: 'all_to_alls',
  columns: [
    named('comm', '', (row) => row.comm),
    named('comm_id', '', (row) => row.commId),
    number('comm_size', '', (row) => row.commSize),
    number('call', '', (row) => row.call),
    moment('start_ns', '', (row) => row.startNs),
    ns('duration_ns', '', (row) => row.durationNs),
    bytes('bytes', '', (row) => row.bytes),
    rank('most_rank', '', (row) => row.mostRank),
    named('most_way', '', (row) => row.mostWay),
    bytes('most_bytes', '', (row) => row.mostBytes),
    bytes('usual_bytes', '', (row) => row.usualBytes),
    rank('last_rank', '', (row) => row.lastRank),
    ns('last_by_ns', '', (row) => row.lastByNs),
    named('last_by_bytes', '', (row) =>
      row.isLastByBytes === null ? null : row.isLastByBytes ? 'yes' : 'no',
    ),
  ],
  telling: [],
};

export const EXCHANGES: Table<ExchangeRow> = {
  name: 'exchanges',
  columns: [
    named('comm', '', (row) => row.comm),
    named('comm_id', '', (row) => row.commId),
    rank('source', '', (row) => row.source),
    rank('destination', '', (row) => row.destination),
    count('sends', '', (row) => row.sends),
    bytes('bytes', '', (row) => row.bytes),
  ],
  telling: [],
};

export const TABLES = [COLLECTIVES, LINKS, PAIRS, RANKS, WAITS, WORKS, ALL_TO_ALLS, EXCHANGES] as const;
