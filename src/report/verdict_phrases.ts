/** Phrases shared by all parts of the verdict: folded ranks, calls, times of day. */

import { timeOfDay } from '../base/duration.js';
import { append } from '../base/extremes.js';
import { counted } from '../base/units.js';
import type { VerdictReport } from './diagnosed.js';
import type { CallArguments } from '../verdict/file_facts.js';
import type { CallName, Front, SomeRanks, Who } from '../verdict/types.js';
import { cut, foldRanks, printable, ranksText } from './text.js';

export type { VerdictReport } from './diagnosed.js';

/** Width for a name. */
const NAME = 28;

/** `on`: "on dp", or empty if said before. */
export function callText(call: CallName, on = ` on ${commName(call)}`): string {
  const seq = call.seq === null ? '' : ` seq ${call.seq}`;
  const replay = call.replay === 0 ? '' : ` replay ${call.replay}`;
  return `${name(call.func)}${seq}${replay}${on}`;
}

/** If NCCL reports only calls of the function: the call's number among the communicator's calls, from 0. */
export const callNumber = (call: number | null): string => (call === null ? '' : ` call ${call}`);

export function wayArguments({ count, datatype, root }: CallArguments): string {
  const on = root === null ? '' : `, root ${root}`;
  return `${count} ${name(datatype)}${on}`;
}

export const commName = ({ comm, commId }: Pick<CallName, 'comm' | 'commId'>): string =>
  comm === '' ? (commId ?? 'a communicator without id') : name(comm);

export const name = (text: string): string => cut(printable(text), NAME);

/** A process with several GPUs is several ranks. */
export const allRanks = ({
  rank,
  ranks,
}: Pick<VerdictReport['ranks'][number], 'rank' | 'ranks'>): readonly (number | null)[] => ranks ?? [rank];

/** A rank counts once, also if it had several processes. */
export const countRanks = (ranks: readonly Parameters<typeof allRanks>[0][]): number =>
  new Set(ranks.flatMap(allRanks).map((rank, i) => rank ?? `unknown ${i}`)).size;

export const rankName = ({ ranks }: VerdictReport, file: number): string => foldRanks(allRanks(ranks[file]!));

/** The other end of an operation: a rank of the job, or a rank of the communicator if the communicator has other numbers. */
export function peerName(
  { peerFile, peerInComm }: { readonly peerFile: number | null; readonly peerInComm: number },
  call: Pick<CallName, 'comm' | 'commId'> & { readonly nRanks?: number },
  report: VerdictReport,
): string {
  if (peerFile !== null) return rankInComm(peerFile, peerInComm, call.nRanks, report);
  return `${peerInComm}${call.nRanks === report.worldSize ? '' : ` of ${commName(call)}`} (no file)`;
}

/** A rank of a communicator with `nRanks`: its number in the job, also if its process has several. */
export function rankInComm(
  file: number,
  inComm: number | undefined,
  nRanks: number | undefined,
  report: VerdictReport,
): string {
  const all = allRanks(report.ranks[file]!);
  const isKnown = all.length > 1 && nRanks === report.worldSize && inComm !== undefined;
  return isKnown && all.includes(inComm) ? `${inComm}` : foldRanks(all);
}

/** "37 (node004 gpu5)" */
export const rankWithHost = (report: VerdictReport, file: number): string =>
  `${rankName(report, file)} (${hostOf(report, file)})`;

/** "node004 gpu5" */
export function hostOf(report: VerdictReport, file: number): string {
  const { host, localRank, ranks } = report.ranks[file]!;
  // A process with several GPUs has one local rank.
  return `${name(host)}${localRank === null || ranks !== undefined ? '' : ` gpu${localRank}`}`;
}

export const rankList = (files: readonly number[], { ranks }: VerdictReport): string =>
  ranksText(files.flatMap((file) => allRanks(ranks[file]!)));

/** For a process with several ranks of the communicator (of `nRanks`): the ranks that are meant, as far as their names are known. */
export function someRanks(
  list: readonly ({ readonly file: number } & SomeRanks)[],
  nRanks: number,
  report: VerdictReport,
): string {
  const whole: (number | null)[] = [];
  const parts: string[] = [];
  for (const { file, inComm } of list) {
    const all = allRanks(report.ranks[file]!);
    if (!inComm || all.length === 1) append(whole, all);
    // If all ranks take part, the numbers are the same in both.
    else if (nRanks === report.worldSize && inComm.every((rank) => all.includes(rank))) append(whole, inComm);
    else parts.push(`${inComm.length} of ranks ${foldRanks(all)}`);
  }
  return [...(whole.length === 0 ? [] : [ranksText(whole)]), ...parts].join(' and ');
}

