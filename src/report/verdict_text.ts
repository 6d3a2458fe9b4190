/**
 * The verdict as text: on a terminal at most 15 lines of at most 80 columns, and up to 8 from PyTorch's dumps; elsewhere nothing is cut. The
 * first line is the result, the last one is the next command. The JSON has the evidence of every claim (`--summary`, `inspect --json`).
 */

import { counted } from '../base/units.js';
import { maxOf, minOf } from '../base/extremes.js';
import { durationText } from '../base/duration.js';
import type { Diagnosis } from './diagnosis.js';
import type { Detail, FittingBug, Mismatch, Way, Working } from '../verdict/types.js';
import { quoted } from '../trace/commands.js';
import { countText } from '../trace/drawing.js';
import { besides, stallOf } from '../verdict/facts/suspects.js';
import { alsoLines, beforeLines } from './finding_text.js';
import { flightLines } from './flight_text.js';
import { brokenLines, hangLines, waitingLines } from './hang_text.js';
import { latestLines, slowLines } from './lateness_text.js';
import { rasLines } from './ras_text.js';
import { commandLines, type NextCommand } from './next_command.js';
import {
  callNumber,
  callText,
  clockTime,
  commName,
  isWhole,
  rankList,
  rankName,
  seenText,
  someRanks,
  wayArguments,
  type VerdictReport,
} from './verdict_phrases.js';
import {
  andMore,
  COLUMNS,
  continued,
  fit,
  foldRanks,
  labelled,
  printable,
  ROOM,
  sentenceLines,
  wrapped,
} from './text.js';
import { unclearLines } from './unclear_text.js';
import { firstSilentLines, silentLines } from './gone_text.js';

export type { VerdictReport } from './verdict_phrases.js';

const LINES = 15;

/** A trace's own attribute: without commands, and only about this run. */
export const printedVerdict = (report: VerdictReport): string =>
  verdictText({ ...report, otherRuns: [] }).join('\n');

export interface VerdictTextOptions {
  /** It has no room for more. */
  readonly isTerminal?: boolean | undefined;
  /** The lines before it say how well the clocks are known. */
  readonly saysClocks?: boolean;
}

/** `next`: the most useful command first. */
export function verdictText(
  report: VerdictReport,
  next: readonly NextCommand[] = [],
  { isTerminal = false, saysClocks = false }: VerdictTextOptions = {},
): string[] {
  const { verdict } = report;
  const [first = '', ...rest] = verdictLines(verdict, report);
  const notUsed = unusableLines(report);
  // The culprit of a stall comes first.
  const said = stallOf(verdict) ? [...rest, ...notUsed] : [...notUsed, ...rest];
  const beside = [
    ...bugLines(verdict.knownBugs),
    ...beforeLines(report),
    ...alsoLines(report),
    ...causeLines(report),
  ];
  const lines = [...otherRuns(report), ...said, ...beside, ...missing(report), ...limits(report)];
  const flight = [
    ...(report.flightRecorder ? flightLines(report.flightRecorder) : []),
    ...(report.ras ? rasLines(report.ras) : []),
  ];
  const foot = [
    labelled('lost records', lossText(report)),
    ...(saysClocks ? [] : [labelled('clocks', clockText(report))]),
  ];
  const command = next.flatMap((one, i) => commandLines(i === 0 ? 'next' : 'or', one, COLUMNS));
  if (!isTerminal) return [first, ...lines, ...flight, ...foot, ...command];
  const room = Math.max(1, LINES - foot.length - command.length - 1);
  const shown =
    lines.length <= room
      ? lines
      : [...lines.slice(0, room - 1), '  and more: see --summary, or inspect --json'];
  return [...[first, ...shown, ...flight, ...foot].map(fit), ...command];
}

