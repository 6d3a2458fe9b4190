/**
 * PyTorch's Flight Recorder as text: its own verdict, for people who have no rank files, and the lines that it adds to our verdict. Each
 * stack is shortened to the place in the user's code. The JSON and the page have the whole stacks.
 */

import type { DumpedCall, Frame } from '../pytorch/calls.js';
import { addTo } from '../base/grouped.js';
import { functionOf } from '../pytorch/compared_calls.js';
import type { DumpVerdict, GivenUp, PendingCollective } from '../pytorch/dump_verdict.js';
import type { FlightReport } from '../pytorch/flight_report.js';
import type { NamedCollective } from '../pytorch/rank_positions.js';
import type { DumpedDetail, DumpFinding } from '../pytorch/rules.js';
import type { DumpedWay } from '../pytorch/compared_calls.js';
import { frameText, stacksOf, type SharedStack } from '../pytorch/stacks.js';
import type { ToldFlight } from './diagnosed.js';
import { andMore, continued, firstLines, labelled, printable, ranksText } from './text.js';

const MOST_NAMED = 4;
const MOST_WAYS = 3;

/** Mostly 15 lines. A terminal cuts them, a pipe does not. */
export function dumpVerdictText({ verdict }: FlightReport): string[] {
  const { findings, pending, pendingGroups, givenUp, withoutDump, reasons } = verdict;
  const [first] = findings;
  const [place, ...places] = pending;
  const also = findings.slice(1).filter(({ kind }) => kind !== 'pending');
  return [
    dumpHeadline(verdict),
    ...(first ? detailsOf(first) : []),
    ...also.slice(0, 3).flatMap((one) => [labelled('also', sentenceOf(one)), ...lastCalls(one).slice(0, 1)]),
    ...andMore(also.length - 3),
    ...(place ? placeLines(place) : first ? [sinceLine(first.since!)] : []),
    ...places.slice(0, 1).map((one) => labelled('also waiting', waitingText(one))),
    ...andMore(pendingGroups - 2, 'other process groups'),
    ...(withoutDump.length > 0 ? [labelled('no dump', ranksText(withoutDump))] : []),
    ...reasons.map(({ rank, reason }) =>
      labelled(`rank ${rank}`, `its file only says: ${printable(reason)}`),
    ),
    ...givenUp.slice(0, 2).map((one) => labelled('given up before', givenUpText(one))),
    ...besidesLines(verdict),
    labelled('read', `${verdict.dumps} dumps of PyTorch's Flight Recorder`),
  ];
}

/** "HUNG  rank 3 never called all_reduce 41 of group 0 default_pg" */
export function dumpHeadline({
  kind,
  findings,
  pendingTransfers,
  dumps,
}: Pick<DumpVerdict, 'kind' | 'findings' | 'pendingTransfers' | 'dumps'>): string {
  const [first] = findings;
  if (first) return `${kind.toUpperCase()}  ${together(first, findings)}`;
  return kind === 'quiet'
    ? `NOTHING PENDING  in the dumps of ${dumps} ranks`
    : `PENDING  ${pendingTransfers} sends and receives`;
}

/** Several ranks may be missing in the same way, each in groups of its own. */
function together(first: DumpFinding, findings: readonly DumpFinding[]): string {
  const alike = findings.filter(({ rule, kind }) => rule === first.rule && kind !== 'mismatch');
  const byRank = new Map([first, ...alike].flatMap((one) => one.about.named).map((one) => [one.rank, one]));
  const named = [...byRank.values()].sort((a, b) => a.rank - b.rank);
  const isMore = first.kind === 'hung' && alike.length > 1;
  return `${sentenceOf({ ...first, about: { ...first.about, named } })}${isMore ? ', or a call like it' : ''}`;
}

export const toldFlight = (report: FlightReport): ToldFlight => {
  const findings = report.verdict.findings.map((one) => ({ ...one, says: sentenceOf(one) }));
  return { ...report, verdict: { ...report.verdict, findings } };
};

/** What is wrong, and who. */
function sentenceOf({ rule, about: one }: DumpFinding): string {
  const who = ranksText(one.named.map(({ rank }) => rank));
  const where = collectiveText(one);
  switch (rule) {
    case 'called differently':
      return one.named.length < one.ways.reduce((sum, { ranks }) => sum + ranks.length, 0)
        ? `${who} did not call ${where} as the others did`
        : `${who} called ${where} differently`;
    case 'sizes differ':
      return one.op.includes(' ')
        ? `${who}: the sizes of ${where} and of ${one.ways[1]!.op} differ${alikeText(one)}`
        : `${who}: what ranks send and what others expect differs in ${where}`;
    case 'batches differ':
      return `${who}: their batches of sends and receives do not mirror each other in ${groupText(one)}`;
    case 'other order':
      return `${who} called ${callText(one.named[0]!.last!)} and ${where} in another order than others did`;
    case 'not finished':
      return `${who} did not finish ${where}`;
    case 'not started':
      return `the GPU of ${who} did not start ${where}`;
    case 'circle':
      return `${who} wait for each other in a circle: ${circleText(one)}`;
    case 'no dump':
      return `${where}: ${who} left no dump: look there first`;
    case 'pending':
      return where;
    default:
      return `${who} never called ${halfOf(where)}${alikeText(one)}`;
  }
}

