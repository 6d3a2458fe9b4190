/**
 * What the ranks called, whatever NCCL reported afterwards: for some collectives there is no more (Broadcast from 2.29 on, symmetric
 * memory, collectives that sampling left out). A rank's nth collective on a communicator is every other rank's nth. If a rank's first calls
 * are lost, a later one that NCCL reported numbers them. Groups are compared as a whole, because their inner order does not matter.
 */

import { hex64 } from '../base/hex.js';
import { ELEMENT_BYTES } from '../cluster/bandwidth.js';
import type { CallShape } from '../model/call_table.js';
import { ranksInComm, SHORTEST_HANG } from './absence.js';
import { cached, knownAfter, type Case } from './case.js';
import type { CallNumber, HostCalls, RankWitness } from './facts.js';
import type { Behind, Evidence, Mismatch, SomeRanks, Way } from './types.js';

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
interface Placed extends Caller {
  /** Numbers of its first known call and of its next one. */
  readonly from: number;
  readonly end: number;
}

/** By communicator: callers placed by the same file. Calls of two sections cannot be compared. */
type Sections = ReadonlyMap<bigint, readonly (readonly Placed[])[]>;

/** By communicator, the first difference. */
export const differentHostCalls = cached(
  (ranks: readonly RankWitness[]): ReadonlyMap<bigint, Mismatch> =>
    new Map(
      [...callersByComm(ranks)].flatMap(([commId, sections]): [bigint, Mismatch][] => {
        const [one] = sections.flatMap((callers) => mismatchAmong(commId, callers) ?? []);
        return one ? [[commId, one]] : [];
      }),
    ),
);

/** Ranks that surely had not made a call a second after another rank did; least calls first. */
export function behindOthers(evidence: Case): Behind[] {
  const { ranks } = evidence;
  const all = [...callersByComm(ranks)].flatMap(([commId, sections]) =>
    sections.map((callers) => [commId, callers] as const),
  );
  return all.flatMap(([commId, callers]) => {
    const most = furthest(callers);
    if (!most) return [];
    const byEnd = new Map<number, Placed[]>();
    for (const caller of callers) {
      const { file, end, calls } = caller;
      if (end >= most.end || end < most.from) continue;
      const knownUntil = Math.min(ranks[file]!.reach.knownUntil, calls.until);
      const call = most.calls.at(end - most.from);
      if (knownAfter([file, knownUntil], [most.file, call], commId, evidence) < SHORTEST_HANG) continue;
      byEnd.set(end, [...(byEnd.get(end) ?? []), caller]);
    }
    const fewestFirst = [...byEnd].sort(([a], [b]) => a - b);
    return fewestFirst.map(([end, fewer]) => ({
      commId: hex64(commId),
      comm: most.name,
      nRanks: most.nRanks,
      by: most.end - end,
      files: [...new Set(fewer.map(({ file }) => file))],
      callers: byFile(fewer).map(([{ file }, some]) => ({ file, ...some })),
      ...shapeAt(most, end),
      ...evidenceAt(most, end),
    }));
  });
}

/** The first of each file, with its ranks in the communicator if they are not all. */
function byFile(callers: readonly Placed[]): [Placed, SomeRanks][] {
  const files = new Map<number, Placed[]>();
  for (const caller of callers) files.set(caller.file, [...(files.get(caller.file) ?? []), caller]);
  return [...files.values()].map((all) => {
    const [first] = all as [Placed];
    const inComm = all.map(({ rank }) => rank).sort((a, b) => a - b);
    return [first, inComm.length === first.own.length ? {} : { inComm }];
  });
}

const callersByComm = cached((ranks: readonly RankWitness[]): Sections => {
  const found = new Map<bigint, Caller[]>();
  ranks.forEach((witness, file) => {
    for (const [number, { commId, name, nRanks, rank }] of witness.communicators) {
      const calls = witness.hostCalls.get(number);
      if (!calls || commId === 0n) continue;
      const callers = found.get(commId) ?? [];
      callers.push({ file, name, nRanks, rank, own: ranksInComm(witness, commId), calls });
      found.set(commId, callers);
    }
  });
  return new Map([...found].map(([commId, callers]) => [commId, sectionsOf(callers)]));
});

