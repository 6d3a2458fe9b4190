/** The tables of waits, ranks, clocks and files. Links and collectives have files of their own. */

import { mostSuspectFirst } from '../../base/suspect_labels.js';
import type { RunReport } from '../../report/run_report.js';
import { RANKS, TRAINING_STEPS, WAITS } from '../../report/run_tables.js';
import { rankLabel } from './chart.js';
import { communicator } from './communicator.js';
import { described } from './described.js';
import { h, shown } from './dom.js';
import { bytes, count } from './format.js';
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
      ...described(WAITS, {
        first: ['rank', 'for_rank', 'waits_for', communicator(), 'total_ns'],
        otherwise: {
          rank: { show: rankLabel },
          for_rank: { show: rankLabel },
          waits_for: { of: (row) => (row.waitsFor === 'data' ? 'send data' : 'have room') },
        },
        traceStart: report.run.traceStart,
      }),
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
    columns: described(RANKS, {
      first: [
        ...['rank', 'host', 'local_rank', 'verdict', 'alone_ns', 'mean_late_ns', 'last_in'],
        ...['gpu_wait_ns', 'peer_wait_ns', 'send_wait_ns', 'recv_wait_ns', 'flush_wait_ns'],
        ...['sent_bytes', 'records', 'lost_slots'],
      ],
      otherwise: {
        verdict: {
          element: ({ label }) => (label === null ? null : h('span', { class: 'label' }, label)),
        },
        last_in: { show: (last: number, row) => `${last} of ${row.collectives}` },
        life: { of: (row) => (row.life === 'closed' ? 'in order' : 'not closed') },
      },
      traceStart: report.run.traceStart,
    }),
  });
}

export function trainingSteps(
  { trainingSteps: steps, run: { traceStart } }: RunReport,
  show: Show,
): HTMLElement {
  return table({
    name: 'training steps',
    none: 'No kernel of NCCL is in these files.',
    rows: steps,
    columns: [
      ...described(TRAINING_STEPS, { first: [], traceStart }),
      ...inTrace<RunReport['trainingSteps'][number]>(show, ({ start, duration }) => around(start, duration)),
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
        { title: 'NCCL', of: (row) => row.nccl ?? 'unknown' },
      ],
    }),
  );
}
