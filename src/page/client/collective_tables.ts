/** The tables of collectives: by kind, and the longest. */

import type { RunReport } from '../../report/run_report.js';
import { COLLECTIVES } from '../../report/run_tables.js';
import { rankLabel } from './chart.js';
import { communicator } from './communicator.js';
import { described } from './described.js';
import { h } from './dom.js';
import { bytes, count } from './format.js';
import { around, inTrace, time, type Show } from './in_trace.js';
import { table } from './table.js';

export function collectiveGroups(report: RunReport): HTMLElement {
  const { groups } = report;
  const withFirst = (rate: number, { busbwFromFirstGBs }: { busbwFromFirstGBs: number | null }): string =>
    `${rate}${busbwFromFirstGBs === null ? '' : ` (${busbwFromFirstGBs})`}`;
  const allowed = ({ linksAllowGBs, peakGBs }: RunReport['groups'][number]): number =>
    Math.min(linksAllowGBs ?? Infinity, peakGBs ?? Infinity);
  return table({
    name: 'collectives by kind',
    none: 'No collective was seen.',
    rows: groups,
    columns: [
      communicator(),
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
        ...described(COLLECTIVES, {
          first: ['start_ns', communicator(), 'func', 'seq', 'bytes'],
          otherwise: {
            seq: { isName: false },
            late_rank: { show: rankLabel },
            outcome: { of: ({ outcome }) => (outcome === 'complete' ? 'yes' : outcome) },
          },
          traceStart: report.run.traceStart,
        }),
        ...inTrace<(typeof rows)[number]>(show, ({ startNs, durationNs }) =>
          around(startNs, durationNs ?? 50e6),
        ),
      ],
    }),
  );
}
