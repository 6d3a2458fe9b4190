/** A hang as text: what is stuck since when, who never came, who made another call, who waits, where to look. */

import { durationText } from '../base/duration.js';
import type { Broken, Front, Hang, KernelState, Order, Silent, Stray, Waiting } from '../verdict/types.js';
import {
  callNumber,
  callText,
  clockTime,
  commName,
  continued,
  few,
  labelled,
  name,
  peerName,
  ROOM,
  rankList,
  rankName,
  hostOf,
  rankWithHost,
  someRanks,
  wayArguments,
  type VerdictReport,
} from './verdict_phrases.js';
import { goneFirst } from '../verdict/evidence/suspects.js';
import { sizeText } from './text.js';

/** Groups of ranks in the same call. Further groups are only counted. */
const MOST_STRAYS = 2;
/** Ways to make one call. Further ways are only counted. */
const MOST_WAYS = 3;

export function hangLines(hang: Hang, report: VerdictReport): string[] {
  return stallLines(hang, hang.aborted.length > 0 ? 'HUNG, then ABORTED' : 'HUNG', [], report);
}

/** WAITING: the evidence of a hang, and why there is no alarm. */
export function waitingLines({ stall, hungAfter, isLive }: Waiting, report: VerdictReport): string[] {
  const who = stall.missing.length === 0 ? 'all ranks' : 'all with a file';
  const lived = isLive ? `${who} live, by heartbeats` : `the records end after ${durationText(stall.age)}`;
  const why = labelled('no hang yet', `${lived}; --hung-after is ${durationText(hungAfter)}`);
  return stallLines(stall, 'WAITING', [why], report);
}

/** Who is gone, and what the others did afterwards. */
export function brokenLines(broken: Broken, report: VerdictReport): string[] {
  const { stall, gone, isOrderKnown, left, finished } = broken;
  const ended = (files: readonly number[], how: string): string[] =>
    files.length === 0 ? [] : [labelled('ended in order', `${rankList(files, report)}, ${how}`)];
  const why = [
    ...neverClosedLines(gone, report),
    ...ended(left, gone.length === 0 ? 'in the middle of it' : 'not finished'),
    ...ended(finished, 'finished'),
    ...(isOrderKnown ? [] : [labelled('which first', 'not known, heartbeats come once a second')]),
  ];
  const rest = stall.silent.filter(({ file }) => !filesOf(gone).includes(file));
  return stallLines({ ...stall, silent: rest }, 'BROKEN OFF', why, report);
}

function stallLines(hang: Hang, verb: string, why: readonly string[], report: VerdictReport): string[] {
  return [
    ...title(hang, verb, report),
    ...mismatch(hang, report),
    ...goneLines(hang, verb, report),
    ...endedLines(hang, report),
    ...why,
    ...strays(hang, verb, report),
    ...crossedLines(hang, report),
    ...insideLines(hang, report),
    ...waiting(hang, report),
    ...whereToLook(hang, report),
    ...silentLines(hang, report),
    ...alsoHung(hang),
  ];
}

function title({ since, age, nRanks, ...hang }: Hang, verb: string, report: VerdictReport): string[] {
  const what = `${verb}  ${callText(hang)} (${sizeText(nRanks, report.worldSize)})`;
  const when = `since ${clockTime(report, since)} (${durationText(age)})`;
  return what.length + when.length + 2 <= 80 ? [`${what}  ${when}`] : [what, labelled('stuck', when)];
}

const TRANSFERS: readonly string[] = ['Send', 'Recv'];

/** Threads inside a call that has not returned: it connects and waits for its peers. */
function insideLines({ inside, nRanks, since }: Hang, report: VerdictReport): string[] {
  const byFunc = new Map<string, typeof inside>();
  for (const one of inside) byFunc.set(one.func, [...(byFunc.get(one.func) ?? []), one]);
  return [...byFunc].map(([func, all]) => {
    const [first] = all as [(typeof inside)[number]];
    const what = `nccl${name(func)} (${wayArguments(first)})`;
    const when = first.at < since ? ` since ${clockTime(report, first.at)}` : '';
    return labelled('inside NCCL', `${someRanks(all, nRanks, report)}: in ${what}${when}`);
  });
}

/** Processes that fell silent come before those who wait for them, unless most did. */
function goneLines(hang: Hang, verb: string, report: VerdictReport): string[] {
  if (verb === 'BROKEN OFF') return [];
  const gone = goneFirst(hang, report.ranks.length);
  return heartbeatLines(gone, hang.until, report);
}

