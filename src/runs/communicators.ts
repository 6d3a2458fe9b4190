/** The communicators of a run, which ranks of the job are in them, and names for those without one. */

import { append } from '../base/extremes.js';
import { hex64 } from '../base/hex.js';
import { foldRanks } from '../base/ranks.js';
import type { RunMember } from './run.js';

export interface RunCommunicator {
  /** 16 hexadecimal digits. */
  readonly commId: string;
  readonly comm: string;
  /** 0: not reported. */
  readonly nRanks: number;
  /** Ranks of the job, ascending, as far as their files tell. */
  readonly ranks: readonly number[];
  /** Rank of the job by rank in the communicator. Absent: rank i of it is the i-th of `ranks`. */
  readonly inComm?: Readonly<Record<number, number>>;
}

/** In order of their ids. Those without an id are left out. */
export const communicatorsOf = (members: readonly RunMember[]): RunCommunicator[] =>
  [...gathered(members)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([commId, { name, nRanks, ranks, inComm }]) => ({
      ...{ commId: hex64(commId), comm: name, nRanks, ranks },
      ...([...inComm].every(([own, rank]) => ranks[own] === rank)
        ? {}
        : { inComm: Object.fromEntries(inComm) }),
    }));

/**
 * Names communicators that NCCL reports without a name (PyTorch names none) by their ranks, "ranks 0,4", because an id tells nobody which
 * group it is. Only if all ranks are known, no other communicator has the same ones, and the name is short.
 */
export function nameByRanks(members: readonly RunMember[]): RunMember[] {
  const byRanks = new Map<string, bigint | null>();
  for (const [commId, { name, nRanks, ranks }] of gathered(members)) {
    if (ranks.length !== nRanks || nRanks < 2) continue;
    const text = `ranks ${ranksText(ranks)}`;
    byRanks.set(text, name !== '' || byRanks.has(text) ? null : commId);
  }
  const names = new Map<bigint, string>();
  for (const [text, commId] of byRanks)
    if (commId !== null && text.length <= LONGEST_NAME) names.set(commId, text);
  if (names.size === 0) return [...members];
  return members.map((member) => ({
    ...member,
    scan: {
      ...member.scan,
      communicators: member.scan.communicators.map((comm) =>
        comm.name === '' ? { ...comm, name: names.get(comm.commId) ?? '' } : comm,
      ),
    },
  }));
}

/**
 * By id: what tables and pages call each communicator. Frameworks give the groups of one kind one name, so the ranks tell those apart:
 * "tp ranks 0-3". The id does where the ranks are not known or the same.
 */
export function distinctNames(all: readonly RunCommunicator[]): ReadonlyMap<string, string> {
  const withRanks = ({ comm, ranks, nRanks }: RunCommunicator): string =>
    ranks.length === nRanks ? `${comm} ranks ${ranksText(ranks)}` : comm;
  const isAlone = (name: (one: RunCommunicator) => string, of: RunCommunicator): boolean =>
    all.every((one) => one === of || name(one) !== name(of));
  return new Map(
    all.map((one) => {
      if (one.comm === '') return [one.commId, one.commId];
      if (isAlone(({ comm }) => comm, one)) return [one.commId, one.comm];
      const text = withRanks(one);
      const isClear = text !== one.comm && text.length <= LONGEST_NAME && isAlone(withRanks, one);
      return [one.commId, isClear ? text : `${one.comm} ${one.commId}`];
    }),
  );
}

/** "0-7", "0,2,5", and for equal distances "0,8..56": data parallel ranks of a large job. */
function ranksText(ranks: readonly number[]): string {
  const [first = 0, second = 0] = ranks;
  const isEven = ranks.every((rank, i) => rank === first + i * (second - first));
  return isEven && second - first > 1 && ranks.length > 3
    ? `${first},${second}..${ranks.at(-1)}`
    : foldRanks(ranks);
}

/** Reports cut longer names. */
const LONGEST_NAME = 28;

interface Gathered {
  name: string;
  nRanks: number;
  ranks: number[];
  inComm: Map<number, number>;
}

function gathered(members: readonly RunMember[]): ReadonlyMap<bigint, Gathered> {
  const byId = new Map<bigint, Gathered>();
  for (const { scan, ranks } of members) {
    for (const { commId, name, nRanks, rank } of scan.communicators) {
      if (commId === 0n) continue;
      const known = byId.get(commId) ?? { name: '', nRanks: 0, ranks: [], inComm: new Map<number, number>() };
      if (ranks.length === 1) known.inComm.set(rank, ranks[0]!);
      byId.set(commId, known);
      known.name ||= name;
      known.nRanks = Math.max(known.nRanks, nRanks);
      // If a process has several ranks, nothing tells which of them are in this communicator, unless all are.
      if (ranks.length === 1 || ranks.length === nRanks) append(known.ranks, ranks);
    }
  }
  for (const known of byId.values()) known.ranks = [...new Set(known.ranks)].sort((a, b) => a - b);
  return byId;
}
