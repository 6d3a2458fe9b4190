/**
 * Ranks that made different calls. NCCL requires the same calls in the same order with the same arguments on every rank of a communicator.
 * Otherwise its behaviour is undefined: it hangs, or continues with wrong data.
 */

import { minOf } from '../base/extremes.js';
import { hex64 } from '../base/hex.js';
import { isLostText } from '../base/lost_text.js';
import type { TraceNs } from '../base/time.js';
import type { ClusterComm, Collective } from '../cluster/types.js';
import { absentFrom, enteredBy } from './absence.js';
import type { Case } from './case.js';
import { differentHostCalls } from './different_calls.js';
import type { Stall } from './stall.js';
import type { CallArguments, CallNumber, RankWitness } from './file_facts.js';
import type { Evidence, Mismatch, Way } from './types.js';

/** At most this many are compared; a run has hardly any, and the first ones matter. */
const MOST_SUSPECTS = 200;

/** A difference between collectives that NCCL reported comes before one between the calls of the same collectives. */
export function firstMismatch({ comms, ranks }: Case): Mismatch | null {
  return first([
    ...comms.flatMap((comm) => mismatchIn(comm, ranks) ?? []),
    ...differentHostCalls(ranks).values(),
  ]);
}

/** The first difference on the stall's communicator. Later calls have nothing to do with the stall. */
export function mismatchOf({ commId, since }: Stall, { comms, ranks }: Case): Mismatch | null {
  const comm = comms.find((one) => one.commId === commId);
  const reported = (comm && mismatchIn(comm, ranks)) ?? null;
  const called = commId === null ? undefined : differentHostCalls(ranks).get(commId);
  return upTo(since, first([reported, called ?? null].filter((one) => one !== null)));
}

function first(found: readonly Mismatch[]): Mismatch | null {
  const begin = ({ ways }: Mismatch): number => minOf(ways[0].entered.map(({ at }) => at));
  return found.reduce<Mismatch | null>((a, b) => (a === null || begin(b) < begin(a) ? b : a), null);
}

export function upTo(since: TraceNs, mismatch: Mismatch | null): Mismatch | null {
  if (!mismatch) return null;
  const times = mismatch.ways.flatMap(({ entered }) => entered.map(({ at }) => at));
  return times.some((at) => at <= since) ? mismatch : null;
}

/** The first difference on a communicator. */
export function mismatchIn(comm: ClusterComm, ranks: readonly RankWitness[]): Mismatch | null {
  const [calls, order] = differentCalls(comm, ranks);
  const args = comm.collectives.find(({ different }) => different.length > 0);
  if (args && args.firstArrival <= order) {
    const found = differentArguments(comm, args, ranks);
    if (found) return found;
  }
  return calls;
}

function differentArguments(
  comm: ClusterComm,
  one: Collective,
  ranks: readonly RankWitness[],
): Mismatch | null {
  const byArguments = new Map<string, { args: CallArguments; entered: Evidence[] }>();
  const calls = enteredBy(comm, one).flatMap((file) => {
    const call = ranks[file]!.calls.entered(comm.commId, one);
    return call ? [{ ...call, file }] : [];
  });
  for (const { file, count, datatype: named, root, record, at } of calls) {
    // A type with a lost name may equal the type of any other rank.
    const alike = isLostText(named) ? calls.find((other) => isLike(other, { count, root })) : undefined;
    const datatype = alike?.datatype ?? named;
    const key = `${count} ${datatype} ${root}`;
    const group = byArguments.get(key) ?? { args: { count, datatype, root }, entered: [] };
    group.entered.push({ file, record, at });
    byArguments.set(key, group);
  }
  const ways = [...byArguments.values()]
    .sort((a, b) => b.entered.length - a.entered.length)
    .map(({ args, entered }) => wayOf(comm, one, args, entered));
  return mismatch(comm, 'arguments', ways);
}

const isLike = (call: CallArguments, { count, root }: Pick<CallArguments, 'count' | 'root'>): boolean =>
  call.count === count && call.root === root && !isLostText(call.datatype);