/** Their processes ended in order, and the others wait for them. */
function endedLines({ ended }: Hang, report: VerdictReport): string[] {
  const [first] = ended;
  if (!first) return [];
  const who =
    ended.length === 1
      ? `rank ${rankWithHost(report, first.file)} at ${clockTime(report, first.at)}`
      : rankList(filesOf(ended), report);
  return [labelled('ended in order', `${who}, in the middle of it`)];
}

/** Ranks that never came, grouped by the call they are stuck in. */
function strays(hang: Hang, verb: string, report: VerdictReport): string[] {
  const { neverEntered, seq, waiting, inside } = hang;
  const groups = new Map<string, Stray[]>();
  for (const stray of neverEntered) {
    const { stuckIn, newest } = stray;
    const key = stuckIn ? `${stuckIn.commId} ${callText(stuckIn)}` : newest ? callText(newest) : '';
    groups.set(key, [...(groups.get(key) ?? []), stray]);
  }
  const isCalled = inside.some(({ func }) => !TRANSFERS.includes(func));
  const label = isCalled
    ? 'never called'
    : seq === null
      ? 'other side'
      : verb === 'WAITING'
        ? 'not entered'
        : 'never entered';
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
  const { stuckIn, isIn, newest, file } = first;
  const isOne = group.length === 1;
  const all = someRanks(group, nRanks, report);
  const one = first.inComm ? `${all} (${hostOf(report, file)})` : `rank ${rankWithHost(report, file)}`;
  const who = isOne ? one : all;
  const lines = [labelled(label, isOne ? `${who}, ${lifeText(first, hang, report)}` : who)];
  if (stuckIn) {
    lines.push(continued(`stuck in ${callText(stuckIn)} since ${clockTime(report, stuckIn.at)}`));
    if (stuckIn.front) lines.push(continued(frontText(stuckIn.front, stuckIn, report)));
  } else if (isIn) lines.push(continued(`inside nccl${name(isIn.func)} since ${clockTime(report, isIn.at)}`));
  else if (newest)
    lines.push(continued(`last there: ${callText(newest, '')}, ${clockTime(report, newest.at)}`));
  else lines.push(continued('it has nothing unfinished, there or elsewhere'));
  return lines;
}

function lifeText(
  { knownUntil, lastSign, isAlive, file }: Stray,
  { until, isRelated }: Hang,
  report: VerdictReport,
): string {
  if (isAlive) return 'alive';
  if (report.ranks[file]!.life === 'closed' || knownUntil === null) return 'its process ended in order';
  if (lastSign === null) return 'never a heartbeat';
  if (!isRelated) return `last heartbeat ${clockTime(report, lastSign)} of its own clock`;
  const ago = Math.max(0, until - lastSign);
  return ago < 1.5e9 ? `alive to the end` : `last heartbeat ${durationText(ago)} before the end`;
}

function mismatch({ mismatch: found, commId }: Hang, report: VerdictReport): string[] {
  if (!found) return [];
  const on = found.commId === commId ? '' : ` on ${commName(found)}`;
  const [most, ...others] = found.ways;
  const shown = [...others.slice(0, MOST_WAYS - 1), most];
  const label = found.what === 'calls' ? 'other calls' : 'other arguments';
  const lines = shown.map((way) => {
    const who = someRanks(way.entered, found.nRanks, report);
    return `${who}: ${callText(way, callNumber(found.call) + on)} (${wayArguments(way)})`;
  });
  const more = found.ways.length - shown.length;
  if (more > 0) lines.push(`and ${more} more ways`);
  return lines.map((line, i) => (i === 0 ? labelled(label, line) : continued(line)));
}

/** Which rank began which call first. The first calls of a side are examples for all. */
function crossedLines({ crossed }: Hang, report: VerdictReport): string[] {
  if (!crossed) return [];
  const lines = [crossed.others, crossed.most].flatMap((side) => {
    const [{ first, second }] = side as [Order];
    const who = rankList(filesOf(side), report);
    const [before, after] = [`${who}: ${callText(first)},`, `then ${callText(second)}`];
    return before.length + after.length + 1 <= ROOM ? [`${before} ${after}`] : [before, `  ${after}`];
  });
  return lines.map((line, i) => (i === 0 ? labelled('two orders', line) : continued(line)));
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
  const { front, kernels, waiting: entered } = hang;
  if (front) {
    const { waiters, of } = front;
    const label =
      waiters === of && of > 1 ? 'all wait for' : of > 1 && waiters * 2 > of ? 'most wait for' : 'look at';
    const past = front.isSend ? 'the peer has received it' : 'the peer has sent it';
    return [labelled(label, frontText(front, hang, report)), ...(front.peerIsPast ? [continued(past)] : [])];
  }
  if (kernels.length > 0) return kernelLines(kernels, report);
  if (entered.length === 0) return [];
  const notRecorded = report.verdict.notRecorded
    .map(({ event }) => event)
    .filter((event) => event === 'ProxyOp' || event === 'KernelCh');
  return [
    labelled(
      'in what',
      notRecorded.length > 0
        ? `not known: ${notRecorded.join(', ')} not recorded (NCCL_TRACE_EVENTS)`
        : 'not known: NCCL reported no operation on the network',
    ),
  ];
}

