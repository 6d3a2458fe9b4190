/**
 * How each call of a dump ended, and which groups the process left behind. `state` alone does not say so, because the writers differ:
 *
 *   ProcessGroupNCCL, nccl2   `completed` when it is done. `retired` without it: an abort ended the call.
 *   torchcomms, gloo          do not ask the GPU, so `state` stays "scheduled". `retired` is the end.
 *   coalesced calls           only the entry "coalesced" that follows them has a state. It is theirs, too.
 *
 * An abort ends the kernel as well. So a call that was "completed" only after its timeout, and after which the rank called nothing more,
 * counts as ended by an abort.
 */

import type { Dump, DumpedCall, LeftGroup } from './dump.js';

export function withEnds(dump: Omit<Dump, 'left'>): Dump {
  const isTorchcomms = isOfTorchcomms(dump.calls);
  const isAsked = new Set(
    dump.calls.filter(({ state }) => state !== 'scheduled').map(({ backend }) => backend),
  );
  const last = dump.calls.at(-1);
  const endOf = (call: DumpedCall): DumpedCall['end'] => {
    const { state, isRetired, backend, timeoutMs, createdNs, completedNs } = call;
    const isOverdue = timeoutMs > 0 && completedNs >= createdNs + timeoutMs * 1e6;
    if (state === 'completed') return isOverdue && call.record === last?.record ? 'given up' : 'finished';
    if (!isRetired) return 'pending';
    // ProcessGroupNCCL always asks the GPU, also where no call was done yet.
    return isTorchcomms || !(isAsked.has(backend) || backend === 'nccl') ? 'finished' : 'given up';
  };
  const calls = withStates(dump.calls).map((call) => ({ ...call, end: endOf(call) }));
  const newestId = new Map(calls.map(({ group, groupId }) => [group, groupId]));
  const isCurrent = ({ group, groupId }: DumpedCall): boolean => newestId.get(group) === groupId;
  const current = calls.filter(isCurrent);
  const replaced = new Set(calls.filter((call) => !isCurrent(call)).map(({ groupId }) => groupId));
  return {
    ...dump,
    calls: isTorchcomms ? numberedByGroup(current) : current,
    status: new Map([...dump.status].filter(([id]) => !replaced.has(id))),
    left: leftGroups({ ...dump, calls }, isCurrent),
  };
}

/** Not known to be done. */
export const isPending = ({ end }: Pick<DumpedCall, 'end'>): boolean => end !== 'finished';

/** In the order of the calls. */
export function callsByGroup(calls: readonly DumpedCall[]): Map<string, DumpedCall[]> {
  const found = new Map<string, DumpedCall[]>();
  for (const call of calls) {
    const known = found.get(call.group);
    if (known) known.push(call);
    else found.set(call.group, [call]);
  }
  return found;
}

/** The members of a coalesced group take the state of the entry "coalesced", which closes it and has their number. */
function withStates(calls: readonly DumpedCall[]): DumpedCall[] {
  const found: DumpedCall[] = [];
  const closing = new Map<string, DumpedCall>();
  for (const call of calls.toReversed()) {
    const key = `${call.groupId} ${call.isP2p} ${call.isP2p ? call.p2pSeq : call.seq}`;
    if (call.op === 'coalesced') closing.set(key, call);
    const { state, isRetired, startedNs, completedNs } = closing.get(key) ?? call;
    found.push({ ...call, state, isRetired, startedNs, completedNs });
  }
  return found.reverse();
}

/** It numbers all calls of a process in one row, from 0, and knows no numbers of sends. PyTorch's own writers begin at 1. */
const isOfTorchcomms = (calls: readonly DumpedCall[]): boolean =>
  calls.length > 0 &&
  calls.every(({ p2pSeq }) => p2pSeq === 0) &&
  (calls.some(({ seq, isP2p }) => seq === 0 && !isP2p) ||
    calls.every(({ description, backend }) => description === backend));

/** Numbers per group, as the other writers count. A dump that lost its oldest calls keeps the numbers that it has. */
function numberedByGroup(calls: readonly DumpedCall[]): readonly DumpedCall[] {
  if (calls[0]?.seq !== 0) return calls;
  const next = new Map<string, number>();
  return calls.map((call) => {
    const seq = next.get(call.group) ?? 0;
    if (!call.isP2p) next.set(call.group, seq + 1);
    return { ...call, seq };
  });
}

/**
 * A process that recovers makes its groups anew: under the same name with a new number, or as another group with the same description or
 * most of the ranks. Then what is still open in the old one is over.
 */
function leftGroups(
  { groups, calls }: Pick<Dump, 'groups' | 'calls'>,
  isCurrent: (call: DumpedCall) => boolean,
): LeftGroup[] {
  const byGroup = callsByGroup(calls);
  const called = groups.flatMap((group) => {
    const own = byGroup.get(group.name);
    return own ? [{ ...group, own, hasEnd: own.some(({ end }) => end === 'finished') }] : [];
  });
  return groups.flatMap((group): LeftGroup[] => {
    const open = (byGroup.get(group.name) ?? []).filter(isPending);
    const before = open.find((call) => !isCurrent(call));
    if (before) return [{ ...group, call: before, livesOn: true }];
    const [call] = open;
    if (call === undefined) return [];
    const members = new Set(group.ranks);
    // Many groups may have one list of ranks.
    const inBoth = new Map<readonly number[], number>();
    const isReplaced = called.some(({ description, ranks, own, hasEnd }) => {
      if (own[0]!.record <= call.record) return false;
      const shared = inBoth.get(ranks) ?? ranks.filter((rank) => members.has(rank)).length;
      inBoth.set(ranks, shared);
      if (shared * 2 <= group.ranks.length) return false;
      // Some recorders leave an aborted call as it was. Then a group that lost ranks shows that it went on without them.
      const isShrunk = shared === ranks.length && shared < group.ranks.length;
      const isSame =
        description === group.description && !['', 'undefined', call.backend].includes(description);
      return isSame || ((call.end === 'given up' || isShrunk) && hasEnd);
    });
    return isReplaced ? [{ ...group, call, livesOn: false }] : [];
  });
}
