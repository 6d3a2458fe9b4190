/** The tables of the page: their columns, and the format of their numbers. */

import type { RunReport } from '../../report/run_report.js';
import { rankLabel } from './chart.js';
import { h, shown } from './dom.js';
import { bytes, count, duration, timeOfDay } from './format.js';
import type { View } from './open_trace.js';
import { table, type Column } from './table.js';

type Show = ((view: View) => void) | null;

const time = (ns: number): string => (ns === 0 ? '0' : duration(ns));

/** A button for each row that lies somewhere in the trace. */
function inTrace<Row>(show: Show, viewOf: (row: Row) => View): Column<Row>[] {
  if (show === null) return [];
  return [
    {
      title: 'Trace',
      of: () => null,
      element: (row) => {
        const view = viewOf(row);
        if (view === null) return null;
        const onclick = (): void => {
          show(view);
        };
        return h(
          'button',
          { type: 'button', class: 'small', onclick, title: 'Open the trace there' },
          'Open',
        );
      },
    },
  ];
}

const around = (from: number, length: number): View => [
  Math.max(0, from - length / 2 - 1e6),
  from + 1.5 * length + 1e6,
];

export function waits(report: RunReport, show: Show): HTMLElement {
  return table({
    name: 'waits',
    none: 'No transfer waited for a peer.',
    first: 8,
    rows: report.waits,
    columns: [
      { title: 'Rank', of: (row) => row.rank, isName: true, show: rankLabel },
      { title: 'Waited for', of: (row) => row.forRank, isName: true, show: rankLabel },
      { title: 'To', of: (row) => (row.waitsFor === 'data' ? 'send data' : 'have room') },
      { title: 'Communicator', of: (row) => row.comm || row.commId },
      { title: 'In all', of: (row) => row.totalNs, show: time, bar: true },
      { title: 'Transfers', of: (row) => row.transfers, show: count, minor: true },
      {
        title: 'Still, since',
        of: (row) => row.openSinceNs,
        isName: true,
        show: (ns: number) => timeOfDay(report.run.traceStart, ns),
      },
      ...inTrace<RunReport['waits'][number]>(show, ({ openSinceNs }) =>
        openSinceNs === null ? null : around(openSinceNs, 20e6),
      ),
    ],
  });
}

export function ranks(report: RunReport): HTMLElement {
  return table({
    name: 'ranks',
    none: 'There is no rank.',
    rows: report.ranks,
    columns: [
      { title: 'Rank', of: (row) => row.rank, isName: true },
      { title: 'Host', of: (row) => row.host },
      { title: 'GPU', of: (row) => row.localRank, isName: true, minor: true },
      {
        title: 'Verdict',
        of: (row) => row.label,
        element: ({ label }) => (label === null ? null : h('span', { class: 'label' }, label)),
      },
      { title: 'Others waited for it', of: (row) => row.aloneNs, show: time, bar: true },
      {
        title: 'Mean lateness',
        about: 'mean time behind the first GPU to arrive',
        of: (row) => row.meanLateNs,
        show: time,
      },
      {
        title: 'Last on the GPU in',
        about: 'its GPU arrived last, by more than the clocks leave open',
        of: (row) => row.lastIn,
        show: (last: number, row) => `${last} of ${row.collectives}`,
      },
      { title: 'GPU', about: 'waited for its GPU', of: (row) => row.waits.gpu, show: time },
      { title: 'Room', about: 'waited for room at the receiver', of: (row) => row.waits.peer, show: time },
      { title: 'Wire', of: (row) => row.waits.send, show: time },
      { title: 'Data', about: "waited for the peer's data", of: (row) => row.waits.recv, show: time },
      { title: 'Flush', of: (row) => row.waits.flush, show: time, minor: true },
      { title: 'Sent', of: (row) => row.bytesSent, show: bytes },
      { title: 'Records', of: (row) => row.records, show: count, minor: true },
      {
        title: 'Lost',
        about: 'slots of records that are lost',
        minor: true,
        of: (row) => row.lostSlots,
        show: count,
      },
      { title: 'Ended', of: (row) => (row.life === 'closed' ? 'in order' : 'not closed'), minor: true },
    ],
  });
}

