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

import { addTo } from '../base/grouped.js';
import { Calls, type DumpedCall, type ReadCall } from './calls.js';
import type { Dump, GroupStatus, LeftGroup, ProcessGroup, ReadDump } from './dump.js';

/** Calls on a group that was made anew since are no part of it. */
export function withEnds({ calls, ...dump }: ReadDump): Dump {
  const { groups, status } = dump;
  const isTorchcomms = isOfTorchcomms(calls);
  closeBatches(calls);
  setEnds(calls, isTorchcomms);
  if (calls.every(({ state, isRetired }) => state === 'scheduled' && !isRetired)) endByStatus(calls, status);
  const newestId = new Map(calls.map(({ kind }) => [kind.group, kind.groupId]));
  const isCurrent = ({ kind }: ReadCall): boolean => newestId.get(kind.group) === kind.groupId;
  const current = calls.filter(isCurrent);
  const replaced = new Set(calls.filter((call) => !isCurrent(call)).map(({ kind }) => kind.groupId));
  const left = leftGroups(groups, calls, isCurrent);
  if (isTorchcomms && current[0]?.seq === 0) numberByGroup(current);
  const living = [...status].filter(([id]) => !replaced.has(id));
  return { ...dump, status: new Map(living), calls: new Calls(current), left };
}

/** Not known to be done. */
export const isPending = ({ end }: Pick<DumpedCall, 'end'>): boolean => end !== 'finished';

/**
 * A coalesced group of collectives, or a batch of sends and receives, is closed by an entry "coalesced". That one has a state, which is
 * also that of the calls since the last one that is not of the same sort. Collectives of one group have one number.
 */
function closeBatches(calls: readonly ReadCall[]): void {
  const closing = new Map<number, { by: ReadCall; isP2p: boolean | null }>();
  for (const call of calls.toReversed()) {
    const { isP2p, op, groupId } = call.kind;
    const open = closing.get(groupId);
    if (op === 'coalesced') {
      closing.set(groupId, { by: call, isP2p: null });
    } else if (open) {
      open.isP2p ??= isP2p;
      const { by } = open;
      const isMember = open.isP2p === isP2p && call.state === 'scheduled' && (isP2p || call.seq === by.seq);
      const { state, isRetired, startedNs, completedNs } = by;
      if (!isMember) closing.delete(groupId);
      else Object.assign(call, { state, isRetired, startedNs, completedNs, batch: isP2p ? by.record : 0 });
    }
  }
}

function setEnds(calls: readonly ReadCall[], isTorchcomms: boolean): void {
  const asked = new Set(calls.filter(({ state }) => state !== 'scheduled').map(({ kind }) => kind.backend));
  const last = calls.at(-1);
  for (const call of calls) {
    const { state, isRetired, createdNs, completedNs, kind } = call;
    const isOverdue = kind.timeoutMs > 0 && completedNs >= createdNs + kind.timeoutMs * 1e6;
    if (state === 'completed') call.end = isOverdue && call === last ? 'given up' : 'finished';
    // ProcessGroupNCCL always asks the GPU, also where no call was done yet.
    else if (isRetired)
      call.end =
        isTorchcomms || !(asked.has(kind.backend) || kind.backend === 'nccl') ? 'finished' : 'given up';
  }
}

/** No entry says anything of progress, as in dumps without its events. Then the groups' status alone does. */
function endByStatus(calls: readonly ReadCall[], status: ReadonlyMap<number, GroupStatus>): void {
  const byId = new Map<number, ReadCall[]>();
  for (const call of calls) addTo(byId, call.kind.groupId, call);
  for (const [id, own] of byId) {
    const to = completedTo(status.get(id), own.some(({ kind }) => kind.isP2p) ? null : own.at(-1)!);
    if (to) for (const call of own) if ((to.isOpId ? call.opId : call.seq) <= to.last) call.end = 'finished';
  }
}

/**
 * The number up to which the status says that a group's calls are done, and which of a call's numbers is meant. `newest`: the group's last
 * call; null if it has sends or receives, which have numbers of their own but count in the same status.
 */
export function completedTo(
  status: GroupStatus | undefined,
  newest: Pick<DumpedCall, 'seq' | 'opId'> | null,
): { readonly last: number; readonly isOpId: boolean } | null {
  if (!status || !newest) return null;
  return { last: status.completed, isOpId: status.enqueued === newest.opId && newest.opId !== newest.seq };
}

/** It numbers all calls of a process in one row, from 0, and knows no numbers of sends. PyTorch's own writers begin at 1. */
const isOfTorchcomms = (calls: readonly ReadCall[]): boolean =>
  calls.length > 0 &&
  calls.every(({ p2pSeq }) => p2pSeq === 0) &&
  (calls.some(({ seq, kind }) => seq === 0 && !kind.isP2p) ||
    calls.every(({ kind }) => kind.description === kind.backend));

/** Numbers per group, as the other writers count. A dump that lost its oldest calls keeps the numbers that it has. */
function numberByGroup(calls: readonly ReadCall[]): void {
  const next = new Map<string, number>();
  for (const call of calls) {
    const seq = next.get(call.kind.group) ?? 0;
    if (!call.kind.isP2p) next.set(call.kind.group, seq + 1);
    call.seq = seq;
  }
}

/**
 * A process that recovers makes its groups anew: under the same name with a new number, or as another group with the same description or
 * most of the ranks. Then what is still open in the old one is over.
 */
function leftGroups(
  groups: readonly ProcessGroup[],
  calls: readonly ReadCall[],
  isCurrent: (call: ReadCall) => boolean,
): LeftGroup[] {
  const byGroup = new Map<string, ReadCall[]>();
  for (const call of calls) addTo(byGroup, call.kind.group, call);
  const called = groups.flatMap((group) => {
    const own = byGroup.get(group.name);
    return own ? [{ ...group, own, hasEnd: own.some(({ end }) => end === 'finished') }] : [];
  });
  const whole = ({ kind, ...call }: ReadCall): DumpedCall => ({ ...kind, ...call });
  return groups.flatMap((group): LeftGroup[] => {
    const open = (byGroup.get(group.name) ?? []).filter(isPending);
    const before = open.find((call) => !isCurrent(call));
    if (before) return [{ ...group, call: whole(before), livesOn: true }];
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
        description === group.description && !['', 'undefined', call.kind.backend].includes(description);
      return isSame || ((call.end === 'given up' || isShrunk) && hasEnd);
    });
    return isReplaced ? [{ ...group, call: whole(call), livesOn: false }] : [];
  });
}
