/** A hang as text: what is stuck since when, who never came, who made another call, who waits, where to look. */

import { counted } from '../base/units.js';
import { durationText } from '../base/duration.js';
import { addTo } from '../base/grouped.js';
import { goneFirst, stallOf } from '../verdict/facts/suspects.js';
import { whoOf } from '../verdict/finding.js';
import type {
  Broken,
  Detail,
  Front,
  Hang,
  KernelState,
  Order,
  PlacedTransfer,
  Stray,
  Waiting,
} from '../verdict/types.js';
import { endedLines, heartbeatLines, neverClosedLines, silentOfHang } from './gone_text.js';
import { COLUMNS, continued, firstLines, foldRanks, labelled, listed, ROOM, sizeText } from './text.js';
import {
  callNumber,
  callText,
  clockTime,
  commName,
  DID,
  few,
  filesOf,
  frontText,
  hostOf,
  name,
  peerName,
  rankList,
  rankName,
  ranksOfNode,
  rankWithHost,
  someRanks,
  type VerdictReport,
  wayArguments,
  whoText,
} from './verdict_phrases.js';

/** Ways to make one call. Further ways are only counted. */
const MOST_WAYS = 3;

export function hangLines(hang: Hang, report: VerdictReport): string[] {
  return stallLines(
    { kind: 'hung', hang },
    hang.aborted.length > 0 ? 'HUNG, then ABORTED' : hang.wasKilled ? 'HUNG, then KILLED' : 'HUNG',
    [],
    report,
  );
}

/** WAITING: the same evidence as for a hang, and why there is no alarm yet. */
export function waitingLines(waiting: Waiting, report: VerdictReport): string[] {
  const { stall, hungAfter, isLive, byKernel } = waiting;
  const who = stall.missing.length === 0 ? 'all ranks' : 'all with a file';
  const by = byKernel.length === 0 ? 'by heartbeats' : `${rankList(byKernel, report)} by /proc`;
  const isAge = stall.age < hungAfter;
  const until = isAge ? `--hung-after is ${durationText(hungAfter)}` : 'the missing ones are at work';
  const lived = isLive ? `${who} live, ${by}` : `the records end after ${durationText(stall.age)}`;
  const why = labelled('no hang yet', `${lived}; ${until}`);
  return stallLines({ kind: 'waiting', waiting }, 'WAITING', [why], report);
}

/** Which rank disappeared, and what the others did afterwards. */
export function brokenLines(broken: Broken, report: VerdictReport): string[] {
  const { stall, gone, isOrderKnown, left, finished } = broken;
  const ended = (files: readonly number[], how: string): string[] =>
    files.length === 0 ? [] : [labelled('left NCCL', `${rankList(files, report)}, ${how}`)];
  const why = [
    ...neverClosedLines(gone, report),
    ...ended(left, gone.length === 0 ? 'in the middle of it' : 'not finished'),
    ...ended(finished, 'finished'),
    ...(isOrderKnown ? [] : [labelled('which first', 'not known, heartbeats come once a second')]),
  ];
  if (broken.wasBusy)
    return [
      `BROKEN OFF  the whole job was ${gone.length > 0 ? 'killed' : 'ended'} while it worked`,
      labelled('in', `${callText(stall)} (${sizeText(stall.nRanks, report.worldSize)})`),
      ...why,
      ...waiting({ ...stall, waits: [] }, report),
    ];
  const silent = stall.silent.filter(({ file }) => !filesOf(gone).includes(file));
  return stallLines(
    { kind: 'broken', broken: { ...broken, stall: { ...stall, silent } } },
    'BROKEN OFF',
    why,
    report,
  );
}

function stallLines(verdict: Detail, verb: string, why: readonly string[], report: VerdictReport): string[] {
  const hang = stallOf(verdict)!;
  return [
    ...title(verdict, verb, report),
    ...mismatch(hang, report),
    ...(verdict.kind === 'broken' ? [] : heartbeatLines(goneFirst(hang), hang.until, report, hang.wasKilled)),
    ...endedLines(hang, report),
    ...why,
    ...strays(hang, verdict.kind === 'waiting' ? 'not entered' : 'never entered', report),
    ...unmatchedLines(hang, report),
    ...unseenLines(hang, report),
    ...crossedLines(hang, report),
    ...circleLines(hang, report),
    ...insideLines(hang, report),
    ...unhandedLines(hang, report),
    ...waiting(hang, report),
    ...whereToLook(hang, report),
    ...silentOfHang(hang, report),
    ...alsoStuck(hang, report),
  ];
}

