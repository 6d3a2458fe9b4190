/** The tables of waits, ranks, clocks and files. Links and collectives have files of their own. */

import { mostSuspectFirst } from '../../base/suspect_labels.js';
import type { RunReport } from '../../report/run_report.js';
import { rankLabel } from './chart.js';
import { communicator } from './communicator.js';
import { h, shown } from './dom.js';
import { bytes, count, timeOfDay } from './format.js';
import { around, inTrace, time, type Show } from './in_trace.js';
import { table } from './table.js';

export function waits(report: RunReport, show: Show): HTMLElement {
  const dead = new Set(report.ranks.filter(({ label }) => label === 'SILENT').map(({ rank }) => rank));
  const isDead = (rank: RunReport['waits'][number]['rank']): boolean => dead.has(rank);
  return table({
    name: 'waits',
    none: 'No transfer waited for a peer.',
    first: 8,
    // What a dead rank waited for says little: the living come first.
    rows: [...report.waits].sort((a, b) => Number(isDead(a.rank)) - Number(isDead(b.rank))),
    columns: [
      { title: 'Rank', of: (row) => row.rank, isName: true, show: rankLabel },
      { title: 'Waited for', of: (row) => row.forRank, isName: true, show: rankLabel },
      { title: 'To', of: (row) => (row.waitsFor === 'data' ? 'send data' : 'have room') },
      communicator(report),
      {
        title: 'Sum of waits',
        about: 'transfers run side by side: up to 8 per channel',
        of: (row) => row.totalNs,
        show: time,
        bar: true,
      },
      { title: 'Transfers', of: (row) => row.transfers, show: count, minor: true },
      {
        title: 'Still waits since',
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
    rows: [...report.ranks].sort(mostSuspectFirst),
    columns: [
      { title: 'Rank', of: (row) => row.rank, isName: true },
      { title: 'Host', of: (row) => row.host },
      { title: 'Local rank', of: (row) => row.localRank, isName: true, minor: true },
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
        title: 'Waited for in',
        about: 'collectives in which all others waited for it alone',
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