const circleText = ({ named, ...one }: DumpedDetail): string => {
  const waits = named.flatMap(({ last }) => last ?? []);
  // One group is named once.
  const isOne = waits.every(({ group }) => group === waits[0]!.group);
  const calls = [...new Set(waits.map((last) => (isOne ? opText(last) : callText(last))))];
  return `${calls.slice(0, 3).join(', ')}${calls.length > 3 ? ' …' : ''}${isOne ? ` of ${groupText(waits[0] ?? one)}` : ''}`;
};

const alikeText = ({ alike }: DumpedDetail): string => (alike > 0 ? ` and ${alike} more like it` : '');

/** The other half of a send or receive: who did not call it, did not call that one. */
const halfOf = (where: string): string =>
  where.replace(/^(send|recv) (\d+)(?:->|<-)(\d+)/, (_, word: string, own: string, other: string) =>
    word === 'send' ? `recv ${other}<-${own}` : `send ${other}->${own}`,
  );

function detailsOf(found: DumpFinding): string[] {
  const { rule, about } = found;
  const { named, ways, waiting, pairs } = about;
  const lines = [
    ...pairs.map(({ from, to, sent, expected }) =>
      labelled(`rank ${from}`, `sends ${sent} elements to rank ${to}, which expects ${expected}`),
    ),
    ...ways.map((way) => labelled(ranksText(way.ranks), wayText(way, found))),
  ];
  if (lines.length > 0)
    return [
      ...firstLines(lines, MOST_WAYS),
      ...named.slice(0, 2).flatMap(({ rank, last }) => lastCall(`rank ${rank}`, last, about)),
    ];
  return [
    ...lastCalls(found),
    ...andMore(named.length - MOST_NAMED, 'other ranks'),
    ...(about.op.includes(' ') && rule !== 'circle'
      ? [labelled('waiting', `${ranksText(waiting)} in ${collectiveText(about)}`)]
      : []),
  ];
}

function wayText({ op, elements, received, dtype }: DumpedWay, { rule, about }: DumpFinding): string {
  const sizes = [elements ?? '', printable(dtype)].join(' ').trim() || 'sizes not compared';
  const call = op.includes(' ') ? printable(op) : `${printable(op)} ${about.seq}`;
  if (received !== undefined) return `${call} (sends ${sizes}, receives ${received})`;
  return `${call} (${sizes})${rule === 'batches differ' ? ': the other rank has no half for it' : ''}`;
}

const WAITING_RULES: readonly DumpFinding['rule'][] = ['circle', 'other order'];

const lastCalls = ({ rule, about }: DumpFinding): string[] =>
  about.named
    .slice(0, MOST_NAMED)
    .flatMap(({ rank, last }) =>
      lastCall(`rank ${rank} ${WAITING_RULES.includes(rule) ? 'waits in' : 'last'}`, last, about),
    );

/** Where the ranks are that wait, and which of the others said what. */
function placeLines(place: PendingCollective): string[] {
  const { waiting, started, finished, behind, notListed, aborted, withoutDump, call } = place;
  const isAll = finished.length + behind.length + notListed.length + withoutDump.length === 0;
  const isMixed = started.length > 0 && started.length < waiting.length;
  return [
    labelled('waiting', `${isAll ? 'all ' : ''}${waitingText(place)}`),
    ...(isMixed ? [labelled('GPU started it', ranksText(started))] : []),
    ...(finished.length > 0 ? [labelled('finished', ranksText(finished))] : []),
    ...(notListed.length > 0
      ? [labelled('not listed', `${ranksText(notListed)}; may have finished, or not called`)]
      : []),
    ...(aborted.length > 0 ? [labelled('aborted', `on ${ranksText(aborted)}, so it is over there`)] : []),
    sinceLine(place.sinceNs),
    ...calledFrom(stacksOf([{ rank: waiting[0]!, call }])),
  ];
}

const sinceLine = (sinceNs: number): string =>
  labelled('since', `${timeOf(sinceNs)}; dumps do not say until when`);

const givenUpText = (one: GivenUp): string => `${collectiveText(one)}, called ${timeOf(one.sinceNs)}`;

