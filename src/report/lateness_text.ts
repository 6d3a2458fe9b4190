/**
 * The late rank as text: how often it was late, what this cost, whether its host or its GPU was late, and since when. Also for a healthy
 * run.
 */

import { durationText } from '../base/duration.js';
import { counted } from '../base/units.js';
import { FEWEST } from '../verdict/slowness.js';
import type { Lateness, Slowness, SlowSends } from '../verdict/types.js';
import { faultText, unevenText } from './cause_text.js';
import { continued, labelled, sentenceLines, sizeText, timesText } from './text.js';
import {
  callText,
  clockTime,
  commName,
  hostOf,
  name,
  rankList,
  rankName,
  seenText,
  someRanks,
  type VerdictReport,
  ranksOfNode,
} from './verdict_phrases.js';

export function slowLines(slow: Slowness, report: VerdictReport): string[] {
  if (slow.on === 'link') return slowLinkLines(slow, report);
  const { file, on, late, of } = slow;
  const what =
    slow.together.length > 0
      ? `they ${on === 'GPU' ? 'begin' : 'call'} last together`
      : slow.taker
        ? `data wait for ${slow.taker.channel === null ? 'its GPU' : `its GPU on ch ${slow.taker.channel}`}`
        : on === 'GPU'
          ? 'its GPU begins last'
          : 'it calls last';
  if (slow.taker?.node)
    return [
      `SLOW  one of ${ranksOfNode(slow.taker.node, report)}: data wait for it in ${late} of ${of} collectives`,
      ...latenessLines(slow, report),
      labelled(
        'which GPU',
        `seen at rank ${rankName(report, file)}; the inside of its node is not recorded:`,
      ),
      continued('record KernelCh (NCCL_TRACE_EVENTS)'),
    ];
  return [
    `SLOW  ${whichRank(slow, report)} (${whereText(slow, report)}): ${what} in ${late} of ${of} collectives`,
    ...latenessLines(slow, report),
  ];
}

/** The host, of several ranks only if they share one. */
function whereText({ file, together }: Lateness, report: VerdictReport): string {
  if (together.length === 0) return hostOf(report, file);
  const hosts = [...new Set(together.map((one) => report.ranks[one.file]!.host))];
  return hosts.length === 1 ? name(hosts[0]!) : `${hosts.length} hosts`;
}

/** Half of the time was lost, but there are too few waits to show a habit. */
export function perhapsSlowLines(late: Lateness, report: VerdictReport): string[] {
  const { cost, span, waits } = late;
  const lost = `it cost ${durationText(cost)} of ${durationText(span)} (${percent(cost / span)}), in ${counted(waits, 'wait')}`;
  return [
    `UNCLEAR  whether ${whichRank(late, report)} is slow: ${lost}`,
    labelled('seen', seenText(report)),
    ...latenessLines(late, report),
  ];
}

function latenessLines(slow: Lateness, report: VerdictReport): string[] {
  const { cost, span, ofOthers, worst, nRanks, waits } = slow;
  const rest = ofOthers > 0 ? `, another ${durationText(ofOthers)}` : '';
  const whom = slow.together.length > 0 ? 'them' : 'it';
  return [
    labelled('on', `${commName(slow)} (${sizeText(nRanks)})`),
    labelled('cost', `all waited ${durationText(cost)} of ${durationText(span)} for ${whom} alone${rest}`),
    labelled('late', howText(slow)),
    labelled('when', whenText(slow, report)),
    labelled('long waits', `${waits}, ${waits === 1 ? 'which makes' : 'which make'} up 90 % of the cost`),
    labelled(
      'longest',
      `${durationText(worst.by)} at ${clockTime(report, worst.at)}, ${callText(worst, '')}, record ${worst.record}`,
    ),
    ...unevenLines(slow, report),
    ...leftOutLines(slow),
  ];
}

/** A rank that has more to receive or to send than the others comes later to what follows. */
const unevenLines = ({ file }: Lateness, { ranks, causes }: VerdictReport): string[] =>
  causes.flatMap((cause) =>
    cause.rule === 'uneven AlltoAll' && cause.about.rank === ranks[file]!.rank
      ? sentenceLines('may be', `an uneven AlltoAll: ${unevenText(cause.about)}`)
      : [],
  );

function leftOutLines({ leftOut: { first, rooted, notWhole } }: Lateness): string[] {
  const parts = [
    ...(first === null ? [] : [`${name(first)} (the first)`]),
    ...(rooted > 0 ? [`${rooted} with a root`] : []),
    ...(notWhole > 0 ? [`${notWhole} not seen whole`] : []),
  ];
  return parts.length === 0 ? [] : [labelled('left out', parts.join(', '))];
}

const stopText = (to: string, times: number, each: number): string =>
  times === 1
    ? `its sends to rank ${to} stood still once, for ${durationText(each)}`
    : `${times} of its sends to rank ${to} stood still, each for ${durationText(each)}`;

