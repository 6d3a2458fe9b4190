/**
 * Finds the call in the dumps that is the collective of our verdict. PyTorch numbers the collectives of a process group from 1, whatever
 * their function. NCCL numbers those of a communicator from 0, by function. So numbers are not compared. A group fits if it has as many
 * ranks as the communicator and all of ours are in it. On each rank it is the first call of that function without an end. If several groups
 * fit, the group where most ranks have such a call is taken, then the one of the same name, then the nearest in time.
 */

import { median } from '../base/median.js';
import type { Hang } from '../verdict/types.js';
import type { CallKind, DumpedCall } from './calls.js';
import { functionOf } from './compared_calls.js';
import type { Dump } from './dump.js';
import { joinDumps, type JoinedGroup } from './joined_calls.js';
import { stacksOf } from './stacks.js';

export type MatchedCollective = Readonly<NonNullable<ReturnType<typeof matchDumps>>>;

/** Our side: ranks of the job by file. */
export interface OurRun {
  readonly ranks: readonly (number | null)[];
  /** ns since the Unix epoch, decimal. */
  readonly traceStart: string;
  /** The name that NCCL reports of a communicator, by id; empty: none. */
  readonly kindOf: (commId: string) => string;
}

export function matchDumps(hang: Hang, ours: OurRun, dumps: readonly Dump[]) {
  const rankOf = (file: number): number | null => ours.ranks[file] ?? null;
  const known = [...hang.waiting, ...hang.neverEntered].flatMap(({ file }) => rankOf(file) ?? []);
  const start = Number(BigInt(ours.traceStart));
  const waiting = hang.waiting.flatMap(({ file, at }) => {
    const rank = rankOf(file);
    return rank === null ? [] : [{ rank, calledNs: start + at }];
  });
  const found = joinDumps(dumps)
    .filter(({ ranks }) => ranks.length === hang.nRanks && known.every((rank) => ranks.includes(rank)))
    .map((group) => fitOf(group, { func: hang.func, kind: ours.kindOf(hang.commId ?? '') }, waiting))
    .filter(({ callers }) => callers.length > 0)
    .sort((a, b) => b.callers.length - a.callers.length || b.alike - a.alike || a.apartNs - b.apartNs);
  const [best] = found;
  if (!best) return null;
  const { group, callers, apartNs } = best;
  const seqs = new Set(callers.map(({ call }) => (call.isP2p ? null : call.seq)));
  const newest = (rank: number): DumpedCall | null =>
    dumps.find((dump) => dump.rank === rank)?.calls.at(-1) ?? null;
  return {
    group: group.name,
    description: group.description,
    /** PyTorch's number of the call in the group. null: the ranks' dumps disagree, or the call is a send or receive. */
    seq: seqs.size === 1 ? [...seqs][0]! : null,
    op: functionOf(callers[0]!.call),
    /** Number of waiting ranks whose dump lists the call without an end. `of`: number of waiting ranks with a dump. */
    agreed: callers.length,
    of: waiting.filter(({ rank }) => group.members.has(rank)).length,
    /** Groups that fit as well. */
    alsoFit:
      found.filter((one) => one.callers.length === callers.length && one.alike === best.alike).length - 1,
    /** ns: median of the time from the call in the dump to our record of it. */
    apartNs,
    /** The Python stacks of the ranks' calls. */
    stacks: stacksOf(callers),
    /** Ranks that never entered, with their newest call on any group; null: the dump lists none. */
    strays: hang.neverEntered.flatMap(({ file }) => {
      const rank = rankOf(file);
      return rank === null || !dumps.some((dump) => dump.rank === rank) ? [] : [{ rank, last: newest(rank) }];
    }),
  };
}

interface Fit {
  readonly group: JoinedGroup;
  readonly callers: readonly { readonly rank: number; readonly call: DumpedCall }[];
  /** 1: the communicator has the group's name or description. */
  readonly alike: number;
  readonly apartNs: number;
}

function fitOf(
  group: JoinedGroup,
  { func, kind }: { readonly func: string; readonly kind: string },
  waiting: readonly { readonly rank: number; readonly calledNs: number }[],
): Fit {
  const apart: number[] = [];
  const callers = waiting.flatMap(({ rank, calledNs }) => {
    const { dump, rows } = group.members.get(rank) ?? { dump: null, rows: [] };
    const row = rows.find((one) => dump!.calls.isPending(one) && isCallOf(dump!.calls.kinds[one]!, func));
    const call = row === undefined ? undefined : dump!.calls.at(row);
    if (!call) return [];
    apart.push(Math.abs(calledNs - call.createdNs));
    return [{ rank, call }];
  });
  const alike = kind !== '' && (kind === group.name || kind === group.description) ? 1 : 0;
  return { group, callers, alike, apartNs: median(apart) ?? Infinity };
}

/** If NCCL has no function for an operation, PyTorch makes it from sends and receives. */
const FUNCTIONS: ReadonlyMap<string, readonly string[]> = new Map([
  ['AllReduce', ['all_reduce', 'barrier']],
  ['AllGather', ['all_gather']],
  ['ReduceScatter', ['reduce_scatter']],
  // With parts of unequal sizes, all_gather is many broadcasts, and reduce_scatter many reduces.
  ['Broadcast', ['broadcast', 'all_gather']],
  ['Reduce', ['reduce', 'reduce_scatter']],
  ['AlltoAll', ['all_to_all']],
  ['Gather', ['gather']],
  ['Scatter', ['scatter']],
]);
const BY_TRANSFERS = ['send', 'recv', 'all_to_all', 'gather', 'scatter'];

function isCallOf(call: CallKind, func: string): boolean {
  const name = functionOf(call);
  if (func === 'Send' || func === 'Recv') return BY_TRANSFERS.includes(name) || name === 'coalesced';
  const names = FUNCTIONS.get(func) ?? [];
  return names.some((one) => name === one || (name.startsWith(`${one}_`) && name.endsWith('coalesced')));
}