const waitingText = (place: PendingCollective): string =>
  `${ranksText(place.waiting)} in ${collectiveText(place)}`;

/** What was found beside the job of the verdict, and about its clocks. */
function besidesLines({ others, clocks }: DumpVerdict): string[] {
  const offsets = new Map<number, number[]>();
  for (const { rank, aheadNs } of clocks) addTo(offsets, Math.round(aheadNs / 1e9), rank);
  return [
    ...[...offsets].map(([seconds, ranks]) =>
      labelled('clock', `${ranksText(ranks)}: ${aheadText(seconds)}; corrected`),
    ),
    ...others.flatMap(({ why, ranks, worldSize, lastNs, verdict }) => [
      labelled(
        'other dumps',
        `${ranksText(ranks)}: ${why} (${worldSize} ranks${lastNs > 0 ? `, last call ${timeOf(lastNs)}` : ''})`,
      ),
      ...(verdict && verdict.kind !== 'quiet' ? [continued(dumpHeadline(verdict))] : []),
    ]),
  ];
}

const aheadText = (seconds: number): string =>
  `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} the others`;

/** With its group, where that is not the one of the finding. */
function lastCall(label: string, last: DumpedCall | null, one?: DumpedDetail): string[] {
  if (last === null) return [];
  const call = one === undefined || one.group === last.group ? opText(last) : callText(last);
  return [labelled(label, `${call}${placeText(last.frames)}`)];
}

/** The lines beside our own verdict. */
export function flightLines({ verdict, matched }: FlightReport): string[] {
  const besides = besidesLines(verdict);
  if (matched === null) return [labelled('PyTorch', dumpHeadline(verdict)), ...besides];
  const { group, description, op, seq, agreed, of } = matched;
  return [
    labelled(
      'process group',
      `${groupNames(group, description)}, its ${opText({ op, seq, isP2p: false })} (${agreed} of ${of} dumps)`,
    ),
    ...calledFrom(matched.stacks),
    ...matched.strays.slice(0, 2).flatMap(({ rank, last }) => lastCall(`rank ${rank} last`, last)),
    ...besides,
  ];
}

const MOST_STACKS = 4;

/** Arguments for the stuck collective in the trace. */
export function flightArguments({ matched }: FlightReport): (readonly [string, string])[] {
  if (matched === null) return [];
  const { group, description, op, seq, stacks } = matched;
  return [
    ['processGroup', group],
    ['processGroupDescription', description],
    ['pytorchCall', opText({ op, seq, isP2p: false })],
    ...stacks
      .slice(0, MOST_STACKS)
      .map(({ ranks, frames }, i): [string, string] => [
        `pythonStack${i + 1}`,
        `${ranksText(ranks)}: ${frames.map(frameText).join(' < ')}`,
      ]),
  ];
}

const calledFrom = (stacks: readonly SharedStack[]): string[] =>
  stacks
    .slice(0, 2)
    .map(({ ranks, frames }) =>
      labelled('called from', `${ranksText(ranks)}: ${userFrames(frames).map(shortFrame).join(' < ')}`),
    );

const placeText = (frames: readonly Frame[]): string => {
  const [first] = userFrames(frames);
  return first ? `, from ${shortFrame(first)}` : '';
};

/** The innermost two that are not PyTorch's own. */
function userFrames(frames: readonly Frame[]): readonly Frame[] {
  const own = frames.filter(({ file }) => !/(^|\/)torch\//.test(file));
  return (own.length > 0 ? own : frames).slice(0, 2);
}

const shortFrame = ({ name, file, line }: Frame): string =>
  `${printable(name)} ${printable(file.split('/').slice(-1).join('/'))}:${line}`;

/** "all_gather 31", "send 0->1" */
const opText = (call: Pick<DumpedCall, 'op' | 'isP2p'> & { readonly seq: number | null }): string =>
  call.isP2p || call.seq === null ? printable(call.op) : `${printable(functionOf(call))} ${call.seq}`;
const callText = (call: DumpedCall): string => `${opText(call)} of ${groupText(call)}`;
const groupNames = (group: string, description: string): string =>
  printable(description === '' ? group : `${group} ${description}`);
const groupText = ({ group, description }: Pick<NamedCollective, 'group' | 'description'>): string =>
  `group ${groupNames(group, description)}`;
const collectiveText = ({ op, seq, ...group }: NamedCollective): string =>
  `${opText({ op, seq, isP2p: op.includes(' ') })} of ${groupText(group)}`;

/** With the date: dumps may lie there for days. */
const timeOf = (ns: number): string => {
  const date = new Date(ns / 1e6);
  return Number.isNaN(date.getTime())
    ? 'an impossible time'
    : `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
};
