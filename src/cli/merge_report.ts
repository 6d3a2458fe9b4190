/**
 * The closing report of `merge`: what was read, what is missing, what was lost and by which cause, how good the clocks
 * are, what had not ended, where to open the result. At most 80 columns; equal ranks are folded.
 */

import type { MergeReport, RankReport } from '../merge/report.js';
import { foldRanks, printable } from './text.js';

export function mergeReportText(report: MergeReport): string {
  const lines = [
    ...headline(report),
    ...openWork(report),
    ...losses(report),
    ...clocks(report),
    ...doubts(report),
    ...report.problems.map((problem) => `problem: ${printable(problem)}`),
    `trace: ${printable(report.output)} (${size(report.bytes)}, ${report.trace.slices} slices, ${report.trace.flows} arrows)`,
    ...(report.output === '-' ? [] : ['open it in https://ui.perfetto.dev (nothing is uploaded)']),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function headline({ ranks, worldSize, missingRanks, records, durationNs }: MergeReport): string[] {
  const of = worldSize > ranks.length ? ` of ${worldSize}` : '';
  const lines = [`${ranks.length}${of} ranks, ${records} records, ${seconds(durationNs)}`];
  if (missingRanks.length > 0) lines.push(`missing: no file of rank ${foldRanks(missingRanks)}`);
  const live = ranks.filter((rank) => rank.life !== 'closed');
  if (live.length > 0)
    lines.push(`not closed: rank ${foldRanks(live.map((rank) => rank.rank))} (killed, or still running)`);
  return lines;
}

/** One line per operation that had not ended, with the ranks it was open on. */
function openWork({ ranks }: MergeReport): string[] {
  const byWork = new Map<string, (number | null)[]>();
  for (const { rank, open } of ranks) {
    for (const { comm, func, seq } of open) {
      const key = `${printable(func)}${seq === null ? '' : ` seq ${seq}`} on ${printable(comm)}`;
      byWork.set(key, [...(byWork.get(key) ?? []), rank]);
    }
  }
  const lines = [...byWork].map(([work, members]) => `not finished: ${work}, on rank ${foldRanks(members)}`);
  return lines.length <= 6
    ? lines
    : [...lines.slice(0, 5), `not finished: ${lines.length - 5} more operations`];
}

function losses({ ranks }: MergeReport): string[] {
  const sum = (pick: (rank: RankReport) => number): number =>
    ranks.reduce((total, rank) => total + pick(rank), 0);
  const overwritten = sum((rank) => rank.lost.overwritten);
  const torn = sum((rank) => rank.lost.torn);
  const copy = sum((rank) => rank.lost.copy);
  const lines = [`lost: ${overwritten} slots overwritten in full rings, ${torn} torn`];
  const dropped = sum((rank) => rank.lost.dropped);
  if (dropped > 0) lines.push(`lost: ${dropped} slots dropped with the oldest chunks (disk limit)`);
  if (copy > 0) lines.push(`lost: ${copy} slots written while the files were being copied`);
  const before = sum((rank) => rank.beganBefore);
  if (before > 0)
    lines.push(`began before the window: ${before} records of events whose start was overwritten`);
  const folded = sum((rank) => rank.folded);
  if (folded > 0) lines.push(`folded: ${folded} repeated polls, kept as counts`);
  const muted = sum((rank) => rank.muted);
  if (muted > 0) lines.push(`sampled out: ${muted} callbacks`);
  const notRecorded = sum((rank) => rank.work.notRecorded);
  if (notRecorded > 0) lines.push(`completion not recorded: ${notRecorded} operations`);
  return lines;
}

function clocks({ clocks: domains }: MergeReport): string[] {
  const flagged = domains.flatMap((domain) => domain.flags.filter((flag) => flag !== 'realtime-only'));
  const lines =
    domains.length === 1
      ? ['clocks: one counter for all ranks, exact']
      : [
          `clocks: ${domains.length} hosts placed by their wall clocks (NTP): error unknown, no arrows between them`,
        ];
  return flagged.length === 0 ? lines : [...lines, `clocks: ${[...new Set(flagged)].join(', ')}`];
}

/** What is odd and was counted; silent when there is nothing. */
function doubts({ ranks }: MergeReport): string[] {
  const lines: string[] = [];
  const stray = ranks.reduce((total, rank) => total + rank.strayRecords, 0);
  if (stray > 0)
    lines.push(`stray: ${stray} states or stops that fit no event here (late, repeated, foreign)`);
  const suspects = ranks.reduce((total, rank) => total + rank.suspectKernels, 0);
  if (suspects > 0)
    lines.push(`suspect: ${suspects} kernel timestamps that cannot be true, drawn as noticed`);
  for (const rank of ranks) {
    for (const [what, count] of Object.entries(rank.unknown))
      lines.push(`unknown on rank ${rank.rank}: ${what}, ${count} times`);
    for (const problem of rank.problems) lines.push(`rank ${rank.rank}: ${printable(problem)}`);
  }
  return lines;
}

function seconds(ns: number): string {
  return ns < 1e9 ? `${(ns / 1e6).toFixed(1)} ms` : `${(ns / 1e9).toFixed(1)} s`;
}

function size(bytes: number): string {
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
