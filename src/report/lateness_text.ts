/** The late rank as text: how often, what it cost, whether its host or its GPU, since when; also for a healthy run. */

import { durationText } from '../base/duration.js';
import type { Slowness, SlowSends } from '../verdict/types.js';
import { sizeText } from './text.js';
import {
  callText,
  clockTime,
  commName,
  hostOf,
  labelled,
  rankList,
  rankName,
  someRanks,
  type VerdictReport,
} from './verdict_phrases.js';

export function slowLines(slow: Slowness, report: VerdictReport): string[] {
  if (slow.link) return slowLinkLines(slow, slow.link, report);
  const { file, on, late, of, cost, span, ofOthers, worst, nRanks, leftOut } = slow;
  const what = on === 'GPU' ? 'its GPU begins last' : 'it calls last';
  const rest = ofOthers > 0 ? `, ${durationText(ofOthers)} for another` : '';
  return [
    `SLOW  ${whichRank(slow, report)} (${hostOf(report, file)}): ${what} in ${late} of ${of} collectives`,
    labelled('on', `${commName(slow)} (${sizeText(nRanks)})`),
    labelled('cost', `all others waited ${durationText(cost)} of ${durationText(span)} for it alone${rest}`),
    labelled('late', howText(slow)),
    labelled('when', whenText(slow, report)),
    labelled(
      'worst',
      `${durationText(worst.by)} at ${clockTime(report, worst.at)}, ${callText(worst, '')}, record ${worst.record}`,
    ),
    ...(leftOut > 0 ? [labelled('left out', `${leftOut}: the first, of a root, or not seen whole`)] : []),
  ];
}

function slowLinkLines(slow: Slowness, link: SlowSends, report: VerdictReport): string[] {
  const { cost, span, nRanks, file, worst } = slow;
  const times = Math.round(link.medianNs / link.usualNs);
  const [from, to] = [link.file, link.peerFile].map((end) => rankName(report, end));
  const what = link.isOnlyOne ? `its link to rank ${link.file === file ? to : from}` : 'its links';
  return [
    `SLOW  ${whichRank(slow, report)} (${hostOf(report, file)}): ${what}, ${times} times the others' time`,
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
    ? `on the GPU: its calls came in time (by ${RESTS_ON[basis]})`
    : `on the host: its calls come late (by ${RESTS_ON[basis]})`;

/** If it was late for a part of the time: since when, or in which burst. */
function whenText({ from, to, span, late, of }: Slowness, report: VerdictReport): string {
  const share = (to - from) / span;
  const often = late * 2 >= of ? 'nearly always' : `one in ${Math.round(of / late)}`;
  if (share > 0.8) return `all the time, ${often}`;
  return `from ${clockTime(report, from)} to ${clockTime(report, to)}, ${durationText(to - from)} of ${durationText(span)}`;
}

/** Up to this share of the time nobody is mentioned. */
const WORTH_A_WORD = 0.005;

/** For a run without a slow rank: who cost most, and why this is not slow. */
export function latestLines(report: VerdictReport): string[] {
  const { latest } = report.verdict;
  if (!latest?.why || latest.cost < WORTH_A_WORD * latest.span) return [];
  const { late, of, cost, span, why } = latest;
  const not = why === 'chance' ? 'may be chance' : 'too little';
  return [
    labelled(
      'late',
      `${whichRank(latest, report)} last in ${late} of ${of}, ${durationText(cost)} of ${durationText(span)}: ${not}`,
    ),
  ];
}