/** The culprit is in the first line, if it is known and there is room; the time then has a line of its own. */
function title(stall: Detail, verb: string, report: VerdictReport): string[] {
  const { since, age, nRanks, ...hang } = stallOf(stall)!;
  const what = `${verb}  ${callText(hang)}`;
  const size = ` (${sizeText(nRanks, report.worldSize)})`;
  const when = `since ${clockTime(report, since)} (${durationText(age)})`;
  const did = { ...DID, ...IN_OTHER_WORDS[stall.kind] };
  const who =
    wireText({ ...hang, nRanks }, report) || whoText(whoOf(stall), { ...hang, nRanks }, report, did);
  if (who === '') return [`${what}${size}  ${when}`];
  const full = `${what}${size}: ${who}`;
  return [full.length <= COLUMNS ? full : `${what}: ${who}`, labelled('stuck', when)];
}

/** Several links lost data: then the network is the matter, and no rank. Empty: not so, or a rank explains it. */
function wireText(
  hang: Pick<Hang, 'front' | 'comm' | 'commId' | 'nRanks' | 'neverEntered' | 'silent'>,
  report: VerdictReport,
): string {
  const links = hang.front?.peerIsPast ? hang.front.onWire : [];
  if (links.length < 2 || hang.neverEntered.length + hang.silent.length > 0) return '';
  return `data lost on links ${few(
    links.map((link) => linkText(link, hang, report)),
    3,
  )}`;
}

function linkText(
  { file, inComm, peerFile, peerInComm }: Front['onWire'][number],
  hang: Pick<Hang, 'comm' | 'commId' | 'nRanks'>,
  report: VerdictReport,
): string {
  const from = peerName({ peerFile: file, peerInComm: inComm }, hang, report);
  return `${from} to ${peerName({ peerFile, peerInComm }, hang, report)}`;
}

/** The channels tell a NIC or a rail, if others of the link go on. */
const onWireLines = (hang: Hang, report: VerdictReport): string[] =>
  listed(
    'on the wire',
    (hang.front?.peerIsPast ? hang.front.onWire : [])
      .slice(0, MOST_WAYS)
      .map((link) => `${linkText(link, hang, report)}, ch ${foldRanks(link.channels)}`),
  );

/** Where what a rank did is not the same: it may still come, or it did not end in order. */
const IN_OTHER_WORDS: Readonly<Partial<Record<Detail['kind'], typeof DID>>> = {
  waiting: { 'NOT CALLED': 'did not enter it yet' },
  broken: { GONE: 'disappeared' },
};

/** Threads inside a call that has not returned. The call connects and waits for its peers. */
function insideLines({ inside, nRanks, since }: Hang, report: VerdictReport): string[] {
  const byFunc = new Map<string, (typeof inside)[number][]>();
  for (const one of inside) addTo(byFunc, one.func, one);
  return [...byFunc].flatMap(([func, all]) => {
    const [first] = all as [(typeof inside)[number]];
    const what = `nccl${name(func)} (${wayArguments(first)})`;
    const when = first.at < since ? ` since ${clockTime(report, first.at)}` : '';
    return first.hasReturned
      ? [
          labelled('called', `${someRanks(all, nRanks, report)}: ${what}`),
          continued(`and nothing since ${clockTime(report, since)}`),
        ]
      : [labelled('inside NCCL', `${someRanks(all, nRanks, report)}: in ${what}${when}`)];
  });
}