function verdictLines(verdict: Detail, report: VerdictReport): string[] {
  switch (verdict.kind) {
    case 'hung':
      return hangLines(verdict.hang, report);
    case 'waiting':
      return waitingLines(verdict.waiting, report);
    case 'broken':
      return brokenLines(verdict.broken, report);
    case 'mismatch':
      return mismatch(verdict.mismatch, report);
    case 'slow':
      return slowLines(verdict.slow, report);
    case 'unclear':
      return unclearLines(verdict.unclear, report);
    case 'working':
      return working(verdict.working, report);
    case 'healthy':
      return [
        hasNoEnd(report)
          ? `NO END RECORDED  and nothing unfinished seen${withoutText(report)}`
          : isWhole(report)
            ? `HEALTHY  everything that began${wasGivenUp(report) ? ' since the recovery' : ''} also ended${lateText(report)}`
            : `HEALTHY  nothing unfinished was seen, ${asFarAs(report)}`,
        labelled('seen', seenText(report)),
        ...latestLines(report),
        ...firstSilentLines(verdict.silent, report),
      ];
    case 'nothing':
      return [
        leftOut(report).length === 0
          ? 'NOTHING TO JUDGE  NCCL reported no work of a collective, send or receive'
          : `NOTHING TO JUDGE  the event mask leaves out ${leftOut(report).join(' and ')}`,
      ];
  }
}

function mismatch({ ways, nRanks, call, what, ...comm }: Mismatch, report: VerdictReport): string[] {
  const also = besides(report.verdict);
  const isAll = also?.kind !== 'waiting' && also?.kind !== 'unclear';
  const [title = '', ...more] = isAll ? [] : verdictLines(also.about, report);
  const [{ func }] = ways;
  const how =
    what === 'pairs'
      ? `a ${func} has no ${func === 'Send' ? 'receive' : 'send'}; the last ones are`
      : `the ${nRanks === 0 ? '' : `${nRanks} `}ranks did not all call the same`;
  return [
    `MISMATCH  on ${commName(comm)}: ${how}`,
    ...ways.map((way) => labelled(someRanks(way.entered, nRanks, report), wayText(way, call, report))),
    isAll
      ? '  no hang is seen for it; what NCCL computes from such calls is not defined'
      : '  what NCCL computes from such calls is not defined',
    ...(isAll ? [] : [`  ${title}`, ...more]),
  ];
}

function wayText(way: Way, call: number | null, report: VerdictReport): string {
  const at = minOf(way.entered.map((one) => one.at));
  return `${callText(way, callNumber(call))} (${wayArguments(way)}) ${clockTime(report, at)}`;
}

function working(
  { end, stalledFor, files, isUnfinished, silent, isLive }: Working,
  report: VerdictReport,
): string[] {
  const when = isLive ? 'at the end' : 'when the records end';
  const who = rankList(files, report);
  return [
    ...(!isUnfinished
      ? [`WORKING  ${when} the last work of ${who} may be unfinished`]
      : isLive
        ? [`WORKING  unfinished ${when}, too briefly for a hang: ${who}`]
        : [
            'WORKING  up to the end of the records: killed then, or a copy of a live job',
            labelled('unfinished', `${who}, too briefly for a hang`),
          ]),
    ...(isUnfinished ? [] : [labelled('seen', seenText(report))]),
    ...(isLive
      ? []
      : [labelled('after that', 'not known: no heartbeat was recent when the files were read')]),
    labelled(
      'last movement',
      `${durationText(stalledFor)} before the last sign of life, ${clockTime(report, end)}`,
    ),
    ...silentLines(silent, end, report),
  ];
}

const bugLines = (bugs: readonly FittingBug[]): string[] =>
  bugs.slice(0, MOST_BUGS).flatMap(({ version, on, isSure, fixed, source }) => {
    const which = `NCCL ${version}${on === null ? '' : ` on ${on}`} ${isSure ? 'has' : 'may have'}`;
    const says = `${which} a bug with these symptoms, ${fixed} (${source})`;
    return wrapped(says, COLUMNS - 4).map((line, i) => (i === 0 ? `  ${line}` : `    ${line}`));
  });

const MOST_BUGS = 2;

/** Of a run that does not stand still: what slows it down besides what the first line says. */
function causeLines({ verdict, causes }: VerdictReport): string[] {
  if (stallOf(verdict) || verdict.kind === 'mismatch' || verdict.kind === 'slow') return [];
  return causes
    .slice(0, MOST_CAUSES)
    .flatMap(({ rule, says }) =>
      sentenceLines(rule === 'uneven AlltoAll' ? 'uneven' : 'slowed by', printable(says)),
    );
}

const MOST_CAUSES = 2;

