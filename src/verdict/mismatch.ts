/**
 * Ranks that made different calls. NCCL requires the same calls in the same order with the same arguments on every rank of a communicator.
 * Otherwise its behaviour is undefined: it hangs, or continues with wrong data.
 */

import { entryOf } from '../base/grouped.js';
import { maxOf, minOf } from '../base/extremes.js';
import { hex64 } from '../base/hex.js';
import { isLostText } from '../base/lost_text.js';
import { ELEMENT_BYTES } from '../cluster/bandwidth.js';
import type { ClusterComm, Collective } from '../cluster/collective_view.js';
import { enteredBy } from './absence.js';
import { mismatchOn, type Case } from './case.js';
import { differentHostCalls, haveParted } from './different_calls.js';
import { found, type Rule } from './finding.js';
import { allLived } from './process_states.js';
import type { Stall } from './stall.js';
import { sidesOf, transferWay } from './stalled_transfers.js';
import { unmatchedAtEnd } from './unmatched.js';
import { placesOf } from './wait_chains.js';
import type { CallArguments, RankWitness } from './file_facts.js';
import type { Evidence, Mismatch, Way } from './types.js';

/** A difference between collectives that NCCL reported comes before one between the calls of the same collectives. */
const mismatches = ({ comms, ranks }: Case): Mismatch[] => [
  ...comms.flatMap((comm) => mismatchIn(comm, ranks) ?? []),
  ...[...differentHostCalls(ranks).values()].flatMap(([one]) => one ?? []),
];

/** It may be the reason of what is only possible. */
export const differentCalls: Rule = (scene) =>
  [...mismatches(scene), ...unmatchedAtEnd(scene)]
    .sort((a, b) => begin(a) - begin(b))
    .map((mismatch) =>
      found('different calls', { kind: 'mismatch', mismatch }, { stands: true, isSure: true }),
    );

/** The first difference on the stall's communicator that explains it. Later calls have nothing to do with the stall. */
export function mismatchOf(stall: Stall, evidence: Case): Mismatch | null {
  const { commId, collective } = stall;
  const { comms, ranks } = evidence;
  const comm = comms.find((one) => one.commId === commId);
  const own = comm && collective ? differentArguments(comm, collective, ranks) : null;
  const reported = comm ? mismatchIn(comm, ranks) : null;
  const called = commId === null ? [] : (differentHostCalls(ranks).get(commId) ?? []);
  const found = [reported, own, ...called, otherSizes(stall, ranks)].filter((one) => one !== null);
  return first(found.filter((one) => explains(one, stall, evidence)));
}

/** The first different calls of any communicator, if they explain it. */
export function mismatchBefore(stall: Stall, evidence: Case): Mismatch | null {
  const found = first(mismatches(evidence));
  return found && explains(found, stall, evidence) ? found : null;
}

/** A stuck send or receive, and its other side with another number of bytes. */
function otherSizes(
  { commId, name, nRanks, collective, works }: Stall,
  ranks: readonly RankWitness[],
): Mismatch | null {
  if (collective || commId === null) return null;
  const { fileOf } = placesOf(ranks, commId);
  for (const one of works) {
    const peerFile = one.work.peer === null ? null : fileOf(one.work.peer);
    const sides = peerFile === null ? null : sidesOf(one, peerFile, commId, ranks);
    const [own, other] = (sides ?? []).map((side) => side.count * (ELEMENT_BYTES[side.datatype] ?? NaN));
    if (!sides || own === other || Number.isNaN(own) || Number.isNaN(other)) continue;
    const comm = { commId, name, nRanks };
    const ways = sides.map((side, i) => transferWay(side, i === 0 ? one.file : peerFile!, comm));
    const [sent, received] = ways.sort((a) => (a.func === 'Send' ? -1 : 1)) as [Way, Way];
    return mismatchOn(comm, 'sizes', [sent, received]);
  }
  return null;
}

const begin = ({ ways }: Mismatch): number => minOf(ways[0].entered.map(({ at }) => at));

function first(found: readonly Mismatch[]): Mismatch | null {
  return found.reduce<Mismatch | null>((a, b) => (a === null || begin(b) < begin(a) ? b : a), null);
}

/**
 * It came before the stall, and no collective was finished by all its ranks since: what all got past stops nobody. Unless nobody died, and
 * the same ranks are missing, or wait alone, that have called other functions ever since.
 */
function explains(mismatch: Mismatch, stall: Stall, evidence: Case): boolean {
  const { comms, ranks } = evidence;
  const times = mismatch.ways.flatMap(({ entered }) => entered.map(({ at }) => at));
  const comm = comms.find(({ commId }) => hex64(commId) === mismatch.commId);
  const isPast = comm?.collectives.some(
    ({ firstCalled, arrived, end, open, different }) =>
      firstCalled > maxOf(times) &&
      // Up to interface v3 NCCL does not report how many ranks there are.
      arrived >= (comm.nRanks || comm.files.length) &&
      end !== null &&
      open.length + different.length === 0,
  );
  const haveLived = (): boolean => allLived(stall.files, evidence, stall.since);
  return (
    times.some((at) => at <= stall.since) &&
    (!isPast || (isOfOneSide(stall, mismatch) && haveLived() && haveParted(mismatch, ranks)))
  );
}

function isOfOneSide({ absent, works }: Stall, { ways }: Mismatch): boolean {
  const files = absent.length > 0 ? absent : works.map(({ file }) => file);
  return ways.some(({ entered }) => files.every((file) => entered.some((one) => one.file === file)));
}

/** The first collective of a communicator with other arguments. Its other calls are compared by themselves (different_calls.ts). */
function mismatchIn(comm: ClusterComm, ranks: readonly RankWitness[]): Mismatch | null {
  const one = comm.collectives.find(({ different }) => different.length > 0);
  return one ? differentArguments(comm, one, ranks) : null;
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
    const group = entryOf(byArguments, key, () => ({ args: { count, datatype, root }, entered: [] }));
    group.entered.push({ file, record, at });
  }
  const ways = [...byArguments.values()]
    .sort((a, b) => b.entered.length - a.entered.length)
    .map(({ args, entered }) => wayOf(comm, one, args, entered));
  const [most, other, ...more] = ways;
  return most && other ? mismatchOn(comm, 'arguments', [most, other, ...more]) : null;
}

const isLike = (call: CallArguments, { count, root }: Pick<CallArguments, 'count' | 'root'>): boolean =>
  call.count === count && call.root === root && !isLostText(call.datatype);

const wayOf = (
  { commId, name }: ClusterComm,
  { func, seq, ordinal }: Collective,
  args: CallArguments,
  entered: readonly Evidence[],
): Way => ({ commId: hex64(commId), comm: name, func, seq, replay: ordinal, ...args, entered });