/** The work began, and NCCL does not return from handing it to its proxy. */
const unhandedLines = ({ unhanded, neverEntered, waiting: entered }: Hang, report: VerdictReport): string[] =>
  unhanded.slice(0, MOST_WAYS).flatMap(({ file, at, channels, of }, i) => {
    const isAlone = i === 0 && unhanded.length === 1 && entered.length > 1 && neverEntered.length === 0;
    const ops = of === 0 ? `on ${channels} channels` : `on ${channels} of ${of} channels`;
    return [
      labelled(
        'inside NCCL',
        `rank ${rankName(report, file)}: in ncclGroupEnd since ${clockTime(report, at)}`,
      ),
      continued(`NCCL has not handed it to its proxy: operations ${ops}`),
      ...(isAlone ? [continued('all others called it, and returned')] : []),
    ];
  });

function mismatch({ mismatch: found, commId }: Hang, report: VerdictReport): string[] {
  if (!found) return [];
  const on = found.commId === commId ? '' : ` on ${commName(found)}`;
  const [most, ...others] = found.ways;
  const label = {
    calls: 'differs first',
    arguments: 'other arguments',
    sizes: 'sizes differ',
    pairs: 'no other side',
  }[found.what];
  const lines = others.toSpliced(MOST_WAYS - 1, 0, most).map((way) => {
    const who = someRanks(way.entered, found.nRanks, report);
    return `${who}: ${callText(way, callNumber(found.call) + on)} (${wayArguments(way)})`;
  });
  return firstLines(listed(label, lines), MOST_WAYS, 'more ways');
}

/** The other side called fewer. */
const unmatchedLines = ({ unmatched }: Hang, report: VerdictReport): string[] =>
  unmatched.slice(0, MOST_WAYS).map(({ file, func, peerFile, by }) => {
    const [own, other] = [file, peerFile].map((one) => rankName(report, one));
    const [to, did] = func === 'Send' ? ['to', 'received'] : ['from', 'sent'];
    return labelled(
      'no other side',
      `rank ${own}: ${by} ${name(func)} ${to} ${other} more than ${other} ${did}`,
    );
  });

/** A call whose work NCCL does not report. */
function unseenLines({ unseen, nRanks }: Hang, report: VerdictReport): string[] {
  if (!unseen) return [];
  return [
    labelled('all called', `nccl${name(unseen.func)} (${wayArguments(unseen)})`),
    continued('NCCL reports no work of it: whose GPU waits is not known'),
    labelled('not past it', someRanks(unseen.last, nRanks, report)),
  ];
}

/** Which rank began which call first. The first calls of a side are examples for all. */
function crossedLines({ crossed }: Hang, report: VerdictReport): string[] {
  const lines = crossed.slice(0, MOST_IN_CIRCLE).flatMap((side) => {
    const [{ first, second }] = side as [Order];
    const who = rankList(filesOf(side), report);
    const [before, after] = [`${who}: ${callText(first)},`, `then ${callText(second)}`];
    return before.length + after.length + 1 <= ROOM ? [`${before} ${after}`] : [before, `  ${after}`];
  });
  const label = crossed.length === 2 ? 'two orders' : `${crossed.length} orders`;
  return listed(label, lines);
}

/** The largest circle that is shown whole. */
const MOST_IN_CIRCLE = 4;

/** Each rank waits for the next one's second call, which waits behind its first. */
function circleLines({ circle }: Hang, report: VerdictReport): string[] {
  const call = ({ func, peerFile }: PlacedTransfer): string =>
    `${name(func)} ${func === 'Recv' ? 'from' : 'to'} ${rankName(report, peerFile)}`;
  const lines = circle.map(
    ({ file, first, later }) => `rank ${rankName(report, file)}: ${call(first)}, then ${call(later)}`,
  );
  return firstLines(listed('in a circle', lines), MOST_IN_CIRCLE, 'more ranks');
}

function waiting(
  { waiting: entered, aborted, notKnown, mayHaveFinished, waits, nRanks }: Hang,
  report: VerdictReport,
): string[] {
  const lines: string[] = [];
  const gone = new Set(aborted);
  const unfinished = entered.filter(({ file }) => !gone.has(file));
  if (unfinished.length > 0) lines.push(labelled('not finished', someRanks(unfinished, nRanks, report)));
  if (aborted.length > 0) lines.push(labelled('aborted', `${rankList(aborted, report)}, not finished`));
  if (waits.length > 0)
    lines.push(labelled('operations', waits.map(([what, count]) => `${count} ${what}`).join(', ')));
  if (notKnown.length > 0)
    lines.push(labelled('not known', `no records of that time: ${rankList(notKnown, report)}`));
  if (mayHaveFinished.length > 0)
    lines.push(labelled('finished?', `its end may be lost: ${rankList(mayHaveFinished, report)}`));
  return lines;
}

