/** The tables of links: by pair of ranks, and by channel. */

import type { RunReport } from '../../report/run_report.js';
import { LINKS } from '../../report/run_tables.js';
import { rankLabel } from './chart.js';
import { communicator } from './communicator.js';
import { described } from './described.js';
import { h } from './dom.js';
import { bytes, count } from './format.js';
import { time } from './in_trace.js';
import { table, type Column } from './table.js';

type Link = RunReport['links'][number];

export function links(report: RunReport): HTMLElement {
  const slow = new Map(report.slowLinks.map((one) => [report.links[one.link]!, one]));
  const [most] = report.pairs;
  const summary = most
    ? `Most bytes: ${rankLabel(most.source)} to ${rankLabel(most.destination)}, ${most.bytes === null ? '' : `${bytes(most.bytes)} in `}${count(most.transfers)} transfers.`
    : '';
  const finding =
    slow.size === 0
      ? 'No link is slow compared with its like, or there are too few to compare.'
      : `${slow.size} ${slow.size === 1 ? 'link is' : 'links are'} slow compared with links of the same communicator and kind.`;
  const byChannel = [...report.links].sort(
    (a, b) => Number(slow.has(b)) - Number(slow.has(a)) || (b.bytes ?? 0) - (a.bytes ?? 0),
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
): Column<Link>[] =>
  described(LINKS, {
    first: [
      ...['source', 'destination', 'channel'],
      communicator(),
      {
        title: 'Hosts',
        of: (row) => `${row.sourceHost} → ${row.destinationHost ?? '?'}`,
        minor: true,
        ifVaries: true,
      },
      ...['bytes', 'transfers', 'mean_ns', 'arrival_mean_ns'],
      {
        title: 'Against its like',
        of: (row) => slow.get(row)?.ratio ?? null,
        show: (ratio: number) => `${ratio < 10 ? Number(ratio.toFixed(1)) : Math.round(ratio)} times`,
      },
    ],
    otherwise: {
      source: { show: rankLabel },
      destination: { show: rankLabel },
      arrival_mean_ns: {
        show: (ns: number, { onTheWay }) =>
          onTheWay!.boundNs > 0 ? `${time(ns)} ± ${time(onTheWay!.boundNs)}` : time(ns),
      },
    },
    traceStart: report.run.traceStart,
  });
