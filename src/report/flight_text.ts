/**
 * PyTorch's Flight Recorder as text: its own verdict, for people who have no rank files, and the lines that it adds to our verdict. Each
 * stack is shortened to the place in the user's code. The JSON and the page have the whole stacks.
 */

import type { Culprit } from '../pytorch/blamed.js';
import type { DumpedMismatch, DumpVerdict } from '../pytorch/dump_verdict.js';
import type { NamedCollective } from '../pytorch/rank_positions.js';
import type { DumpedCall, Frame } from '../pytorch/dump.js';
import type { FlightReport } from '../pytorch/flight_report.js';
import { frameText, stacksOf, type SharedStack } from '../pytorch/stacks.js';
import { foldRanks } from './text.js';
import { continued, fit, labelled, name } from './verdict_phrases.js';

const MOST_CULPRITS = 4;
const MOST_WAYS = 3;

/** At most 15 lines. */
export function dumpVerdictText(report: FlightReport): string[] {
  const { verdict } = report;
  const [first] = verdict.pending;
  const [mismatch] = verdict.mismatches;
  return [
    titleOf(verdict),
    ...(mismatch ? mismatchLines(mismatch) : []),
    ...culpritLines(verdict.culprits),
    ...(verdict.kind === 'pending' ? [labelled('called', 'all ranks with a dump; none finished')] : []),
    ...(first
      ? [
          labelled('waiting', `${rankText(first.waiting)} in ${collectiveText(first)}`),
          labelled('since', `${timeOfDay(first.sinceNs)}; dumps do not say until when`),
          ...calledFrom(stacksOf([{ rank: first.waiting[0]!, call: first.call }])),
        ]
      : []),
    ...(verdict.pendingGroups > 1
      ? [labelled('also waiting', `${verdict.pendingGroups - 1} other process groups`)]
      : []),
    ...(verdict.withoutDump.length > 0 ? [labelled('no dump', rankText(verdict.withoutDump))] : []),
    labelled('read', `${verdict.dumps} dumps of PyTorch's Flight Recorder`),
  ].map(fit);
}

function titleOf({
  kind,
  pending,
  mismatches: [mismatch],
  culprits,
  pendingTransfers,
  dumps,
}: DumpVerdict): string {
  const [first] = pending;
  if (kind === 'mismatch') return `MISMATCH  the ranks of ${groupText(mismatch!)} did not all call the same`;
  if (kind === 'quiet') return `NOTHING PENDING  in the dumps of ${dumps} ranks`;
  const what = first ?? culprits[0];
  return `${kind.toUpperCase()}  ${what ? collectiveText(what) : `${pendingTransfers} sends and receives`}`;
}

const mismatchLines = ({ seq, ways }: DumpedMismatch): string[] => [
  ...ways
    .slice(0, MOST_WAYS)
    .map(({ op, elements, dtype, ranks }) =>
      labelled(
        rankText(ranks),
        `${name(op)} ${seq} (${[elements ?? '', dtype].join(' ').trim() || 'sizes not compared'})`,
      ),
    ),
  ...(ways.length > MOST_WAYS ? [continued(`and ${ways.length - MOST_WAYS} other ways`)] : []),
];

function culpritLines(culprits: readonly Culprit[]): string[] {
  const lines = culprits.slice(0, MOST_CULPRITS).flatMap((one) => {
    const what = one.why === 'not called' ? 'never called' : 'did not finish';
    return [labelled(what, `rank ${one.rank}: ${collectiveText(one)}`), ...lastCall(one.rank, one.last)];
  });
  const more = culprits.slice(MOST_CULPRITS).map(({ rank }) => rank);
  return more.length === 0 ? lines : [...lines, labelled('likewise', rankText(more))];
}

const lastCall = (rank: number, last: DumpedCall | null): string[] =>
  last === null
    ? []
    : [
        labelled(
          `rank ${rank} last`,
          `${opText(last.op, last.isP2p ? null : last.seq)}${placeText(last.frames)}`,
        ),
      ];

/** The lines beside our own verdict. */
export function flightLines({ verdict, matched }: FlightReport): string[] {
  if (matched === null) return ownVerdictLine(verdict);
  const { group, description, op, seq, agreed, of } = matched;
  return [
    labelled(
      'process group',
      `${groupNames(group, description)}, its ${opText(op, seq)} (${agreed} of ${of} dumps)`,
    ),
    ...calledFrom(matched.stacks),
    ...matched.strays.slice(0, 2).flatMap(({ rank, last }) => lastCall(rank, last)),
  ].map(fit);
}

function ownVerdictLine({ kind, culprits, mismatches: [mismatch], dumps }: DumpVerdict): string[] {
  const ranks = culprits.map(({ rank }) => rank);
  const text =
    kind === 'mismatch'
      ? `the ranks of ${groupText(mismatch!)} did not all call the same`
      : kind === 'hung'
        ? `${rankText(ranks)}: ${culprits[0]!.why} ${collectiveText(culprits[0]!)}`
        : kind === 'pending'
          ? 'something is pending, and all ranks called it'
          : `nothing is pending in ${dumps} dumps`;
  return [fit(labelled('PyTorch', text))];
}

const MOST_STACKS = 4;

/** Arguments for the stuck collective in the trace. */
export function flightArguments({ matched }: FlightReport): (readonly [string, string])[] {
  if (matched === null) return [];
  const { group, description, op, seq, stacks } = matched;
  return [
    ['processGroup', group],
    ['processGroupDescription', description],
    ['pytorchCall', opText(op, seq)],
    ...stacks
      .slice(0, MOST_STACKS)
      .map(({ ranks, frames }, i): [string, string] => [
        `pythonStack${i + 1}`,
        `${rankText(ranks)}: ${frames.map(frameText).join(' < ')}`,
      ]),
  ];
}

const calledFrom = (stacks: readonly SharedStack[]): string[] =>
  stacks
    .slice(0, 2)
    .map(({ ranks, frames }) =>
      labelled('called from', `${rankText(ranks)}: ${userFrames(frames).map(shortFrame).join(' < ')}`),
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

const shortFrame = ({ name: func, file, line }: Frame): string =>
  `${name(func)} ${name(file.split('/').slice(-1).join('/'))}:${line}`;

const opText = (op: string, seq: number | null): string => (seq === null ? name(op) : `${name(op)} ${seq}`);
const groupNames = (group: string, description: string): string =>
  description === '' ? name(group) : `${name(group)} ${name(description)}`;
const groupText = ({ group, description }: Pick<NamedCollective, 'group' | 'description'>): string =>
  `group ${groupNames(group, description)}`;
const collectiveText = ({ op, seq, ...group }: NamedCollective): string =>
  `${opText(op, op.includes(' ') ? null : seq)} of ${groupText(group)}`;
const rankText = (ranks: readonly number[]): string =>
  ranks.length === 1 ? `rank ${ranks[0]}` : `${ranks.length} ranks (${foldRanks(ranks)})`;

const timeOfDay = (ns: number): string => {
  const date = new Date(ns / 1e6);
  return Number.isNaN(date.getTime()) ? 'an impossible time' : `${date.toISOString().slice(11, 19)} UTC`;
};
