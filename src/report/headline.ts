/**
 * The verdict in one line, for the title of a report and the slice on the trace's first screen, which cuts it: what, who, and where to look.
 */

import type { Hang, Mismatch } from '../verdict/types.js';
import { HEADLINE_CHARACTERS, type VerdictText } from '../trace/above_ranks.js';
import { stallOf, suspectsOf } from '../verdict/facts/suspects.js';
import type { Diagnosis } from './diagnosed.js';
import { flightArguments } from './flight_text.js';
import { cut } from './text.js';
import { verdictText, printedVerdict } from './verdict_text.js';
import { name, peerName, rankName, wayArguments, type VerdictReport } from './verdict_phrases.js';

/** The verdict's texts inside a trace. */
export const traceTexts = (report: Diagnosis): VerdictText => ({
  report: printedVerdict(report),
  headline: cut(headline(report), HEADLINE_CHARACTERS),
  findings: report.verdict.findings.map(({ says }) => says),
  aboutCall: report.flightRecorder ? flightArguments(report.flightRecorder) : [],
});

export function headline(report: VerdictReport): string {
  const [first = ''] = verdictText({ ...report, otherRuns: [] });
  // The slice itself shows the time.
  const [verb = '', what = ''] = first.split('  ');
  const stall = stallOf(report.verdict);
  const mismatch = report.verdict.kind === 'mismatch' ? report.verdict.mismatch : stall?.mismatch;
  const start = `${verb}: ${mismatch ? what.replace('called differently', otherCall(mismatch)) : what}`;
  const isSaid = what.includes('look at') || what.includes('one of');
  const wasBusy = report.verdict.kind === 'broken' && report.verdict.broken.wasBusy;
  const look = stall && !isSaid && !wasBusy ? whereToLook(stall, report) : '';
  return look === '' ? start : `${start}. ${look}`;
}

/** What the fewest ranks called: the function, or the arguments if it is the same for all. */
function otherCall({ ways }: Mismatch): string {
  const isSame = new Set(ways.map(({ func }) => func)).size === 1;
  if (ways.length > 2) return 'called differently';
  return `called ${isSame ? wayArguments(ways[1]) : name(ways[1].func)}`;
}

function whereToLook(hang: Hang, report: VerdictReport): string {
  const { front } = hang;
  if (!front) return '';
  const { file, channel, isSend } = front;
  const peer = peerName(front, hang, report);
  // The rank that only waits for the one that was named is no suspect.
  const [first] = suspectsOf(report.verdict);
  return `${first?.file === file || !first ? 'Look at' : 'Seen at'} rank ${rankName(report, file)} ch ${channel} ${isSend ? 'send to' : 'recv from'} ${peer}`;
}