function whereToLook(hang: Hang, report: VerdictReport): string[] {
  const { front, kernels, circle, crossed, waiting: entered } = hang;
  if (crossed.length > 2 || hang.unseen) return [];
  // The network shows a rank that waits for data from inside its node. The kernels show which GPU of the node is behind.
  if (front && !kernels.some(({ isLeast }) => isLeast)) {
    const { waiters, of } = front;
    const isEnd = circle.length === 0 && of > 1; // a circle has no end for which the others wait
    const label =
      isEnd && waiters === of ? 'all wait for' : isEnd && waiters * 2 > of ? 'most wait for' : 'look at';
    const past = front.isSend ? 'the peer has received it' : 'the peer has sent it';
    return [
      labelled(label, frontText(front, hang, report)),
      ...(front.peerIsPast ? [continued(past)] : []),
      ...onWireLines(hang, report),
      ...(front.isUnposted ? [continued('it is not posted, and the peer waits for room')] : []),
      ...(front.node ? nodeLines(front.node, kernels, report) : []),
    ];
  }
  if (kernels.length > 0) return kernelLines(kernels, report);
  if (entered.length === 0) return [];
  const notRecorded = report.verdict.notRecorded
    .map(({ event }) => event)
    .filter((event) => event === 'ProxyOp' || event === 'ProxyStep' || event === 'KernelCh');
  return [
    labelled(
      'in what',
      notRecorded.length > 0
        ? `not known: ${notRecorded.join(', ')} not recorded (NCCL_TRACE_EVENTS)`
        : 'not known: NCCL reported no operation on the network',
    ),
  ];
}

/** The data pass through GPUs of which no record says anything. */
function nodeLines(
  node: Front['node'] & object,
  kernels: readonly KernelState[],
  report: VerdictReport,
): string[] {
  const which = `one of ${ranksOfNode(node, report)}`;
  return kernels.length > 0
    ? [labelled('which GPU', `${which}: all their kernels began`)]
    : [
        labelled('which GPU', `${which}: its inside is not recorded`),
        continued('record KernelCh to know which (NCCL_TRACE_EVENTS)'),
      ];
}

/** Ranks that called the collective, but whose kernel never began, or began and did not end. */
function kernelLines(kernels: readonly KernelState[], report: VerdictReport): string[] {
  const groups = new Map<string, KernelState[]>();
  for (const one of kernels) {
    addTo(groups, `${one.isLeast} ${one.begun} ${one.ended} ${one.channels}`, one);
  }
  const lines = [...groups.values()].slice(0, MOST_STRAYS).map((group) => {
    const [{ begun, ended, channels, isLeast }] = group as [KernelState];
    const who =
      group.length === 1 && begun === 0
        ? `rank ${rankWithHost(report, group[0]!.file)}`
        : rankList(filesOf(group), report);
    const size = counted(channels, 'channel');
    const what =
      begun === 0
        ? `called, no kernel began (${size})`
        : `kernel began on ${begun} of ${size}, ended on ${ended}`;
    return labelled(isLeast ? 'look at' : 'on the GPU', `${who}: ${what}`);
  });
  return kernels.some(({ isLeast }) => isLeast)
    ? lines
    : [...lines, labelled('which GPU', 'not known: all began; within a node no record says more')];
}

/** What else stands still: what only waits for a stall that is told, and each other cause with the ranks that it names. */
function alsoStuck(hang: Hang, report: VerdictReport): string[] {
  const { findings } = report.verdict;
  const own = findings.findIndex(({ where }) => where !== null && callText(where) === callText(hang));
  const others = findings.filter(({ rule, where }, i) => i !== own && where !== null && STUCK.includes(rule));
  const behind = others.flatMap(({ where, because }) => (because === null ? [] : [callText(where!)]));
  const causes = others
    .filter(({ because }) => because === null)
    .map(({ where, who }) => {
      const named = whoText(who, where, report);
      return `${callText(where!)}${named && `: ${named}`}`;
    });
  return [
    ...firstLines(listed('stuck too', causes), MOST_CAUSES),
    ...(behind.length > 0 ? [labelled('only wait', few(behind, 2))] : []),
  ];
}

