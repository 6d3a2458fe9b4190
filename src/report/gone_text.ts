/** Ranks without a sign of life, and those that ended, as lines of a hang. */

import { durationText } from '../base/duration.js';
import { goneFirst } from '../verdict/facts/suspects.js';
import type { Hang, Silent } from '../verdict/types.js';
import { continued, labelled } from './text.js';
import { clockTime, filesOf, rankList, rankWithHost, type VerdictReport } from './verdict_phrases.js';

/** Ranks whose processes ended in order, while the others wait for them. */
export function endedLines({ ended }: Hang, report: VerdictReport): string[] {
  const [first] = ended;
  if (!first) return [];
  const who =
    ended.length === 1
      ? `rank ${rankWithHost(report, first.file)} at ${clockTime(report, first.at)}`
      : rankList(filesOf(ended), report);
  return [labelled('left NCCL', `${who}, in the middle of it`)];
}

/** Those that are not said before. */
export function silentOfHang(hang: Hang, report: VerdictReport): string[] {
  const { silent, until, neverEntered, waiting: entered, isRelated, wasKilled } = hang;
  const said = new Set(filesOf(neverEntered));
  const first = new Set(filesOf(goneFirst(hang)));
  const rest = silent.filter(({ file }) => !first.has(file) && (!said.has(file) || neverEntered.length > 1));
  const lines = [...heartbeatLines(rest, until, report, wasKilled), ...copyLines(silent, report)];
  const ranks = new Set([...filesOf(neverEntered), ...filesOf(entered)]);
  if (!isRelated && ranks.size > 0) lines.push(labelled('fell silent', 'not known who: clocks not related'));
  return lines;
}

/** Silent ranks whose files may also be copies of live ranks' files. */
export function copyLines(silent: readonly Silent[], report: VerdictReport): string[] {
  const mayBeCopy = silent.filter((one) => one.mayBeCopy);
  if (mayBeCopy.length === 0) return [];
  const whose = mayBeCopy.length === silent.length ? '' : ` of ${rankList(filesOf(mayBeCopy), report)}`;
  return [labelled('or copied', `the file${whose} earlier than others: a copy cannot tell`)];
}

/** Processes that have died, or must have, because the others ended in order later. */
export function neverClosedLines(
  gone: readonly Silent[],
  report: VerdictReport,
  label = 'never closed',
): string[] {
  const [first] = gone;
  if (!first) return [];
  const { file, lastSign } = first;
  const who = gone.length === 1 ? `rank ${rankWithHost(report, file)}` : rankList(filesOf(gone), report);
  const sign = lastSign === null ? 'no sign of life' : `last sign of life ${clockTime(report, lastSign)}`;
  return [labelled(label, `${who}, ${sign}`)];
}

/**
 * Ranks whose last sign came before that of the others. `wasKilled`: all processes are gone. Then it is not known whether these died first, or
 * were stopped until all were killed.
 */
export function heartbeatLines(
  all: readonly Silent[],
  until: number,
  report: VerdictReport,
  wasKilled = false,
): string[] {
  const stopped = all.filter(({ isStopped }) => isStopped);
  const gone = wasKilled ? [] : all.filter(({ isGone }) => isGone);
  const silent = all.filter((one) => !gone.includes(one) && !stopped.includes(one));
  const died = neverClosedLines(gone, report, 'process died');
  if (stopped.length > 0)
    died.push(
      labelled('stopped', `${rankList(filesOf(stopped), report)}, by a signal, a debugger or its cgroup`),
    );
  const [first] = silent;
  if (!first) return died;
  const who =
    silent.length === 1 ? `rank ${rankWithHost(report, first.file)}` : rankList(filesOf(silent), report);
  const { lastSign } = first;
  const since =
    lastSign === null
      ? 'ever'
      : `since ${clockTime(report, lastSign)} (${durationText(Math.max(0, until - lastSign))} before the end)`;
  const what = `${silent.length === 1 ? 'it' : 'they'} died then, or stood still; all processes are gone`;
  return [...died, labelled('no heartbeat', `${who} ${since}`), ...(wasKilled ? [continued(what)] : [])];
}

/** ns: heartbeats come once a second. One is overdue after this, as in the verdict. */
const OVERDUE = 1.5e9;

/** A rank can be silent without a missed heartbeat, if other files were closed later. */
export const missedHeartbeat = ({ lastSign, isGone }: Silent, end: number): boolean =>
  isGone || lastSign === null || end - lastSign > OVERDUE;

export const silentLines = (silent: readonly Silent[], end: number, report: VerdictReport): string[] => [
  ...heartbeatLines(
    silent.filter((one) => missedHeartbeat(one, end)),
    end,
    report,
  ),
  ...neverClosedLines(
    silent.filter((one) => !missedHeartbeat(one, end)),
    report,
  ),
  ...copyLines(silent, report),
];

/** For a healthy run: ranks that did not end like the others, and ranks without a heartbeat at a time when others had one. */
export const firstSilentLines = (silent: readonly Silent[], report: VerdictReport): string[] => [
  ...neverClosedLines(
    silent.filter(({ mayBeCopy }) => !mayBeCopy),
    report,
  ),
  ...neverClosedLines(
    silent.filter(({ mayBeCopy }) => mayBeCopy),
    report,
    'silent first',
  ),
  ...copyLines(silent, report),
];