/** Events of work that no file has. */
const leftOut = ({ verdict: { notRecorded }, ranks }: VerdictReport): string[] =>
  notRecorded.flatMap(({ event, files }) =>
    (event === 'Coll' || event === 'P2p') && files.length === ranks.length ? [event] : [],
  );

/** Nobody can tell whether anything ended. */
const hasNoEnd = ({ verdict: { seen, endsNotKnown } }: VerdictReport): boolean =>
  seen.works > 0 && endsNotKnown >= seen.works;

function withoutText({ verdict: { notRecorded } }: VerdictReport): string {
  const events = notRecorded.flatMap(({ event }) =>
    event === 'ProxyOp' || event === 'KernelCh' ? [event] : [],
  );
  return events.length === 0 ? '' : ` (without ${events.join(', ')})`;
}

const wasGivenUp = ({ verdict: { findings } }: VerdictReport): boolean =>
  findings.some(({ next }) => next !== null);

/** Of several hosts whose clocks nothing relates. */
const lateText = ({ verdict }: VerdictReport): string =>
  verdict.lateness ? '' : '; whether a rank is late is not known';

function asFarAs({ unusable }: VerdictReport): string {
  if (unusable.length === 0) return 'as far as is recorded';
  return `but ${counted(unusable.length, 'file')} cannot be used`;
}

/** Why files cannot be used, as for a file that was cut short. At most two of them, with two lines each. */
function unusableLines({ unusable }: VerdictReport): string[] {
  const lines = unusable.slice(0, MOST_UNUSABLE).flatMap((sentence) => {
    const [path = ''] = sentence.split(': ', 1);
    const name = path.slice(path.lastIndexOf('/') + 1);
    // What is in brackets are numbers for the full sentence.
    const text = printable(`${name}${sentence.slice(path.length)}`).replace(/ \([^)]*\)/g, '');
    const end = text.length <= ROOM ? text.length : text.lastIndexOf(' ', ROOM);
    const rest = text.slice(end + 1);
    return [labelled('not usable', text.slice(0, end)), ...(rest === '' ? [] : [continued(rest)])];
  });
  return [...lines, ...andMore(unusable.length - MOST_UNUSABLE, 'more files')];
}

const MOST_UNUSABLE = 2;

/** Comes first, because one stray new file may hide a run of hundreds. */
function otherRuns({ otherRuns: others, ranks }: VerdictReport): string[] {
  const [first] = others;
  if (!first) return [];
  const largest = others.reduce((a, b) => (b.files > a.files ? b : a));
  const count = others.length === 1 ? '1 older' : `${others.length} older`;
  const isLarger = largest.files > ranks.length;
  const one = others.length === 1 ? 'of' : 'one of';
  const size = isLarger ? `, ${one} ${largest.files} files (this one: ${ranks.length})` : '';
  const name = others.length === 1 || isLarger ? largest.name : 'list';
  const line = (run: string): string => labelled('other runs', `${count}${size}: --run ${run}`);
  const full = line(printable(quoted(name)));
  // Nobody can type a cut name, so the line names the list instead.
  return [full.length <= COLUMNS ? full : line('list')];
}

function missing({ missingRanks, worldSize, verdict }: VerdictReport): string[] {
  const lines: string[] = [];
  if (missingRanks.length > 0)
    lines.push(
      labelled(
        'no file',
        `rank ${foldRanks(missingRanks)} of ${worldSize}: what ${missingRanks.length === 1 ? 'it' : 'they'} did is not known`,
      ),
    );
  const stall = stallOf(verdict);
  if (stall !== null && stall.missing.length > 0 && stall.nRanks !== worldSize) {
    const whose = `the ${stall.nRanks} of ${commName(stall)}`;
    lines.push(labelled('no file', `ranks ${foldRanks(stall.missing)} of ${whose}`));
  }
  return lines;
}