interface Suspect {
  readonly one: Collective;
  readonly entered: readonly number[];
  /** Files that surely did not enter. */
  readonly absent: ReadonlySet<number>;
}

/**
 * Some ranks entered a collective that others surely never entered, though these went on. A rank that is merely behind has entered less,
 * but nothing else.
 */
function differentCalls(comm: ClusterComm, ranks: readonly RankWitness[]): [Mismatch | null, number] {
  const suspects = comm.collectives
    .flatMap((one): Suspect[] => {
      const isWhole = one.absent.length + one.notKnown.length === 0;
      const absent = isWhole ? [] : absentFrom(one, comm, ranks);
      return absent.length === 0 ? [] : [{ one, absent: new Set(absent), entered: enteredBy(comm, one) }];
    })
    .slice(0, MOST_SUSPECTS);
  for (const [i, suspect] of suspects.entries()) {
    const other = skipped(comm, suspect, ranks) ?? excluded(suspect, suspects.slice(0, i));
    if (!other) continue;
    const ways = [other, { one: suspect.one, files: suspect.entered }]
      .map(({ one, files }) => wayOfFiles(comm, one, files, ranks))
      .filter((way) => way.entered.length > 0)
      .sort((x, y) => y.entered.length - x.entered.length);
    return [mismatch(comm, 'calls', ways), Math.min(other.one.firstArrival, suspect.one.firstArrival)];
  }
  return [null, Infinity];
}

interface Entered {
  readonly one: Collective;
  readonly files: readonly number[];
}

/** What the absent ranks entered instead: the first later collective that both sides entered. */
function skipped(
  comm: ClusterComm,
  { one, entered, absent }: Suspect,
  ranks: readonly RankWitness[],
): Entered | null {
  const [there] = entered;
  const [gone] = absent;
  if (there === undefined || gone === undefined) return null;
  const [calls, others] = [ranks[there]!.calls, ranks[gone]!.calls];
  const at = calls.entered(comm.commId, one)?.at ?? Infinity;
  const enteredSince = (call: CallNumber): number | null => {
    const since = calls.entered(comm.commId, call)?.at ?? at;
    return since > at && others.entered(comm.commId, call) ? since : null;
  };
  // Hardly any collective was left out, so the newest calls are checked before the full search.
  const newest = [others.newest(comm.commId), calls.newest(comm.commId)];
  if (newest.every((call) => call === null || enteredSince(call) === null)) return null;
  let first: Collective | null = null;
  let earliest = Infinity;
  for (const other of comm.collectives) {
    const since = enteredSince(other);
    if (since === null || since >= earliest) continue;
    first = other;
    earliest = since;
  }
  return first && { one: first, files: [...absent] };
}

/** A collective that the ranks in this one surely never entered, though some of the absent ranks did. */
function excluded({ entered, absent }: Suspect, before: readonly Suspect[]): Entered | null {
  for (const other of before) {
    const files = other.entered.filter((file) => absent.has(file));
    if (files.length > 0 && entered.some((file) => other.absent.has(file))) return { one: other.one, files };
  }
  return null;
}

function wayOfFiles(
  comm: ClusterComm,
  one: Collective,
  files: readonly number[],
  ranks: readonly RankWitness[],
): Way {
  const entered = files.flatMap((file) => {
    const call = ranks[file]!.calls.entered(comm.commId, one);
    return call ? [{ file, record: call.record, at: call.at }] : [];
  });
  const root = one.root < 0 ? null : one.root;
  return wayOf(comm, one, { count: one.count, datatype: one.datatype, root }, entered);
}

const wayOf = (
  { commId, name }: ClusterComm,
  { func, seq, ordinal }: Collective,
  args: CallArguments,
  entered: readonly Evidence[],
): Way => ({ commId: hex64(commId), comm: name, func, seq, replay: ordinal, ...args, entered });

function mismatch(
  { commId, name, nRanks }: ClusterComm,
  what: Mismatch['what'],
  ways: readonly Way[],
): Mismatch | null {
  const [most, other, ...more] = ways;
  if (!most || !other) return null;
  return { commId: hex64(commId), comm: name, nRanks, what, call: null, ways: [most, other, ...more] };
}
