/** The verdict in words: at most 15 lines of at most 80 columns, the first of which says it all. `--summary` has the rest. */

import type { Diagnosis } from '../merge/diagnosis.js';
import type { Front, Hang, Slowness, StandingCall, Stray, Verdict, Working } from '../verdict/types.js';
import { cut, foldRanks, printable } from './text.js';

/** What a person needs to read file numbers and trace times. */
export type VerdictReport = Omit<Diagnosis, 'problems'>;

const COLUMNS = 80;
const LINES = 15;
/** Groups of ranks that stand in the same call; further ones are counted. */
const MOST_STRAYS = 2;
/** Of a name that a line has room for. */
const NAME = 28;

export function verdictText(report: VerdictReport): string[] {
  const { verdict } = report;
  const lines = [...verdictLines(verdict, report), ...missing(report), ...limits(report)];
  const next = verdict.kind === 'hung' ? nextCommand(verdict.hang, report) : [];
  const room = LINES - next.length;
  const shown =
    lines.length <= room ? lines : [...lines.slice(0, room - 1), '  and more: see --summary (JSON)'];
  return [...shown, ...next].map(fit);
}

function verdictLines(verdict: Verdict, report: VerdictReport): string[] {
  switch (verdict.kind) {
    case 'hung':
      return hung(verdict.hang, report);
    case 'slow':
      return slow(verdict.slow, report);
    case 'working':
      return working(verdict.working, report);
    case 'healthy':
      return [
        isWhole(report)
          ? 'HEALTHY  everything that began also ended'
          : 'HEALTHY  nothing unfinished was seen, as far as is recorded',
      ];
    case 'nothing':
      return ['NOTHING  to judge: no collective, send or receive was told of beyond its call'];
  }
}

const isWhole = ({ verdict, missingRanks }: VerdictReport): boolean =>
  verdict.untold === 0 && verdict.partial.length === 0 && missingRanks.length === 0;

function hung(hang: Hang, report: VerdictReport): string[] {
  const { waiting, notKnown, different, aborted, neverEntered, alsoHung, waits, front, silent } = hang;
  const verb = aborted.length > 0 ? 'HUNG, then ABORTED' : 'HUNG';
  const clocks = report.verdict.lateness ? '' : " (hosts' wall clocks)";
  const lines = [
    `${verb} for ${duration(hang.age)}: ${callText(hang)} (${hang.nRanks} ranks)`,
    `  nothing of it moved on any rank here since ${clock(report, hang.since)}${clocks}`,
    ...strays(hang, report),
  ];
  if (neverEntered.length > 0 && waiting.length === 0)
    lines.push('  the others entered; whether it ended there NCCL did not tell');
  if (different.length > 0)
    lines.push(`  entered with another count or datatype: ${rankList(different, report)}`);
  const unfinished = waiting.filter((file) => !aborted.includes(file));
  if (unfinished.length > 0) lines.push(`  entered, not finished: ${rankList(unfinished, report)}`);
  if (aborted.length > 0) lines.push(`  entered, not finished when finalized: ${rankList(aborted, report)}`);
  if (notKnown.length > 0) lines.push(`  not known, no records of that time: ${rankList(notKnown, report)}`);
  for (const { file, lastSign } of silent.slice(0, 1)) {
    const since = lastSign === null ? '' : ` since ${clock(report, lastSign)}`;
    const more = silent.length > 1 ? `, and ${rankList(filesOf(silent.slice(1)), report)}` : '';
    lines.push(`  no sign of life: rank ${rankName(report, file)}${since}${more}`);
  }
  if (front) lines.push(`  look at rank ${rankName(report, front.file)}: ${frontText(front, report)}`);
  if (waits.length > 0)
    lines.push(`  waiting operations: ${waits.map(([name, count]) => `${count} ${name}`).join(', ')}`);
  if (alsoHung.length > 0) lines.push(`  standing too: ${few(alsoHung.map(callText), 3)}`);
  return lines;
}

/** Ranks that never came, together where they stand in the same call. */
function strays({ neverEntered, seq }: Hang, report: VerdictReport): string[] {
  const groups = new Map<string, Stray[]>();
  for (const stray of neverEntered) {
    const { standsIn } = stray;
    const key = standsIn ? `${standsIn.commId} ${callText(standsIn)}` : '';
    groups.set(key, [...(groups.get(key) ?? []), stray]);
  }
  const title = seq === null ? 'the other side' : 'never entered';
  const all = [...groups.values()];
  const lines = all.slice(0, MOST_STRAYS).flatMap((group) => strayLines(title, group, report));
  const rest = all.slice(MOST_STRAYS).flat();
  return rest.length === 0 ? lines : [...lines, `  ${title}: ${rankList(filesOf(rest), report)} as well`];
}

function strayLines(title: string, group: readonly Stray[], report: VerdictReport): string[] {
  const [{ file, standsIn }] = group as [Stray];
  const host = group.length === 1 ? ` on ${name(report.ranks[file]!.host)}` : '';
  const who = `  ${title}: ${rankList(filesOf(group), report)}${host}`;
  if (!standsIn) return [who, '    nothing that it had begun there or elsewhere is unfinished'];
  const { front } = standsIn;
  const lines = [who, `    stands in ${callText(standsIn)}`];
  return front ? [...lines, `    rank ${rankName(report, file)}: ${frontText(front, report)}`] : lines;
}