/** Further causes are only counted. */
const MOST_CAUSES = 3;

const STUCK: readonly string[] = ['stuck', 'broke off', 'job ended'];

/** Groups of ranks in the same call. Further groups are only counted. */
const MOST_STRAYS = 2;

const TRANSFERS: readonly string[] = ['Send', 'Recv'];

/** Ranks that never came, grouped by the call they are stuck in. `usual`: their label if it is a collective. */
function strays(hang: Hang, usual: string, report: VerdictReport): string[] {
  const { neverEntered, seq, waiting, inside } = hang;
  const groups = new Map<string, Stray[]>();
  for (const stray of neverEntered) {
    const { stuckIn, newest } = stray;
    const key = stuckIn ? `${stuckIn.commId} ${callText(stuckIn)}` : newest ? callText(newest) : '';
    addTo(groups, key, stray);
  }
  const isCalled = inside.some(({ func }) => !TRANSFERS.includes(func));
  const label = isCalled ? 'never called' : seq === null ? 'other side' : usual;
  const all = [...groups.values()];
  const lines = all.slice(0, MOST_STRAYS).flatMap((group) => strayLines(label, group, hang, report));
  const rest = all.slice(MOST_STRAYS).flat();
  if (rest.length > 0) lines.push(labelled(label, `${someRanks(rest, hang.nRanks, report)} as well`));
  if (neverEntered.length > 0 && waiting.length + inside.length === 0)
    lines.push('  the others entered; NCCL does not say whether it ended there');
  return lines;
}

function strayLines(label: string, group: readonly Stray[], hang: Hang, report: VerdictReport): string[] {
  const { nRanks } = hang;
  const [first] = group as [Stray];
  const { stuckIn, isIn, newest, file, elsewhere } = first;
  const isOne = group.length === 1;
  const all = someRanks(group, nRanks, report);
  const one = first.inComm ? `${all} (${hostOf(report, file)})` : `rank ${rankWithHost(report, file)}`;
  const who = isOne ? one : all;
  const lines = [labelled(label, isOne ? `${who}, ${lifeText(first, hang, report)}` : who)];
  if (stuckIn) {
    lines.push(continued(`stuck in ${callText(stuckIn)} since ${clockTime(report, stuckIn.at)}`));
    if (stuckIn.front) lines.push(continued(frontText(stuckIn.front, stuckIn, report)));
  } else if (elsewhere)
    lines.push(continued(`at work: ${callText(elsewhere)}, ${clockTime(report, elsewhere.at)}`));
  else if (isIn) lines.push(continued(`inside nccl${name(isIn.func)} since ${clockTime(report, isIn.at)}`));
  else if (newest) {
    const unseen = newest.seq === null ? ' (NCCL reports no end of it)' : '';
    lines.push(continued(`last there: ${callText(newest, '')}, ${clockTime(report, newest.at)}${unseen}`));
  } else lines.push(continued('it has nothing unfinished, there or elsewhere'));
  return lines;
}

function lifeText(
  { knownUntil, lastSign, isAlive, file, left }: Stray,
  { until, isRelated }: Hang,
  report: VerdictReport,
): string {
  if (left !== null) return `it destroyed the communicator at ${clockTime(report, left)}`;
  if (isAlive) return 'alive';
  if (report.ranks[file]!.life === 'closed' || knownUntil === null)
    return 'its process exited without ncclCommDestroy';
  if (lastSign === null) return 'never a heartbeat';
  if (!isRelated) return `last heartbeat ${clockTime(report, lastSign)} of its own clock`;
  const ago = Math.max(0, until - lastSign);
  return ago < 1.5e9 ? `alive to the end` : `last heartbeat ${durationText(ago)} before the end`;
}
