/** What was found beside the headline, as lines: what is over, and what else is the matter. */

import { durationText } from '../base/duration.js';
import { stallOf } from '../verdict/facts/suspects.js';
import type { Connection, Finding } from '../verdict/types.js';
import { callText, clockTime, commName, rankName, type VerdictReport, whoText } from './verdict_phrases.js';
import { andMore, continued, labelled, sentenceLines, sizeText } from './text.js';

const MOST_BEFORE = 2;

/** The newest first. */
export function beforeLines(report: VerdictReport): string[] {
  const over = report.verdict.findings.filter(({ next }) => next !== null).reverse();
  const lines = over.slice(0, MOST_BEFORE).flatMap((one) => recoveryLines(one, report));
  return [...lines, ...andMore(over.length - MOST_BEFORE, 'more before')];
}

function recoveryLines({ where, until, who, next }: Finding, report: VerdictReport): string[] {
  if (!where || !next || until === null) return [];
  const why = whoText(who, where, report);
  const size = sizeText(next.nRanks, report.worldSize);
  return [
    labelled('before', `${callText(where)}, given up at ${clockTime(report, until)}`),
    continued(`${why && `${why}; `}goes on with ${commName(next)} (${size})`),
  ];
}

/** Rules whose findings no other line tells. */
const ALSO: readonly string[] = ['late', 'stood still'];

const ABOUT_COMM: readonly string[] = [...ALSO, 'perhaps late'];

/** The first different calls, if all ranks got past them, and hung for another reason. */
const isOld = (found: Finding, { verdict }: VerdictReport): boolean =>
  stallOf(verdict)?.mismatch === null &&
  found === verdict.findings.find(({ rule }) => rule === 'different calls');

/** Beside a headline that is about something else. */
export const alsoLines = (report: VerdictReport): string[] =>
  report.verdict.findings
    .filter((one, i) => (ALSO.includes(one.rule) || isOld(one, report)) && (i > 0 || one.kind === 'healthy'))
    .flatMap((one) => sentenceLines('also', findingLine(one, report)));

/** "SLOW: rank 2 late on world, since 12:00:01 UTC, cost 2.1 s" */
export function findingLine(
  { rule, kind, where, who, connection, since, cost, because, next }: Finding,
  report: VerdictReport,
): string {
  const what = next
    ? 'GIVEN UP'
    : rule === 'stood still'
      ? 'STOOD STILL'
      : kind === 'broken'
        ? 'BROKEN OFF'
        : kind.toUpperCase();
  // A lag, or a stop of a link, is about the communicator: the call is only where it shows.
  const isOneCall = where !== null && !ABOUT_COMM.includes(rule);
  const parts = [
    isOneCall ? callText(where) : '',
    `${rule === 'stood still' ? '' : whoText(who, where, report)}${where && !isOneCall ? ` on ${commName(where)}` : ''}`.trim(),
    connection ? connectionText(connection, report) : '',
    since === null ? '' : `since ${clockTime(report, since)}`,
    cost === null ? '' : `cost ${durationText(cost)}`,
    next ? `goes on with ${commName(next)}` : '',
    because === null ? '' : `because of finding ${because + 1}`,
  ];
  return `${what}: ${parts.filter((part) => part !== '').join(', ') || rule}`;
}

function connectionText({ file, peerFile, channel, step }: Connection, report: VerdictReport): string {
  const peer = peerFile === null ? 'a rank without a file' : rankName(report, peerFile);
  return `${rankName(report, file)} to ${peer} ch ${channel}${step === null ? '' : ` step ${step}`}`;
}