export function collectiveGroups({ groups }: RunReport): HTMLElement {
  const withFirst = (rate: number, { busbwFromFirstGBs }: { busbwFromFirstGBs: number | null }): string =>
    `${rate}${busbwFromFirstGBs === null ? '' : ` (${busbwFromFirstGBs})`}`;
  const allowed = ({ linksAllowGBs, peakGBs }: RunReport['groups'][number]): number =>
    Math.min(linksAllowGBs ?? Infinity, peakGBs ?? Infinity);
  return table({
    name: 'collectives by kind',
    none: 'No collective was seen.',
    rows: groups,
    columns: [
      { title: 'Communicator', of: (row) => row.comm || row.commId },
      { title: 'Ranks', of: (row) => row.commSize },
      { title: 'Function', of: (row) => row.func },
      { title: 'Size', of: (row) => row.bytes, show: bytes },
      { title: 'Count', of: (row) => row.count, show: count },
      { title: 'p50', of: (row) => row.durationP50Ns, show: time },
      { title: 'p99', of: (row) => row.durationP99Ns, show: time },
      { title: 'Max', of: (row) => row.durationMaxNs, show: time },
      { title: 'Skew p50', of: (row) => row.skewP50Ns, show: time },
      { title: 'Skew max', of: (row) => row.skewMaxNs, show: time },
      { title: 'algbw GB/s', of: (row) => row.algbwGBs, minor: true },
      { title: 'busbw GB/s', of: (row) => row.busbwGBs, show: withFirst },
      {
        title: 'Of allowed',
        of: (row) => row.achieved,
        show: (part: number, row) => `${Math.round(100 * part)} % of ${allowed(row)} GB/s`,
      },
      {
        title: 'Last most',
        of: (row) => row.lateRank,
        isName: true,
        show: (rank: number, row) => `${rankLabel(rank)}, ${row.lateIn} of ${row.named}`,
      },
    ],
  });
}

export function longest(report: RunReport, show: Show): HTMLElement {
  const { shown: rows, total } = report.collectives;
  const what = total > rows.length ? `${rows.length} of ${total}: what did not end, and the longest` : 'all';
  return h(
    'div',
    {},
    h('h3', {}, `Collectives (${what})`),
    table({
      name: 'collectives',
      none: 'No collective was seen.',
      first: 10,
      rows: [...rows].sort(
        (a, b) =>
          Number(a.outcome === 'complete') - Number(b.outcome === 'complete') ||
          (b.durationNs ?? 0) - (a.durationNs ?? 0),
      ),
      columns: [
        {
          title: 'Start',
          isName: true,
          of: (row) => row.startNs,
          show: (ns: number) => timeOfDay(report.run.traceStart, ns),
        },
        { title: 'Communicator', of: (row) => row.comm || row.commId },
        { title: 'Function', of: (row) => row.func },
        { title: 'Seq', of: (row) => row.seq },
        { title: 'Size', of: (row) => row.bytes, show: bytes },
        { title: 'Duration', of: (row) => row.durationNs, show: time, bar: true },
        { title: 'Skew', of: (row) => row.skewNs, show: time },
        { title: 'busbw GB/s', of: (row) => row.busbwGBs },
        { title: 'Last', of: (row) => row.lateRank, isName: true, show: rankLabel },
        { title: 'Ended', ifVaries: true, of: (row) => (row.outcome === 'complete' ? 'yes' : row.outcome) },
        ...inTrace<(typeof rows)[number]>(show, ({ startNs, durationNs }) =>
          around(startNs, durationNs ?? 50e6),
        ),
      ],
    }),
  );
}

type Link = RunReport['links'][number];

export function links(report: RunReport): HTMLElement {
  const slow = new Map(report.slowLinks.map((one) => [report.links[one.link]!, one]));
  const [most] = report.pairs;
  const summary = most
    ? `Most bytes: ${rankLabel(most.source)} to ${rankLabel(most.destination)}, ${bytes(most.bytes)} in ${count(most.transfers)} transfers.`
    : '';
  const finding =
    slow.size === 0
      ? 'No link is slow compared with its like, or there are too few to compare.'
      : `${slow.size} ${slow.size === 1 ? 'link is' : 'links are'} slow compared with links of the same communicator and kind.`;
  const byChannel = [...report.links].sort(
    (a, b) => Number(slow.has(b)) - Number(slow.has(a)) || b.bytes - a.bytes,
  );
  return h(
    'div',
    {},
    most ? h('p', { class: 'finding' }, `${summary} ${finding}`) : null,
    table({
      name: 'links',
      none: 'No transfer over the network was recorded.',
      first: 8,
      rows: report.pairs,
      columns: linkColumns(new Map()),
    }),
    report.links.length > report.pairs.length
      ? h(
          'div',
          {},
          h('h3', {}, 'By channel'),
          table({ name: 'channels', none: '', first: 8, rows: byChannel, columns: linkColumns(slow) }),
        )
      : null,
  );
}