/** Called, but its kernel never began, or began and did not end. */
function kernelLines(kernels: readonly KernelState[], report: VerdictReport): string[] {
  const groups = new Map<string, KernelState[]>();
  for (const one of kernels) {
    const key = `${one.isLeast} ${one.begun} ${one.ended} ${one.channels}`;
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()].slice(0, MOST_STRAYS).map((group) => {
    const [{ begun, ended, channels, isLeast }] = group as [KernelState];
    const who =
      group.length === 1 ? `rank ${rankWithHost(report, group[0]!.file)}` : rankList(filesOf(group), report);
    const size = channels === 1 ? '1 channel' : `${channels} channels`;
    const what =
      begun === 0
        ? `called, no kernel began (${size})`
        : `kernel began on ${begun} of ${size}, ended on ${ended}`;
    return labelled(isLeast ? 'look at' : 'on the GPU', `${who}: ${what}`);
  });
}

function silentLines(hang: Hang, report: VerdictReport): string[] {
  const { silent, until, neverEntered, waiting: entered, isRelated } = hang;
  const said = new Set(filesOf(neverEntered));
  const first = new Set(filesOf(goneFirst(hang, report.ranks.length)));
  const rest = silent.filter(({ file }) => !first.has(file) && (!said.has(file) || neverEntered.length > 1));
  const lines = [...heartbeatLines(rest, until, report), ...copyLines(silent, report)];
  const ranks = new Set([...filesOf(neverEntered), ...filesOf(entered)]);
  if (!isRelated && ranks.size > 0) lines.push(labelled('fell silent', 'not known who: clocks not related'));
  return lines;
}

/** Silent files that may also be copies of live ranks. */
export function copyLines(silent: readonly Silent[], report: VerdictReport): string[] {
  const mayBeCopy = silent.filter((one) => one.mayBeCopy);
  if (mayBeCopy.length === 0) return [];
  const whose = mayBeCopy.length === silent.length ? '' : ` of ${rankList(filesOf(mayBeCopy), report)}`;
  return [labelled('or copied', `the file${whose} earlier than others: a copy cannot tell`)];
}

/** Processes that must be gone, because the others ended in order later. */
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

/** Ranks that fell silent before the others. */
export function heartbeatLines(silent: readonly Silent[], until: number, report: VerdictReport): string[] {
  const [first] = silent;
  if (!first) return [];
  const who =
    silent.length === 1 ? `rank ${rankWithHost(report, first.file)}` : rankList(filesOf(silent), report);
  const { lastSign } = first;
  const since =
    lastSign === null
      ? 'ever'
      : `since ${clockTime(report, lastSign)} (${durationText(Math.max(0, until - lastSign))} before the end)`;
  return [labelled('no heartbeat', `${who} ${since}`)];
}

function alsoHung({ alsoHung: others }: Hang): string[] {
  const waits = others.filter(({ onlyWaits }) => onlyWaits);
  const rest = others.filter(({ onlyWaits }) => !onlyWaits);
  const lines: string[] = [];
  if (waits.length > 0)
    lines.push(
      labelled(
        'only wait',
        few(
          waits.map((one) => callText(one)),
          2,
        ),
      ),
    );
  if (rest.length > 0)
    lines.push(
      labelled(
        'stuck too',
        few(
          rest.map((one) => callText(one)),
          2,
        ),
      ),
    );
  return lines;
}

function frontText(front: Front, call: Parameters<typeof peerName>[1], report: VerdictReport): string {
  const { file, channel, isSend, done, nSteps, wait, executor } = front;
  const peer = peerName(front, call, report);
  const by = executor === null ? '' : ` by rank ${rankName(report, executor)} (PXN)`;
  const where = `rank ${rankName(report, file)} ch ${channel} ${isSend ? 'send to' : 'recv from'} ${peer}${by}`;
  const step = wait
    ? `, step ${wait.step} of ${nSteps} in ${name(wait.name)}`
    : `, ${done} of ${nSteps} steps`;
  return `${where}${step}`;
}

const filesOf = (list: readonly { readonly file: number }[]): number[] => list.map(({ file }) => file);
