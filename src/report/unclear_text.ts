/** UNCLEAR as text: what is not known, why, and which rank to check first. */

import { counted } from '../base/units.js';
import { durationText } from '../base/duration.js';
import type { Behind, Idle, Silent, Unclear } from '../verdict/types.js';
import { copyLines, missedHeartbeat, neverClosedLines, silentLines } from './gone_text.js';
import { perhapsSlowLines } from './lateness_text.js';
import { continued, labelled } from './text.js';
import {
  callText,
  clockTime,
  commName,
  isWhole,
  name,
  rankList,
  rankName,
  seenText,
  someRanks,
  wayArguments,
  type VerdictReport,
} from './verdict_phrases.js';

export function unclearLines(
  { work, works, files, lost, silent, idle, late, end }: Unclear,
  report: VerdictReport,
): string[] {
  if (late) return [...perhapsSlowLines(late, report), ...silentLines(silent, end, report)];
  if (idle) return idleLines(idle, { work, files, silent, end }, report);
  if (work === null && silent.length > 0)
    return [
      `UNCLEAR  whether ${silentTitle(silent, end, report)}`,
      labelled('seen', seenText(report)),
      ...silentLines(silent, end, report),
    ];
  if (work === null)
    return [
      'UNCLEAR  whether anything is stuck: parts of the files are lost',
      labelled('seen', seenText(report)),
    ];
  const what = works === 1 ? callText(work) : `${callText(work)} and ${works - 1} more`;
  const why =
    silent.length > 0
      ? [...neverClosedLines(silent, report), ...copyLines(silent, report)]
      : [
          labelled(
            'cannot tell',
            lost === 0
              ? `its data had arrived on ${rankList(files, report)}, then all ranks left`
              : `${counted(lost, 'slot')} lost after it began, ${rankList(files, report)}`,
          ),
        ];
  return [
    `UNCLEAR  whether it ended: ${what}`,
    ...why,
    ...(silent.length > 0 ? [labelled('the others', othersText(silent, end))] : []),
    labelled(
      'began',
      `${clockTime(report, work.at)}, record ${work.record} of rank ${rankName(report, work.file)}`,
    ),
  ];
}

function othersText([first]: readonly Silent[], end: number): string {
  const later = first && first.lastSign !== null ? `, up to ${durationText(end - first.lastSign)} later` : '';
  return `finished it, and left NCCL in order${later}`;
}

/** What is unclear, and why. */
function silentTitle(silent: readonly Silent[], end: number, report: VerdictReport): string {
  const { endsNotKnown, sampled, muted } = report.verdict;
  const isAllKnown = endsNotKnown === 0 && sampled.length + muted.length === 0;
  const isOne = silent.length === 1;
  if (silent.every(({ isGone }) => isGone))
    return `the job goes on: ${isOne ? "a rank's process" : `${silent.length} processes`} died`;
  if (!silent.some((one) => missedHeartbeat(one, end)))
    return `anything is stuck: ${isOne ? 'a rank did not close its file' : 'ranks did not close their files'}`;
  if (!isAllKnown) return 'anything is stuck: ranks fell silent, and not all is recorded';
  return `the job goes on: ${isOne ? 'a rank fell silent' : 'ranks fell silent'}`;
}

/** Ranks with fewer calls than others, at most this many groups. */
const MOST_BEHIND = 3;

function idleLines(
  { since, age, longestBefore, isPaceWhole, files, isLive, ended, behind, isPart, last }: Idle,
  { work, files: unfinished, silent, end }: Pick<Unclear, 'work' | 'files' | 'silent' | 'end'>,
  report: VerdictReport,
): string[] {
  const gone = silent.filter(({ mayBeCopy }) => !mayBeCopy).length;
  const who =
    gone === 0 ? 'nothing was' : gone === 1 ? 'a rank is silent, nothing' : 'ranks are silent, nothing';
  const before = isPaceWhole ? 'the longest pause before' : 'longest pause in what is recorded';
  const pace = longestBefore > 0 ? `; ${before}: ${durationText(longestBefore)}` : '';
  const where = `in no call that NCCL reports${isWhole(report) ? '' : ', or not recorded'}`;
  const [missing] = behind;
  if (isPart && missing) return partLines(missing, { age, files }, report);
  return [
    `UNCLEAR  whether the job goes on: ${who} recorded for ${durationText(age)}`,
    labelled('seen', seenText(report)),
    labelled('last recorded', `${clockTime(report, since)}${pace}`),
    ...behind
      .slice(0, MOST_BEHIND)
      .flatMap((one) => [
        labelled(
          'fewer calls',
          `${someRanks(one.callers, one.nRanks, report)}: ${one.by} less on ${commName(one)} than others`,
        ),
        continued(`then: ${name(one.func)} (${wayArguments(one)}), ${clockTime(report, one.at)}`),
      ]),
    ...(last
      ? [
          labelled('last call', `${name(last.func)} (${wayArguments(last)}) on ${commName(last)}`),
          continued('all its ranks made it; NCCL reports no end of it: it may hang there'),
        ]
      : []),
    ...(ended.length > 0 ? [labelled('left NCCL', rankList(ended, report))] : []),
    ...silentLines(silent, end, report),
    ...(work === null
      ? []
      : [labelled('not finished', `${rankList(unfinished, report)}: ${callText(work)}`)]),
    labelled(isLive ? 'alive' : 'alive to end', `${rankList(files, report)}: ${where}`),
    continued('(the application, or ncclCommInit, -Destroy, -Split)'),
  ];
}

/** Some ranks do nothing since a call that others did not make, and the others go on. */
function partLines(
  { func, comm, commId, newest, callers, nRanks, ...shape }: Behind,
  { age, files }: Pick<Idle, 'age' | 'files'>,
  report: VerdictReport,
): string[] {
  const call = `${name(func)} on ${commName({ comm, commId })}`;
  return [
    `UNCLEAR  whether ${call} goes on: ${someRanks(callers, nRanks, report)} did not call it`,
    labelled('called', `${rankList(files, report)}: ${name(func)} (${wayArguments(shape)})`),
    continued(`and nothing since ${clockTime(report, newest)} (${durationText(age)})`),
    labelled('not called', `${someRanks(callers, nRanks, report)}: at work elsewhere`),
    continued('NCCL reports no work of this call: they may still come'),
  ];
}