const linkColumns = (slow: ReadonlyMap<Link, { readonly ratio: number }>): Column<Link>[] => [
  { title: 'From', isName: true, of: (row) => row.source, show: rankLabel },
  { title: 'To', isName: true, of: (row) => row.destination, show: rankLabel },
  { title: 'Channel', isName: true, of: (row) => row.channel },
  { title: 'Communicator', of: (row) => row.comm || row.commId },
  {
    title: 'Hosts',
    of: (row) => `${row.sourceHost} → ${row.destinationHost ?? '?'}`,
    minor: true,
    ifVaries: true,
  },
  { title: 'Bytes', of: (row) => row.bytes, show: bytes, bar: true },
  { title: 'Transfers', of: (row) => row.transfers, show: count },
  { title: 'Mean send', of: (row) => row.meanNs, show: time },
  {
    title: 'Until arrival',
    of: (row) => row.onTheWay && Math.round(row.onTheWay.meanNs),
    show: (ns: number, { onTheWay }) =>
      onTheWay!.boundNs > 0 ? `${time(ns)} ± ${time(onTheWay!.boundNs)}` : time(ns),
  },
  {
    title: 'Against its like',
    of: (row) => slow.get(row)?.ratio ?? null,
    show: (ratio: number) => `${ratio < 10 ? Number(ratio.toFixed(1)) : Math.round(ratio)} times`,
  },
  ...line('average', 'avg'),
  ...line('least', 'min'),
  { title: 'Wait: GPU', of: (row) => row.senderGpuNs, show: time, minor: true },
  { title: 'Wait: room', of: (row) => row.senderRoomNs, show: time },
  { title: 'Receiver’s GPU', of: (row) => row.receiverGpuNs, show: time },
];

/**
 * Without lines that explain less than half of the variance or have a time below zero: they say nothing. The tables for notebooks have all
 * lines.
 */
const fits = (found: Link['average']): Link['average'] =>
  found && found.r2 >= 0.5 && found.latencyNs >= 0 ? found : null;

function line(mode: 'average' | 'least', name: string): Column<Link>[] {
  return [
    { title: `Latency, ${name}`, of: (row) => fits(row[mode])?.latencyNs ?? null, show: time },
    { title: `GB/s, ${name}`, of: (row) => fits(row[mode])?.rateGBs ?? null },
    { title: `R², ${name}`, of: (row) => fits(row[mode])?.r2 ?? null, minor: true },
  ];
}

export function clocks({ clocks: rows }: RunReport): HTMLElement {
  if (rows.length === 1)
    return h('p', {}, 'All ranks read one counter: their times are exact against each other.');
  return table({
    name: 'clocks',
    none: '',
    rows,
    columns: [
      { title: 'Host', of: (row) => row.host },
      { title: 'Placed by', of: (row) => row.source },
      { title: '99 % bound', of: (row) => row.bound99, show: time },
      { title: 'Hard bound', of: (row) => row.hardBound, show: time },
      { title: 'Drift ppm', of: (row) => Number(row.driftPpm.toFixed(3)) },
      { title: 'Ranks', of: (row) => row.ranks.length },
      { title: 'Contradictions', of: (row) => row.violations },
    ],
  });
}

export function made({ made: { by, options, files }, problems, run }: RunReport): HTMLElement {
  const lost =
    problems.length === 0 ? null : h('ul', {}, ...problems.map((problem) => h('li', {}, shown(problem))));
  const bytesRead = files.reduce((sum, file) => sum + file.bytes, 0);
  const facts = `${by}${options === '' ? '' : `, ${shown(options)}`}: ${count(files.length)} files, ${bytes(bytesRead)}, ${count(run.records)} records.`;
  return h(
    'div',
    {},
    h('p', {}, facts),
    lost,
    table({
      name: 'files',
      none: '',
      first: 4,
      rows: files,
      columns: [
        { title: 'File', of: (row) => row.path },
        { title: 'Size', of: (row) => row.bytes, show: bytes },
        { title: 'Recorder', of: (row) => row.recorder },
      ],
    }),
  );
}
