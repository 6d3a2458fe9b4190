/** The late rank as text: how often, what it cost, whether its host or its GPU, since when; also for a healthy run. */

import { durationText } from '../base/duration.js';
import type { Slowness, SlowSends } from '../verdict/types.js';
import { sizeText, timesText } from './text.js';
import {
  callText,
  clockTime,
  commName,
  hostOf,
  labelled,
  rankList,
  rankName,
  seenText,
  someRanks,
  type VerdictReport,
} from './verdict_phrases.js';

export function slowLines(slow: Slowness, report: VerdictReport): string[] {
  if (slow.link) return slowLinkLines(slow, slow.link, report);
  const { file, on, late, of, waits } = slow;
  const what = on === 'GPU' ? 'its GPU begins last' : 'it calls last';
  // Most of the cost is in fewer waits: then their number says how much the claim rests on.
  const few = 2 * waits <= late ? `, ${countText(waits, 'long wait')}` : '';
  return [
    `SLOW  ${whichRank(slow, report)} (${hostOf(report, file)}): ${what} in ${late} of ${of} collectives${few}`,
    ...latenessLines(slow, report),
  ];
}

/** Half of the time was lost, and too few waits show a habit. */
export function perhapsSlowLines(late: Slowness, report: VerdictReport): string[] {
  const { cost, span, waits } = late;
  const lost = `${durationText(cost)} of ${durationText(span)} lost to it in ${countText(waits, 'wait')}`;
  return [
    `UNCLEAR  whether ${whichRank(late, report)} is slow: ${lost}`,
    labelled('seen', seenText(report)),
    ...latenessLines(late, report),
  ];
}

function latenessLines(slow: Slowness, report: VerdictReport): string[] {
  const { cost, span, ofOthers, worst, nRanks, leftOut, waits } = slow;
  const rest = ofOthers > 0 ? `, another ${durationText(ofOthers)}` : '';
  return [
    labelled('on', `${commName(slow)} (${sizeText(nRanks)})`),
    labelled('cost', `all waited ${durationText(cost)} of ${durationText(span)} for it alone${rest}`),
    labelled('late', `${howText(slow)}, in ${countText(waits, 'wait')}`),
    labelled('when', whenText(slow, report)),
    labelled(
      'worst',
      `${durationText(worst.by)} at ${clockTime(report, worst.at)}, ${callText(worst, '')}, record ${worst.record}`,
    ),
    ...(leftOut > 0
      ? [labelled('left out', `${countText(leftOut, 'collective')}: first, with a root, or not seen whole`)]
      : []),
  ];
}

const countText = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

function slowLinkLines(slow: Slowness, link: SlowSends, report: VerdictReport): string[] {
  const { cost, span, nRanks, file, worst } = slow;
  const [from, to] = [link.file, link.peerFile].map((end) => rankName(report, end));
  const what = link.isOnlyOne ? `its link to rank ${link.file === file ? to : from}` : 'its links';
  return [
    `SLOW  ${whichRank(slow, report)} (${hostOf(report, file)}): ${what}, ${timesText(link.medianNs / link.usualNs)} the others' time`,
    labelled('on', `${commName(slow)} (${sizeText(nRanks)})`),
    labelled(
      'sends',
      `${from} to ${to}, ch ${link.channel}: ${durationText(link.medianNs)} on the wire, others ${durationText(link.usualNs)}`,
    ),
    labelled(
      'cost',
      `at least ${durationText(cost)} of ${durationText(span)} (${link.sends} sends, 8 at once)`,
    ),
    labelled('worst', `${durationText(worst.by)} for ${callText(worst, '')}, record ${worst.record}`),
  ];
}

/** Which GPU of a process with several. */
function whichRank({ file, inComm, nRanks }: Slowness, report: VerdictReport): string {
  const isOne = rankList([file], report).startsWith('rank ');
  return isOne ? `rank ${rankName(report, file)}` : someRanks([{ file, inComm: [inComm] }], nRanks, report);
}

const RESTS_ON = { kernel: 'kernels', step: 'steps', call: 'calls' } as const;

const howText = ({ on, basis }: Slowness): string =>
  on === 'GPU'
    ? `on the GPU: called in time (seen in ${RESTS_ON[basis]})`
    : `on the host: calls late (seen in ${RESTS_ON[basis]})`;

/** From start to end, or since when, until when, or from when to when. */
function whenText({ from, to, course, span, late, of }: Slowness, report: VerdictReport): string {
  const [start, stop] = [clockTime(report, from), clockTime(report, to)];
  const length = `${durationText(to - from)} of ${durationText(span)}`;
  switch (course) {
    case 'always':
      return `from start to end, in ${late * 2 >= of ? 'nearly every' : `one of ${Math.round(of / late)}`} collective${late * 2 >= of ? '' : 's'}`;
    case 'once':
      return `once, from ${start}`;
    case 'since':
      return `since ${start}, ${length}`;
    case 'until':
      return `until ${stop}, ${length}`;
    case 'between':
      return `from ${start} to ${stop}, ${length}`;
  }
}

/** Up to this share of the time no rank is mentioned. */
const LEAST_SHARE = 0.005;

/** For a run without a slow rank: who cost most, and why this is not slow. */
export function latestLines(report: VerdictReport): string[] {
  const { latest } = report.verdict;
  if (!latest?.why || latest.cost < LEAST_SHARE * latest.span) return [];
  const { late, of, cost, span, why } = latest;
  const not = why === 'chance' ? 'may be chance' : 'too little';
  return [
    labelled(
      'late',
      `${whichRank(latest, report)} last in ${late} of ${of}, ${durationText(cost)} of ${durationText(span)}: ${not}`,
    ),
  ];
}
