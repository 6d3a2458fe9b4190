/** The tables of links: by pair of ranks, and by channel. */

import type { RunReport } from '../../report/run_report.js';
import { rankLabel } from './chart.js';
import { communicator } from './communicator.js';
import { h } from './dom.js';
import { bytes, count } from './format.js';
import { time } from './in_trace.js';
import { table, type Column } from './table.js';

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
      columns: linkColumns(report, new Map()),
    }),
    report.links.length > report.pairs.length
      ? h(
          'div',
          {},
          h('h3', {}, 'By channel'),
          table({
            name: 'channels',
            none: '',
            first: 8,
            rows: byChannel,
            columns: linkColumns(report, slow),
          }),
        )
      : null,
  );
}

const linkColumns = (
  report: RunReport,
  slow: ReadonlyMap<Link, { readonly ratio: number }>,
): Column<Link>[] => [
  { title: 'From', isName: true, of: (row) => row.source, show: rankLabel },
  { title: 'To', isName: true, of: (row) => row.destination, show: rankLabel },
  { title: 'Channel', isName: true, of: (row) => row.channel },
  communicator(report),
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

function line(mode: 'average' | 'least', name: string): Column<Link>[] {
  return [
    { title: `Latency, ${name}`, of: (row) => row[mode]?.latencyNs ?? null, show: time },
    { title: `GB/s, ${name}`, of: (row) => row[mode]?.rateGBs ?? null },
    { title: `R², ${name}`, of: (row) => row[mode]?.r2 ?? null, minor: true },
  ];
}
