/**
 * The closing report of `merge`: what was read, what is missing, lost records by cause, quality of the clocks, unfinished work, the trace.
 * The verdict is last, where a small terminal still shows it. At most 80 columns except for the link. Equal ranks share a line.
 */

import { addTo } from '../base/grouped.js';
import { durationText } from '../base/duration.js';
import { maxOf } from '../base/extremes.js';
import type { OpenWork, RankReport } from './rank_report.js';
import type { MergeReport } from './report.js';
import { PERFETTO, startupLink } from '../trace/startup.js';
import { stallOf } from '../verdict/facts/suspects.js';
import { clockLines } from './clock_text.js';
import { foreignLines } from './foreign_text.js';
import { openNext } from './next_command.js';
import { selectionLines } from './selection_text.js';
import { foldRanks, printable, size } from './text.js';
import { verdictText } from './verdict_text.js';
import { allRanks, countRanks, few } from './verdict_phrases.js';

export interface MergeTextOptions {
  /** It has no room for more than 15 lines of a verdict. */
  readonly isTerminal?: boolean;
  /** Also print the link that shows the trace's first screen, for a trace that is opened by hand. */
  readonly link?: boolean | undefined;
}

export function mergeReportText(report: MergeReport, { isTerminal, link }: MergeTextOptions = {}): string {
  const saysClocks = report.clocks.length > 1;
  const lines = [
    ...headline(report),
    ...selectionLines(report),
    ...unfinished(report),
    ...copies(report),
    ...losses(report),
    ...notReported(report),
    ...(saysClocks ? clockLines(report) : []),
    ...withoutArrows(report),
    ...doubts(report),
    ...foreignLines(report.foreign),
    ...report.problems.map((problem) => `problem: ${printable(problem)}`),
    `trace: ${printable(report.output)} (${size(report.bytes)}, ${report.trace.slices} slices, ${report.trace.flows} arrows)`,
    ...howToOpen(report, link),
    ...verdictText(report, [openNext(report.output)], { isTerminal, saysClocks }),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** A browser on another machine cannot reach `open`. For a copied trace the link shows the same screen. */
function howToOpen({ output, startup }: MergeReport, link = false): string[] {
  return [
    ...(link ? ['follow this link and open the trace there:', startupLink(PERFETTO, null, startup)] : []),
    ...(output.endsWith('.zst') ? ['a Perfetto UI older than v58 needs it unpacked first (zstd -d)'] : []),
  ];
}

function headline({ ranks, worldSize, records, durationNs }: MergeReport): string[] {
  const present = countRanks(ranks);
  const of = worldSize > present ? ` of ${worldSize}` : '';
  const lines = [`${present}${of} ranks, ${records} records, ${durationText(durationNs)}`];
  const live = ranks.filter((rank) => rank.life !== 'closed');
  if (live.length > 0)
    lines.push(`not closed: rank ${foldRanks(live.flatMap(allRanks))} (killed, or still running)`);
  return lines;
}

/** One line per communicator. */
function withoutArrows({ outOfStep }: MergeReport): string[] {
  return [...new Set(outOfStep.map(({ commId }) => commId))].map((commId) => {
    const those = outOfStep.filter((one) => one.commId === commId);
    const operations = those.reduce((sum, one) => sum + one.operations, 0);
    const comm = printable(those[0]!.comm || commId);
    return `arrows: none for ${operations} operations on ${those.length} connections of ${comm}: their ends differ`;
  });
}

/** By communicator, function and number: replays of a graph count as one here. */
const callKey = ({ commId, func, seq }: Pick<OpenWork, 'commId' | 'func' | 'seq'>): string =>
  `${commId} ${func} ${seq}`;

/** One line per unfinished operation that the verdict does not name, with its ranks. */
function unfinished({ ranks, verdict }: MergeReport): string[] {
  const stuck = stallOf(verdict) ? verdict.findings.flatMap(({ where }) => where ?? []) : [];
  const said = new Set(stuck.map(callKey));
  const unnamed = (works: readonly OpenWork[]): OpenWork[] =>
    works.filter((work) => !said.has(callKey(work)));
  return [
    ...workLines('not finished', ranks, (rank) => unnamed(rank.open)),
    ...workLines('aborted, not finished at finalize', ranks, (rank) => unnamed(rank.aborted)),
  ];
}

function workLines(
  title: string,
  ranks: readonly RankReport[],
  pick: (rank: RankReport) => readonly OpenWork[],
): string[] {
  const nameOf = ({ comm, func, seq, peer }: OpenWork): string => {
    const which = seq !== null ? ` seq ${seq}` : peer !== null ? ` with ${peer}` : '';
    return `${printable(func)}${which} on ${printable(comm)}`;
  };
  const lines = [...ranksByText(ranks, (rank) => pick(rank).map(nameOf))].map(
    ([work, members]) => `${title}: ${work}, on rank ${foldRanks(members)}`,
  );
  return fewLines(lines, title);
}

/** Text → the ranks that have it. */
function ranksByText(
  ranks: readonly RankReport[],
  textsOf: (rank: RankReport) => readonly string[],
): Map<string, (number | null)[]> {
  const byText = new Map<string, (number | null)[]>();
  for (const rank of ranks)
    for (const text of textsOf(rank)) for (const one of allRanks(rank)) addTo(byText, text, one);
  return byText;
}

function fewLines(lines: readonly string[], title: string): string[] {
  return lines.length <= 6 ? [...lines] : [...lines.slice(0, 5), `${title}: ${lines.length - 5} more`];
}

/** Files whose rings are outside: events after the copy may be missing without a gap. */
function copies({ ranks }: MergeReport): string[] {
  const of = (members: readonly RankReport[]): string => `rank ${foldRanks(members.flatMap(allRanks))}`;
  const never = ranks.filter(({ ringCopyAge }) => ringCopyAge === null);
  const ages = ranks.flatMap(({ ringCopyAge }) => (typeof ringCopyAge === 'number' ? [ringCopyAge] : []));
  const lines: string[] = [];
  if (never.length > 0) lines.push(`rings outside the file and never copied into it: ${of(never)}`);
  if (ages.length > 0) {
    const copied = ranks.filter(({ ringCopyAge }) => typeof ringCopyAge === 'number');
    lines.push(
      `rings are copies: ${of(copied)}, up to ${maxOf(ages).toFixed(1)} s older than the last sign of life`,
    );
  }
  if (lines.length > 0)
    lines.push(
      '"nccl-trace snapshot" on the node copies the newest, --ring-dir FOLDER if they are not in /dev/shm',
    );
  return lines;
}

/** Beside what the verdict says of lost records. */
function losses({ ranks }: MergeReport): string[] {
  const sum = sumOver(ranks);
  const lines: string[] = [];
  const before = sum((rank) => rank.beganBefore);
  if (before > 0)
    lines.push(
      `began before the window: ${before} records of events whose start was overwritten${ranks.some(({ unread }) => unread > 0) ? ' or not read' : ''}`,
    );
  const folded = sum((rank) => rank.folded);
  if (folded > 0) lines.push(`folded: ${folded} repeated polls, kept as counts`);
  const muted = sum((rank) => rank.muted);
  if (muted > 0) lines.push(`sampled out: ${muted} callbacks`);
  return lines;
}

/** What NCCL does not report, or reports in another process. */
function notReported({ ranks }: MergeReport): string[] {
  const lines: string[] = [];
  const sum = sumOver(ranks);
  const calls = new Map<string, number>();
  for (const { callsOnly } of ranks)
    for (const [func, count] of Object.entries(callsOnly)) calls.set(func, (calls.get(func) ?? 0) + count);
  const most = [...calls].sort((a, b) => b[1] - a[1]);
  if (most.length > 0) {
    const shown = most.slice(0, 3).map(([func, count]) => `${count} ${printable(func)}`);
    const rest = most.length > 3 ? `, ${most.length - 3} more functions` : '';
    lines.push(`only calls are known, not their ends: ${shown.join(', ')}${rest}`);
  }
  const endless = sum((rank) => rank.endlessOps);
  if (endless > 0) lines.push(`end not reported by NCCL: ${endless} proxy operations (CollNet, memcpy)`);
  return [...lines, ...pxn(ranks)];
}

function pxn(ranks: readonly RankReport[]): string[] {
  const sum = sumOver(ranks);
  const ops = sum((rank) => rank.pxn.ops);
  if (ops === 0) return [];
  const unexplained = sum((rank) => rank.pxn.unexplained);
  const lines = [`executed for other ranks (PXN): ${ops} sends`];
  if (unexplained > 0) {
    const pids = [...new Set(ranks.flatMap((rank) => rank.pxn.pids))];
    lines.push(
      `missing: the files of the ranks that ${unexplained} of them were for (pid ${few(pids.map(String), 3)})`,
    );
  }
  return lines;
}

const sumOver =
  (ranks: readonly RankReport[]) =>
  (pick: (rank: RankReport) => number): number =>
    ranks.reduce((total, rank) => total + pick(rank), 0);

/** Counts of odd records; empty if there are none. */
function doubts({ ranks }: MergeReport): string[] {
  const sum = sumOver(ranks);
  const counted: readonly (readonly [number, string])[] = [
    [sum((rank) => rank.strayRecords), 'states or stops that fit no event (late, repeated, foreign)'],
    [sum((rank) => rank.staleParents), 'events with a parent of earlier work (stale parents)'],
    [sum((rank) => rank.startsAgain), 'operations or kernels begun again while under way'],
    [sum((rank) => rank.stepsWithoutStop), 'steps that NCCL never stopped, ended with their operation'],
    [sum((rank) => rank.afterFinalize), 'events of communicators already finalized'],
    [sum((rank) => rank.nullCalls), 'stops and states of NULL, as NCCL sends them; nothing is missing'],
  ];
  const lines = counted.filter(([count]) => count > 0).map(([count, what]) => `stray: ${count} ${what}`);
  const suspects = sum((rank) => rank.suspectKernels);
  if (suspects > 0)
    lines.push(`suspect: ${suspects} kernel timestamps that cannot be true, drawn as noticed`);
  const unstarted = sum((rank) => rank.kernelsWithoutStart);
  if (unstarted > 0) lines.push(`suspect: ${unstarted} kernels ended, and NCCL never reported their start`);
  return [...lines, ...unknown(ranks), ...problems(ranks)];
}

function unknown(ranks: readonly RankReport[]): string[] {
  const byWhat = new Map<string, { count: number; members: (number | null)[] }>();
  for (const rank of ranks) {
    for (const [what, count] of Object.entries(rank.unknown)) {
      const { count: before, members } = byWhat.get(what) ?? { count: 0, members: [] };
      byWhat.set(what, { count: before + count, members: [...members, ...allRanks(rank)] });
    }
  }
  const lines = [...byWhat].map(
    ([what, { count, members }]) => `unknown: ${what}, ${count} times on rank ${foldRanks(members)}`,
  );
  return fewLines(lines, 'unknown');
}

const problems = (ranks: readonly RankReport[]): string[] =>
  [...ranksByText(ranks, (rank) => rank.problems)].map(
    ([text, members]) => `rank ${foldRanks(members)}: ${printable(text)}`,
  );
