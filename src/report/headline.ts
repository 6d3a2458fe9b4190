/**
 * The verdict in one line, for the slice on the trace's first screen: what, who, and where to look. If the line is too long, its last part
 * is left out first.
 */

import { minOf } from '../base/extremes.js';
import type { Hang } from '../verdict/types.js';
import type { VerdictText } from '../trace/above_ranks.js';
import { suspectsOf, stallOf } from '../verdict/evidence/suspects.js';
import { flightArguments } from './flight_text.js';
import { cut, foldRanks } from './text.js';
import { verdictText, printedVerdict } from './verdict_text.js';
import { allRanks, clockTime, peerName, rankName, type VerdictReport } from './verdict_phrases.js';

/** Characters that a slice of the screen's width shows. */
export const HEADLINE_CHARACTERS = 100;

/** The verdict's texts inside a trace. */
export const traceTexts = (report: VerdictReport): VerdictText => ({
  report: printedVerdict(report),
  headline: headline(report),
  aboutCall: report.flightRecorder ? flightArguments(report.flightRecorder) : [],
});

export function headline(report: VerdictReport): string {
  const [first = ''] = verdictText({ ...report, otherRuns: [] });
  // "HUNG AllReduce seq 6 on tp (4 of 8 ranks) since …": the slice itself shows the time.
  const [verb = '', what = ''] = first.split('  ');
  const stall = stallOf(report.verdict);
  const start = `${verb}: ${what}`;
  const more = stall ? ways(stall, report) : [];
  const lines = more.map((parts) => [start, ...parts.filter((part) => part !== '')].join('. '));
  return lines.find((line) => line.length <= HEADLINE_CHARACTERS) ?? cut(start, HEADLINE_CHARACTERS);
}

/**
 * The text in several lengths, from longest to shortest. The time of a rank's last sign is left out first, because it is shown elsewhere,
 * too.
 */
function ways(hang: Hang, report: VerdictReport): string[][] {
  const look = whereToLook(hang, report);
  const full = who(hang, report);
  const short = full.replace(/ since .*/, '');
  return [[full, look], [short, look], [full], [short], []];
}

/** The first suspect, with its label. */
function who({ silent, missing, nRanks }: Hang, report: VerdictReport): string {
  const ranksOf = (files: readonly number[]): string => {
    const ranks = files.flatMap((file) => allRanks(report.ranks[file]!));
    return `${ranks.length === 1 ? 'Rank' : 'Ranks'} ${foldRanks(ranks)}`;
  };
  const accused = suspectsOf(report.verdict);
  const filesWith = (label: string): number[] =>
    accused.filter((one) => one.label === label).map(({ file }) => file);
  const gone = filesWith('SILENT');
  if (gone.length > 0) {
    const signs = silent.filter(({ file }) => gone.includes(file)).flatMap(({ lastSign }) => lastSign ?? []);
    const since = signs.length > 0 ? ` since ${clockTime(report, minOf(signs))}` : '';
    return `${ranksOf(gone)} silent${since}`;
  }
  if (filesWith('GONE').length > 0) return `${ranksOf(filesWith('GONE'))} gone`;
  if (filesWith('NOT CALLED').length > 0) return `${ranksOf(filesWith('NOT CALLED'))} never entered it`;
  if (filesWith('OTHER CALL').length > 0) return `${ranksOf(filesWith('OTHER CALL'))} made other calls`;
  if (missing.length > 0 && nRanks === report.worldSize)
    return `${missing.length === 1 ? 'Rank' : 'Ranks'} ${foldRanks(missing)} without a file`;
  return '';
}

function whereToLook(hang: Hang, report: VerdictReport): string {
  const { front } = hang;
  if (!front) return '';
  const { file, channel, isSend } = front;
  const peer = peerName(front, hang, report);
  return `Look at rank ${rankName(report, file)} ch ${channel} ${isSend ? 'send to' : 'recv from'} ${peer}`;
}