/** What one rank did, or several, by their label in the trace. */
export const DID: Readonly<Record<string, string>> = {
  SILENT: 'fell silent',
  STOPPED: 'is stopped (by a signal, debugger or cgroup)',
  GONE: 'ended',
  LEFT: 'left',
  'NOT CALLED': 'never entered it',
  'INSIDE NCCL': 'stuck inside ncclGroupEnd',
  'OTHER CALL': 'called differently',
  ALONE: 'called it alone',
  LATE: 'late',
  'SLOW SENDS': 'slow sends',
};

/** "rank 1 fell silent", "look at rank 2 or 3"; empty: nobody is known. `did`: what it did, by its label. */
export function whoText(
  { degree, files, some, missing, node, why }: Who,
  call: Parameters<typeof peerName>[1] | null,
  report: VerdictReport,
  did: Readonly<Record<string, string>> = DID,
): string {
  if (why === null) return '';
  if (degree === 'node' && node !== null) return `one of ${ranksOfNode({ files, name: node }, report)}`;
  if (degree === 'one of' || did[why] === undefined) {
    const names = [
      ...new Set(some.map(({ file, inComm }) => rankInComm(file, inComm?.[0], call?.nRanks, report))),
    ];
    if (missing !== null && call) names.push(peerName({ peerFile: null, peerInComm: missing }, call, report));
    return names.length > MOST_EITHER
      ? `look at one of ${rankList(files, report)}`
      : `look at rank ${names.join(' or ')}`;
  }
  return `${someRanks(some, call?.nRanks ?? 0, report)} ${did[why]}`;
}

/** "ranks 4-7 of node b" */
export const ranksOfNode = (
  { files, name: node }: { readonly files: readonly number[]; readonly name: string },
  { ranks }: VerdictReport,
): string => `ranks ${foldRanks(files.flatMap((file) => allRanks(ranks[file]!)))} of node ${name(node)}`;

/** More are counted. */
const MOST_EITHER = 3;

export function few(texts: readonly string[], most: number): string {
  const rest = texts.length > most ? ` and ${texts.length - most} more` : '';
  return `${texts.slice(0, most).join(', ')}${rest}`;
}

export const clockTime = ({ traceStart }: Pick<VerdictReport, 'traceStart'>, at: number): string =>
  timeOfDay(BigInt(traceStart), at);

/** Everything was recorded, reported and read. */
export const isWhole = ({ verdict, missingRanks, unusable, ranks }: VerdictReport): boolean =>
  ranks.every(({ unread }) => unread === 0) &&
  verdict.endsNotKnown === 0 &&
  (verdict.kind !== 'healthy' || verdict.silent.length === 0) &&
  verdict.sampled.length + verdict.muted.length === 0 &&
  !verdict.notRecorded.some(({ event }) => event === 'Coll' || event === 'P2p') &&
  verdict.unknownComms.works === 0 &&
  verdict.partial.length === 0 &&
  missingRanks.length + unusable.length === 0;

export function seenText({ ranks, verdict: { seen, unknownComms } }: VerdictReport): string {
  const by = `by ${counted(countRanks(ranks), 'rank')}`;
  // Before v4 NCCL does not report the communicator of a call.
  if (seen.collectives === 0 && seen.works > 0)
    return unknownComms.works > 0
      ? `${counted(seen.works, 'call')}, ${by}; of which communicators is not known`
      : `no collective, ${seen.works} sends and receives, ${by}`;
  return `${counted(seen.collectives, 'collective')} on ${counted(seen.communicators, 'communicator')}, ${by}`;
}

export function frontText(front: Front, call: Parameters<typeof peerName>[1], report: VerdictReport): string {
  const { file, inComm, channel, isSend, done, nSteps, wait, executor } = front;
  const peer = peerName(front, call, report);
  const by = executor === null ? '' : ` by rank ${rankName(report, executor)} (PXN)`;
  const where = `rank ${rankInComm(file, inComm, call.nRanks, report)} ch ${channel} ${isSend ? 'send to' : 'recv from'} ${peer}${by}`;
  const step = wait
    ? `, step ${wait.step} of ${nSteps} in ${name(wait.name)}`
    : `, ${done} of ${nSteps} steps`;
  return `${where}${step}`;
}

export const filesOf = (list: readonly { readonly file: number }[]): number[] => list.map(({ file }) => file);
