/** The communicators of a run, which ranks of the job are in them, and names for those without one. */

import { append } from '../base/extremes.js';
import { hex64 } from '../base/hex.js';
import { foldRanks } from '../base/ranks.js';
import type { Communicator } from '../rankfile/file_types.js';
import type { RunMember } from './run.js';

export interface RunCommunicator {
  /** 16 hexadecimal digits. */
  readonly commId: string;
  /** As `namedApart` names it. */
  readonly comm: string;
  /** NCCL's name, if several communicators of the run have it. */
  readonly kind?: string;
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
    .map(([commId, { name, kind, nRanks, ranks, inComm }]) => ({
      ...{ commId: hex64(commId), comm: name, ...(kind === undefined ? {} : { kind }), nRanks, ranks },
      ...([...inComm].every(([own, rank]) => ranks[own] === rank)
        ? {}
        : { inComm: Object.fromEntries(inComm) }),
    }));

/**
 * Names each communicator once, for everything that is said of it. Frameworks give the groups of one kind one name, so the ranks tell those
 * apart: "tp ranks 0-3". The id does where the ranks are not known, the same, or many. PyTorch names none: "ranks 0,4", or no name.
 */
export function namedApart(members: readonly RunMember[]): RunMember[] {
  const all = gathered(members);
  const isTwice = twice([...all.values()].map(({ name }) => name));
  const isAmbiguous = twice([...all.values()].flatMap((one) => [...new Set(namesWithRanks(one))]));
  const apart = (commId: bigint, one: Gathered): string => {
    if (one.name !== '' && !isTwice.has(one.name)) return one.name;
    const [text] = namesWithRanks(one);
    if (text !== undefined && text.length <= LONGEST_NAME && !isAmbiguous.has(text)) return text;
    return one.name && `${one.name} ${hex64(commId)}`;
  };
  const names = new Map([...all].map(([commId, one]) => [commId, apart(commId, one)]));
  const named = (comm: Communicator): Communicator => {
    const name = names.get(comm.commId) ?? comm.name;
    const kind = all.get(comm.commId)?.name ?? '';
    return { ...comm, name, ...(kind === '' || kind === name ? {} : { kind }) };
  };
  return members.map(({ scan, ...member }) => ({
    ...member,
    scan: { ...scan, communicators: scan.communicators.map(named) },
  }));
}

/** What people read: its name, or its id. */
export const nameOrId = ({ comm, commId }: Pick<RunCommunicator, 'comm' | 'commId'>): string =>
  comm || commId;

/** By id: the name that its groups of one kind share; empty: none. */
export function kindsOf(all: readonly RunCommunicator[]): (commId: string) => string {
  const kinds = new Map(all.map(({ commId, comm, kind = comm }) => [commId, kind]));
  return (commId) => kinds.get(commId) ?? '';
}

/** The name that its groups of one kind share. */
export const kindOf = ({ name, kind }: Pick<Communicator, 'name' | 'kind'>): string => kind ?? name;

/** With its name and without. None: not all ranks are known. */
function namesWithRanks({ name, nRanks, ranks }: Gathered): string[] {
  if (ranks.length !== nRanks || nRanks < 2) return [];
  const text = `ranks ${ranksText(ranks)}`;
  return [`${name} ${text}`.trim(), text];
}

function twice<T>(all: readonly T[]): ReadonlySet<T> {
  const once = new Set<T>();
  const more = new Set<T>();
  for (const one of all) (once.has(one) ? more : once).add(one);
  return more;
}

/** "0-7", "0,2,5", and for equal distances "0,8..56": data parallel ranks of a large job. */
function ranksText(ranks: readonly number[]): string {
  const [first = 0, second = 0] = ranks;
  const isEven = ranks.every((rank, i) => rank === first + i * (second - first));
  return isEven && second - first > 1 && ranks.length > 4
    ? `${first},${second}..${ranks.at(-1)}`
    : foldRanks(ranks);
}

/** Reports cut longer names. */
const LONGEST_NAME = 28;

interface Gathered {
  name: string;
  kind: string | undefined;
  nRanks: number;
  ranks: number[];
  inComm: Map<number, number>;
}

function gathered(members: readonly RunMember[]): ReadonlyMap<bigint, Gathered> {
  const byId = new Map<bigint, Gathered>();
  for (const { scan, ranks } of members) {
    for (const { commId, name, kind, nRanks, rank } of scan.communicators) {
      if (commId === 0n) continue;
      const unknown = { name: '', kind: undefined, nRanks: 0, ranks: [], inComm: new Map<number, number>() };
      const known = byId.get(commId) ?? unknown;
      if (ranks.length === 1) known.inComm.set(rank, ranks[0]!);
      byId.set(commId, known);
      known.name ||= name;
      known.kind ??= kind;
      known.nRanks = Math.max(known.nRanks, nRanks);
      // If a process has several ranks, nothing tells which of them are in this communicator, unless all are.
      if (ranks.length === 1 || ranks.length === nRanks) append(known.ranks, ranks);
    }
  }
  for (const known of byId.values()) known.ranks = [...new Set(known.ranks)].sort((a, b) => a - b);
  return byId;
}