/**
 * By the first call, if one file has it, else by the file with most calls. Callers that do not fit, such as an old file's, are placed by
 * the one with most calls among them. The rest stay alone.
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

/** A group of its own: the order within other groups may differ. */
const isAlone = (calls: HostCalls, call: number): boolean =>
  isBorder(calls, call) && isBorder(calls, call + 1);

/** No group spans the calls before and after. */
const isBorder = ({ begins, shape, isLastOpen }: HostCalls, at: number): boolean =>
  at === shape.length ? !isLastOpen : begins[at] === 1;

const isBorderAt = ({ calls, from, end }: Placed, at: number): boolean =>
  at >= from && at <= end && isBorder(calls, at - from);

function furthest(callers: readonly Placed[]): Placed | null {
  return callers.reduce<Placed | null>((a, b) => (a === null || b.end > a.end ? b : a), null);
}

type Numbers = readonly [readonly number[], readonly number[]];

/** Calls [from, end). */
interface Block {
  readonly from: number;
  readonly end: number;
}

/** Compares each with the caller that has most calls in common; among several, the one with most calls. */
function mismatchAmong(commId: bigint, callers: readonly Placed[]): Mismatch | null {
  const byLength = [...callers].sort((a, b) => b.end - b.from - (a.end - a.from));
  let first: Block | null = null;
  for (const caller of callers) {
    let other: Placed | null = null;
    let most = 0;
    for (const one of byLength) {
      const common = Math.min(one.end, caller.end) - Math.max(one.from, caller.from);
      if (one === caller || common <= most) continue;
      other = one;
      most = common;
    }
    const block = other && firstDifference(other, caller);
    if (block && (first === null || block.from < first.from)) first = block;
  }
  return first && describe(commId, callers, first);
}

/** The first groups that ended on both sides and differ. null: none, or the groups cannot be matched. */
function firstDifference(a: Placed, b: Placed): Block | null {
  const numbers = commonNumbers(a.calls.shapes, b.calls.shapes);
  const [ofA, ofB] = numbers;
  const until = Math.min(a.end, b.end);
  let from = Math.max(a.from, b.from);
  while (from < until && !(isBorderAt(a, from) && isBorderAt(b, from))) from++;
  if (areIdentical(a, b, from, until, numbers)) return null;
  let isSame = true;
  // Over all calls of all ranks: avoid function calls.
  const [{ shape, begins }, other] = [a.calls, b.calls];
  for (let at = from; at < until; at++) {
    if (ofA[shape[at - a.from]!] !== ofB[other.shape[at - b.from]!]) isSame = false;
    const end = at + 1;
    const isJoint =
      end < until
        ? begins[end - a.from] === 1 && other.begins[end - b.from] === 1
        : isBorderAt(a, end) && isBorderAt(b, end);
    if (!isJoint) continue;
    if (!isSame && isUnlike(a, b, from, end, numbers)) return { from, end };
    from = end;
    isSame = true;
  }
  return null;
}

/** Nearly all are identical: comparing bytes is quick. */
function areIdentical(a: Placed, b: Placed, from: number, end: number, numbers: Numbers): boolean {
  if (!numbers[1].every((number, shape) => number === numbers[0][shape]) || from >= end) return false;
  const isEqual = (one: HostCalls['shape' | 'begins'], other: HostCalls['shape' | 'begins']): boolean =>
    one.BYTES_PER_ELEMENT === other.BYTES_PER_ELEMENT &&
    Buffer.compare(bytesOf(one, from - a.from, end - a.from), bytesOf(other, from - b.from, end - b.from)) ===
      0;
  return isEqual(a.calls.shape, b.calls.shape) && isEqual(a.calls.begins, b.calls.begins);
}

function bytesOf(rows: HostCalls['shape' | 'begins'], from: number, end: number): Uint8Array {
  const { buffer, byteOffset, byteLength } = rows.subarray(from, end);
  return new Uint8Array(buffer, byteOffset, byteLength);
}

const isUnlike = (a: Placed, b: Placed, from: number, end: number, numbers: Numbers): boolean =>
  !areSame(within(a, from, end), within(b, from, end), numbers) &&
  !hasUnknown(a, from, end) &&
  !hasUnknown(b, from, end);

const within = ({ calls, from: first }: Placed, from: number, end: number): HostCalls['shape'] =>
  calls.shape.slice(from - first, end - first);