function slow(
  { comm, commId, nRanks, file, late, of, cost, span }: Slowness,
  report: VerdictReport,
): string[] {
  const host = name(report.ranks[file]!.host);
  return [
    `SLOW  rank ${rankName(report, file)} on ${host} came last in ${late} of ${of} collectives`,
    `  on ${commName({ comm, commId })} (${nRanks} ranks)`,
    `  all others waited ${duration(cost)} of ${duration(span)} for it alone`,
  ];
}

function working({ end, stood, files }: Working, report: VerdictReport): string[] {
  return [
    `WORKING  unfinished at the end, too briefly for a hang: ${rankList(files, report)}`,
    `  last movement ${duration(stood)} before the last sign of life, ${clock(report, end)}`,
  ];
}

function missing({ missingRanks, worldSize, verdict }: VerdictReport): string[] {
  const lines: string[] = [];
  if (missingRanks.length > 0)
    lines.push(`  no file: rank ${foldRanks(missingRanks)} of ${worldSize}; what they did is not known`);
  if (verdict.kind === 'hung' && verdict.hang.missing.length > 0 && verdict.hang.nRanks !== worldSize) {
    const { hang } = verdict;
    lines.push(`  no file: ranks ${foldRanks(hang.missing)} of the ${hang.nRanks} of ${commName(hang)}`);
  }
  return lines;
}

/** What the evidence does not reach. */
function limits(report: VerdictReport): string[] {
  const { untold, partial, lateness, kind } = report.verdict;
  const lines: string[] = [];
  if (untold > 0) lines.push(`  completion not recorded: ${untold} collectives, sends, receives`);
  if (partial.length > 0)
    lines.push(`  calls overwritten or lost, nothing is claimed of them: ${rankList(partial, report)}`);
  if (!lateness && kind !== 'hung')
    lines.push("  who came late is not known: the hosts' wall clocks have an unknown error");
  return lines;
}

/** Only where the path needs no quoting and the line has room: a command must work as it stands. */
function nextCommand({ neverEntered, front }: Hang, { ranks }: VerdictReport): string[] {
  const file = neverEntered[0]?.file ?? front?.file;
  if (file === undefined) return [];
  const line = `  next: nccl-trace inspect ${ranks[file]!.file} --records 50`;
  return line.length <= COLUMNS && /^[\w ./:-]+$/.test(line) ? [line] : [];
}

function frontText(
  { channel, isSend, peerFile, peerInComm, done, nSteps, wait }: Front,
  report: VerdictReport,
) {
  const peer =
    peerFile === null ? `communicator rank ${peerInComm} (no file)` : `rank ${rankName(report, peerFile)}`;
  const where = `ch ${channel} ${isSend ? 'send to' : 'recv from'} ${peer}, ${done}/${nSteps} steps`;
  return wait ? `${where}, step ${wait.step} ${wait.name}` : where;
}

function callText(call: StandingCall): string {
  const seq = call.seq === null ? '' : ` seq ${call.seq}`;
  const replay = call.replay === 0 ? '' : ` replay ${call.replay}`;
  return `${name(call.func)}${seq}${replay} on ${commName(call)}`;
}

const commName = ({ comm, commId }: Pick<StandingCall, 'comm' | 'commId'>): string =>
  comm === '' ? (commId ?? 'a communicator without id') : name(comm);

const name = (text: string): string => cut(printable(text), NAME);

const filesOf = (list: readonly { readonly file: number }[]): number[] => list.map(({ file }) => file);
const rankName = ({ ranks }: VerdictReport, file: number): string => foldRanks(allRanks(ranks[file]!));

function rankList(files: readonly number[], { ranks }: VerdictReport): string {
  const all = files.flatMap((file) => allRanks(ranks[file]!));
  return all.length === 1 ? `rank ${foldRanks(all)}` : `${all.length} ranks (${foldRanks(all)})`;
}

/** A process with several GPUs is several ranks. */
const allRanks = ({ rank, ranks }: VerdictReport['ranks'][number]): readonly (number | null)[] =>
  ranks ?? [rank];

function few(words: readonly string[], most: number): string {
  const rest = words.length > most ? ` and ${words.length - most} more` : '';
  return `${words.slice(0, most).join(', ')}${rest}`;
}

const fit = (line: string): string => cut(line, COLUMNS);

/** Time of day, UTC: what the job's logs can be searched for. */
function clock({ traceStart }: VerdictReport, at: number): string {
  const date = new Date(Number((BigInt(traceStart) + BigInt(Math.round(at))) / 1_000_000n));
  return Number.isNaN(date.getTime()) ? 'an impossible time' : `${date.toISOString().slice(11, 19)} UTC`;
}

function duration(ns: number): string {
  if (ns < 1e6) return `${(ns / 1e3).toFixed(0)} us`;
  if (ns < 1e9) return `${(ns / 1e6).toFixed(1)} ms`;
  if (ns < 120e9) return `${(ns / 1e9).toFixed(1)} s`;
  return ns < 7200e9 ? `${Math.round(ns / 60e9)} min` : `${(ns / 3600e9).toFixed(1)} h`;
}
