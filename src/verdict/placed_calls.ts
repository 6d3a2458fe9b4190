/**
 * The collectives that each rank called. For some of them NCCL reports only the call (Broadcast from 2.29 on, symmetric memory, collectives
 * that sampling left out). A rank's nth collective on a communicator is every other rank's nth. If a rank's first calls are lost, a later
 * call that NCCL numbered gives the numbers.
 */

import { addTo } from '../base/grouped.js';
import type { CallShape } from '../model/call_table.js';
import { ranksInComm } from './absence.js';
import { cached } from './case.js';
import type { CallNumber, HostCalls, RankWitness } from './file_facts.js';
import type { Evidence, SomeRanks } from './types.js';

/** At most this many of a rank's calls that NCCL reported are compared, and all must agree. */
const MOST_ANCHORS = 64;
const ENOUGH_ANCHORS = 4;
/** At most this many calls of the reference are searched. */
const MOST_KNOWN = 4096;
/** At most this many references are tried in turn. */
const MOST_REFERENCES = 3;

interface Caller {
  readonly file: number;
  readonly name: string;
  readonly nRanks: number;
  /** Its rank in the communicator, and all ranks of its process there, ascending. */
  readonly rank: number;
  readonly own: readonly number[];
  readonly calls: HostCalls;
}

/** Call numbers are common to all callers of a communicator. */
export interface Placed extends Caller {
  /** Numbers of its first known call and of its next one. */
  readonly from: number;
  readonly end: number;
}

/** By communicator: callers placed by the same file. Calls of two sections cannot be compared. */
export type Sections = ReadonlyMap<bigint, readonly (readonly Placed[])[]>;

export const callersByComm = cached((ranks: readonly RankWitness[]): Sections => {
  const found = new Map<bigint, Caller[]>();
  ranks.forEach((witness, file) => {
    for (const [number, { commId, name, nRanks, rank }] of witness.communicators) {
      const calls = witness.hostCalls.get(number);
      if (!calls || commId === 0n) continue;
      const own = ranksInComm(witness, commId);
      addTo(found, commId, { file, name, nRanks, rank, own, calls });
    }
  });
  return new Map([...found].map(([commId, callers]) => [commId, sectionsOf(callers)]));
});

/**
 * Numbers the calls from the first one if a file has it, or else by the file with the most calls. Callers that do not fit that file (an
 * older copy) are numbered by the one of them with the most calls. The rest stay alone.
 */
function sectionsOf(callers: readonly Caller[]): Placed[][] {
  const lengthOf = ({ calls }: Caller): number =>
    calls.shape.length + (calls.isWhole ? Number.MAX_SAFE_INTEGER / 2 : 0);
  const reportedOf = new Map<Caller, Reported>();
  const reported = (caller: Caller): Reported => {
    const known = reportedOf.get(caller) ?? caller.calls.reported(MOST_ANCHORS);
    reportedOf.set(caller, known);
    return known;
  };
  const sections: Placed[][] = [];
  let left = [...callers].sort((a, b) => lengthOf(b) - lengthOf(a));
  while (left.length > 0 && sections.length < MOST_REFERENCES) {
    const [first, ...others] = left as [Caller, ...Caller[]];
    const reference = new Reference(first.calls);
    const section = [placedAt(first, 0)];
    left = [];
    for (const caller of others) {
      const from = reference.placeOf(caller.calls, () => reported(caller));
      if (from === null) left.push(caller);
      else section.push(placedAt(caller, from));
    }
    sections.push(section.sort((a, b) => a.file - b.file || a.rank - b.rank));
  }
  return sections;
}

type Reported = ReturnType<HostCalls['reported']>;

const placedAt = (caller: Caller, from: number): Placed => ({
  ...caller,
  from,
  end: from + caller.calls.shape.length,
});

/** The caller that places others. */
class Reference {
  private known: ReadonlyMap<string, number> | undefined;

  constructor(private readonly calls: HostCalls) {}

  /** null: it is not known. */
  placeOf(calls: HostCalls, reportedOf: () => Reported): number | null {
    if (calls.isWhole && this.calls.isWhole) return 0;
    let from: number | null = null;
    let anchors = 0;
    const reported = reportedOf();
    const oldest = calls.shape.length - reported.length;
    for (let call = calls.shape.length - 1; call >= oldest && anchors < ENOUGH_ANCHORS; call--) {
      const collective = isAlone(calls, call) ? reported[call - oldest] : null;
      const there = collective && this.find(collective);
      if (there === null || there === undefined || !isAlone(this.calls, there)) continue;
      if (from !== null && from !== there - call) return null;
      from = there - call;
      anchors++;
    }
    return from;
  }

  private find(collective: CallNumber): number | undefined {
    if (!this.known) {
      const reported = this.calls.reported(MOST_KNOWN);
      const oldest = this.calls.shape.length - reported.length;
      this.known = new Map(reported.flatMap((one, i) => (one ? [[numberOf(one), oldest + i] as const] : [])));
    }
    return this.known.get(numberOf(collective));
  }
}

const numberOf = ({ func, seq, ordinal }: CallNumber): string => `${func} ${seq} ${ordinal}`;

/** Whether the call is alone in its group. The order within larger groups may differ. */
const isAlone = (calls: HostCalls, call: number): boolean =>
  isBorder(calls, call) && isBorder(calls, call + 1);

/** Whether no group contains both this call and the one before. */
const isBorder = ({ begins, shape, isLastOpen }: HostCalls, at: number): boolean =>
  at === shape.length ? !isLastOpen : begins[at] === 1;

export const isBorderAt = ({ calls, from, end }: Placed, at: number): boolean =>
  at >= from && at <= end && isBorder(calls, at - from);

/** The first caller of each file, with its ranks in the communicator if these are not all. */
export function byFile(callers: readonly Placed[]): [Placed, SomeRanks][] {
  const files = new Map<number, Placed[]>();
  for (const caller of callers) addTo(files, caller.file, caller);
  return [...files.values()].map((all) => {
    const [first] = all as [Placed];
    const inComm = all.map(({ rank }) => rank).sort((a, b) => a - b);
    return [first, inComm.length === first.own.length ? {} : { inComm }];
  });
}

export const shapeAt = ({ calls: { shapes, shape }, from }: Placed, call: number): CallShape =>
  shapes[shape[call - from]!]!;

export const evidenceAt = ({ file, calls, from }: Placed, call: number): Evidence => ({
  file,
  record: calls.record(call - from),
  at: calls.at(call - from),
});