/** What is missing from the evidence. */
function limits(report: VerdictReport): string[] {
  const {
    endsNotKnown,
    endsToSelf,
    partial,
    damaged,
    unknownComms,
    lateness,
    unresolved,
    notRecorded,
    muted,
  } = report.verdict;
  const lines: string[] = [...notRead(report), ...sampledLines(report)];
  if (muted.length > 0)
    lines.push(labelled('turned off', `events at times, by control: ${rankList(muted, report)}`));
  const masked = leftOut(report);
  if (masked.length > 0) {
    lines.push(labelled('not recorded', masked.join(', ')));
    lines.push(continued('(NCCL_PROFILE_EVENT_MASK or NCCL_TRACE_EVENTS leaves them out)'));
  }
  if (endsNotKnown > endsToSelf) {
    const kernels = notRecorded.some(({ event }) => event === 'KernelCh') ? ' (KernelCh not recorded)' : '';
    const works = `${endsNotKnown - endsToSelf} collectives, sends, receives`;
    lines.push(labelled('end not known', works + kernels));
  }
  if (endsToSelf > 0)
    lines.push(labelled('no end', `${endsToSelf} sends, receives of a rank to itself (NCCL reports none)`));
  if (damaged.length > 0)
    lines.push(labelled('damaged', `the files of ${rankList(damaged, report)}: what they lack is not known`));
  if (unknownComms.works > 0)
    lines.push(
      labelled(
        'unknown',
        `communicators of ${unknownComms.works} calls, ${rankList(unknownComms.files, report)}`,
      ),
    );
  if (partial.length > 0) {
    const are = partial.some((file) => report.ranks[file]!.unread > 0) ? 'are lost or not read' : 'are lost';
    const calls = `older calls of ${rankList(partial, report)}`;
    lines.push(labelled('window', `${calls} ${are}: no claim about them`));
  }
  if (stallOf(report.verdict)) return lines;
  if (!lateness) lines.push(labelled('late', "not known who: the hosts' wall clocks have an unknown error"));
  if (unresolved)
    lines.push(
      labelled(
        'late',
        `not resolved by the clocks: rank ${rankName(report, unresolved.file)}? ` +
          `by up to ${durationText(unresolved.worst.by)}, +-${durationText(unresolved.clockBound)}`,
      ),
    );
  return lines;
}

/** Files that were not read. The verdict uses only the others. */
function notRead({ ranks }: VerdictReport): string[] {
  const slots = ranks.reduce((sum, { unread }) => sum + unread, 0);
  if (slots === 0) return [];
  return [labelled('not read', `${countText(slots)} older slots, outside of the selected time`)];
}

/** Which part of the collectives was recorded. */
const sampledLines = (report: VerdictReport): string[] =>
  report.verdict.sampled.map(({ every, files }) => {
    const part = every === null ? 'samples of the collectives' : `1 of ${every} collectives`;
    const isAll = files.length === report.ranks.length;
    return labelled('looked at', `${part} alone${isAll ? '' : `, of ${rankList(files, report)}`}`);
  });

function lossText({ ranks, verdict }: Pick<VerdictReport, 'ranks' | 'verdict'>): string {
  const sum = (cause: keyof (typeof ranks)[number]['lost']): number =>
    ranks.reduce((total, { lost }) => total + lost[cause], 0);
  const texts: readonly (readonly [number, string])[] = [
    [sum('overwritten'), 'slots overwritten in full rings'],
    [sum('dropped'), 'dropped (disk limit)'],
    [sum('torn'), 'torn'],
    [sum('copy'), 'written while copied'],
    [verdict.lostEntries, verdict.lostEntries === 1 ? 'table entry' : 'table entries'],
  ];
  const files = verdict.damaged.length;
  const cut = files === 0 ? [] : [`parts of ${counted(files, 'file')}`];
  const lost = texts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  return [...cut, ...lost].join(', ') || 'none';
}

function clockText({ clocks, traffic }: Pick<Diagnosis, 'clocks' | 'traffic'>): string {
  if (clocks.length === 1) return 'one counter for all ranks, exact';
  const byTraffic = clocks.filter(({ source }) => source === 'traffic');
  const byWall = clocks.length - byTraffic.length;
  const bounds = byTraffic.map(({ bound99 }) => bound99 ?? Infinity);
  const texts = [`${clocks.length} hosts`];
  if (byTraffic.length > 0) {
    const how = traffic?.alike.measured === null ? 'assumed' : 'measured';
    texts.push(`99 % bound ${durationText(maxOf(bounds))} (${how})`);
  }
  if (byWall > 0) texts.push(`${byWall} by wall clock only: error unknown`);
  return texts.join(', ');
}
