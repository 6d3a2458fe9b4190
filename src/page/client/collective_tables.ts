/** The tables of collectives: by kind, and the longest. */

import type { RunReport } from '../../report/run_report.js';
import { COLLECTIVES, GROUPS } from '../../report/run_tables.js';
import { rankLabel } from './chart.js';
import { communicator } from './communicator.js';
import { described } from './described.js';
import { h } from './dom.js';
import { around, inTrace, type Show } from './in_trace.js';
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
    columns: described(GROUPS, {
      first: [communicator()],
      otherwise: {
        busbw_gbs: { show: withFirst },
        achieved: {
          show: (part: number, row) => `${Math.round(100 * part)} % of ${allowed(row)} GB/s`,
        },
        late_rank: { show: (rank: number, row) => `${rankLabel(rank)}, ${row.lateIn} of ${row.named}` },
      },
      traceStart: report.run.traceStart,
    }),
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