/** Numbers the shapes of two files: the same call has the same number. */
function commonNumbers(a: readonly CallShape[], b: readonly CallShape[]): Numbers {
  const known = new Map<string, number>();
  const commonOf = (shape: CallShape): number => {
    const key = keyOf(shape);
    const number = known.get(key) ?? known.size;
    known.set(key, number);
    return number;
  };
  return [a.map(commonOf), b.map(commonOf)];
}

/** NCCL turns these into bytes: equal bytes of another type are the same call. */
const MOVES_BYTES: ReadonlySet<string> = new Set(['AllGather', 'Broadcast']);

function keyOf({ func, count, datatype, root }: CallShape): string {
  const bytes = MOVES_BYTES.has(func) ? ELEMENT_BYTES[datatype] : undefined;
  return bytes === undefined
    ? `${func} ${count} ${datatype} ${root}`
    : `${func} ${count * bytes} bytes ${root}`;
}

/** NCCL has no name for its type, so type and size are not known. */
function hasUnknown({ calls: { shape, shapes }, from: first }: Placed, from: number, end: number): boolean {
  for (let at = from; at < end; at++)
    if (ELEMENT_BYTES[shapes[shape[at - first]!]!.datatype] === undefined) return true;
  return false;
}

function areSame(a: HostCalls['shape'], b: HostCalls['shape'], [ofA, ofB]: Numbers): boolean {
  const [one, other] = [Array.from(a, (shape) => ofA[shape]!), Array.from(b, (shape) => ofB[shape]!)];
  one.sort((x, y) => x - y);
  other.sort((x, y) => x - y);
  return one.every((shape, i) => shape === other[i]);
}

/** Who called alike, with one call per way that the most frequent way lacks, and for that way one that another lacks. */
function describe(commId: bigint, callers: readonly Placed[], { from, end }: Block): Mismatch | null {
  const byShapes = new Map<string, { readonly keys: readonly string[]; readonly callers: Placed[] }>();
  for (const caller of callers) {
    if (!isBorderAt(caller, from) || !isBorderAt(caller, end) || hasUnknown(caller, from, end)) continue;
    const keys = Array.from({ length: end - from }, (_, i) => keyOf(shapeAt(caller, from + i)));
    const key = [...keys].sort().join('\n');
    const group = byShapes.get(key) ?? { keys, callers: [] };
    group.callers.push(caller);
    byShapes.set(key, group);
  }
  const groups = [...byShapes.values()].sort((a, b) => b.callers.length - a.callers.length);
  const [usual, other] = groups;
  if (!usual || !other) return null;
  const ways = groups.map((group) => {
    const wanted = lacking(group.keys, group === usual ? other.keys : usual.keys);
    return wayOf(commId, group.callers, from, end, wanted);
  }) as [Way, Way, ...Way[]];
  const [{ name, nRanks }] = callers as [Placed];
  const what = ways.every(({ func }) => func === ways[0].func) ? 'arguments' : 'calls';
  // Within a group its position differs from rank to rank.
  const call = end - from === 1 && callers.some(({ calls }) => calls.isWhole) ? from : null;
  return { commId: hex64(commId), comm: name, nRanks, what, call, ways };
}

/** The first that is more frequent here than in `others`. */
function lacking(keys: readonly string[], others: readonly string[]): string {
  const left = [...others];
  for (const key of keys) {
    const at = left.indexOf(key);
    if (at < 0) return key;
    left.splice(at, 1);
  }
  return keys[0]!;
}

function wayOf(commId: bigint, callers: readonly Placed[], from: number, end: number, wanted: string): Way {
  const [first] = callers as [Placed];
  const placeIn = (caller: Placed): number => {
    for (let at = from; at < end; at++) if (keyOf(shapeAt(caller, at)) === wanted) return at;
    return from;
  };
  return {
    commId: hex64(commId),
    comm: first.name,
    seq: null,
    replay: 0,
    ...shapeAt(first, placeIn(first)),
    entered: byFile(callers).map(([caller, some]) => ({ ...evidenceAt(caller, placeIn(caller)), ...some })),
  };
}

const shapeAt = ({ calls: { shapes, shape }, from }: Placed, call: number): CallShape =>
  shapes[shape[call - from]!]!;

const evidenceAt = ({ file, calls, from }: Placed, call: number): Evidence => ({
  file,
  record: calls.record(call - from),
  at: calls.at(call - from),
});