function slowLinkLines(slow: SlowSends, report: VerdictReport): string[] {
  const { cost, span, nRanks, file, worst, link } = slow;
  const [from, to] = [link.file, link.peerFile].map((end) => rankName(report, end));
  if (link.stopped)
    return [
      `SLOW  ${whichRank(slow, report)} (${hostOf(report, file)}): ${stopText(to!, link.stopped.times, link.medianNs)}`,
      labelled('on', `${commName(slow)} (${sizeText(nRanks)})`),
      labelled(
        link.stopped.times === 1 ? 'when' : 'longest',
        `${clockTime(report, link.stopped.times === 1 ? slow.from : worst.at)}, in ${callText(worst, '')}, record ${worst.record}`,
      ),
      labelled(
        'step',
        `${from} to ${to}, ch ${link.channel}, step ${link.stopped.step}; usually ${durationText(link.usualNs)}`,
      ),
      labelled('cost', `${durationText(cost)} of ${durationText(span)}`),
      labelled('may be', 'the link, a NIC, or a process or proxy thread that stood still'),
    ];
  const whose = link.isOnlyOne
    ? link.file === file
      ? `its sends to rank ${to}`
      : `sends to it from rank ${from}`
    : 'its sends, or those to it,';
  return [
    `SLOW  ${whichRank(slow, report)} (${hostOf(report, file)}): ${whose} take ${timesText(link.medianNs / link.usualNs)} the others' time`,
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
    ...(link.fault
      ? [labelled(link.fault.cannotTell === null ? 'cause' : 'may be', faultText(link.fault))]
      : []),
  ];
}

/** Which GPU of a process with several. */
function whichRank(slow: Slowness, report: VerdictReport): string {
  const { file, inComm, nRanks } = slow;
  if (slow.on !== 'link' && slow.together.length > 0) return someRanks(slow.together, nRanks, report);
  const isOne = rankList([file], report).startsWith('rank ');
  return isOne ? `rank ${rankName(report, file)}` : someRanks([{ file, inComm: [inComm] }], nRanks, report);
}

const RESTS_ON = { kernel: 'kernels', step: 'steps', call: 'calls' } as const;

function howText({ on, basis, taker, together }: Lateness): string {
  const who = together.length > 0 ? 'they' : 'it';
  if (taker) return 'on the GPU: it takes or gives data late (seen in steps)';
  return on === 'GPU'
    ? `on the GPU: called in time, began late (seen in ${RESTS_ON[basis]})`
    : `on the host: ${who} called late (seen in ${RESTS_ON[basis]})`;
}

/** When the rank was late: all the time, since a time, until a time, or between two times. */
function whenText({ from, to, course, span, late, of }: Lateness, report: VerdictReport): string {
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

/** ns: in a line, less is "0 us". */
const SHOWN = 500;

/** For a run without a slow rank: which rank cost most, and how far that is from slow. Or the reason why this is not known. */
export function latestLines({ verdict, ...report }: VerdictReport): string[] {
  const { latest, compared, lateness, unresolved } = verdict;
  if (latest && latest.cost >= SHOWN) return latenessOf(latest, { verdict, ...report });
  // The lines about the limits of the clocks say this already.
  if (!lateness || unresolved) return [];
  return [
    labelled(
      'late',
      compared === 0
        ? 'not known who: no collective can be compared'
        : `no rank; ${counted(compared, 'collective')} compared`,
    ),
    ...(compared === 0 ? [continued('(needed: most ranks, known ends, no root, not the first)')] : []),
  ];
}

function latenessOf(latest: Lateness, report: VerdictReport): string[] {
  const { late, of, cost, span } = latest;
  const lost = `${percent(cost / span)} (${durationText(cost)})`;
  return [
    labelled(
      'late',
      `${whichRank(latest, report)} came last ${late} of ${of} times, ${latest.why === 'cost' ? 'but it' : 'it'} cost ${lost}`,
    ),
    continued(`not SLOW: ${whyNotSlow(latest)}`),
  ];
}

/** The reason, with the distance from the limit. */
function whyNotSlow({ why, of, cost, heldUp, habit, slowFrom, chance, chanceBelow }: Lateness): string {
  if (why === 'few') return `too few were compared (${of}, needed ${FEWEST})`;
  if (why === 'cost' && heldUp === cost)
    return `without the longest wait ${percent(habit)} (needed: ${percent(slowFrom)})`;
  if (heldUp < cost) return `hosts run ahead, so only ${durationText(heldUp)} were lost`;
  const often = chance > 0.5 ? 'most runs' : `1 of ${runs(chance)} runs`;
  return `equal ranks differ so much in ${often} (limit: 1 of ${runs(chanceBelow)})`;
}

const runs = (chance: number): number => Math.floor(1 / chance + 1e-9);
const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
