/**
 * Which dumps are of one job and attempt. PyTorch's default is one folder per user, and an old dump stays where its rank writes no new one.
 * Two dumps do not belong together if
 *
 *   - a rank called a collective long after another rank had seen it finished, which no collective allows,
 *   - their largest groups have one name and some of their ranks in common, but not all,
 *   - one has a group with the other's rank, and they have no group in common, or
 *   - one ends more than an hour before the other begins.
 *
 * The newest dumps are judged. What they contradict is left out.
 */

import { isPending } from './call_ends.js';
import type { Dump, DumpedCall, ProcessGroup } from './dump.js';
import { groupKey } from './joined_calls.js';
import { isOneSided } from './rank_positions.js';

export interface LeftOut {
  readonly rank: number;
  readonly path: string;
  readonly why: 'of another job' | 'of an older attempt' | 'a second dump';
  /** Ranks in its largest group. */
  readonly worldSize: number;
  /** Its newest call, ns since the Unix epoch; 0: it lists none. */
  readonly lastNs: number;
}

/** Wall clocks of hosts may differ by this much. */
const CLOCKS_NS = 60e9;
const PAUSE_NS = 3600e9;

/** One dump per rank, by rank. */
export function ofNewestJob(found: readonly Dump[]): { dumps: Dump[]; leftOut: LeftOut[] } {
  const job = new Job();
  const leftOut: LeftOut[] = [];
  // Dumps without a call contradict nothing.
  for (const dump of found.toSorted((a, b) => lastOf(b) - lastOf(a))) {
    const why = job.add(dump);
    if (why === null) continue;
    const worldSize = worldOf(dump)?.ranks.length ?? 0;
    leftOut.push({ rank: dump.rank, path: dump.path, why, worldSize, lastNs: lastOf(dump) });
  }
  return { dumps: [...job.dumps.values()].sort((a, b) => a.rank - b.rank), leftOut };
}

class Job {
  readonly dumps = new Map<number, Dump>();
  /** By collective: when the last rank called it, and when the first one saw it finished. */
  private readonly times = new Map<string, { lastCall: number; firstEnd: number }>();
  private readonly groups = new Set<string>();
  private readonly worlds = new Map<number, World>();
  private firstNs = Infinity;

  /** Why the dump is no part of the job; null: it is, from now on. */
  add(dump: Dump): LeftOut['why'] | null {
    const { rank, groups, calls } = dump;
    const world = worldOf(dump);
    if (this.contradicts(dump, world)) return 'of another job';
    const own = calls.filter((call) => call.createdNs > 0 && !call.isP2p && !isOneSided(call));
    const keys = new Map(groups.map((group) => [group.name, groupKey(group)]));
    const keyOf = ({ group, seq }: DumpedCall): string => `${keys.get(group)} ${seq}`;
    const isLongBefore =
      calls.length > 0 && this.firstNs < Infinity && lastOf(dump) + PAUSE_NS < this.firstNs;
    const isElsewhen = own.some((call) => {
      const known = this.times.get(keyOf(call));
      if (!known) return false;
      return call.createdNs > known.firstEnd + CLOCKS_NS || known.lastCall > endOf(call) + CLOCKS_NS;
    });
    if (isElsewhen || isLongBefore) return 'of an older attempt';
    if (this.dumps.has(rank)) return 'a second dump';
    this.dumps.set(rank, dump);
    if (world) this.worlds.set(rank, world);
    for (const group of groups) this.groups.add(groupKey(group));
    for (const call of own) {
      const { lastCall, firstEnd } = this.times.get(keyOf(call)) ?? { lastCall: 0, firstEnd: Infinity };
      this.times.set(keyOf(call), {
        lastCall: Math.max(lastCall, call.createdNs),
        firstEnd: Math.min(firstEnd, endOf(call)),
      });
      this.firstNs = Math.min(this.firstNs, call.createdNs);
    }
    return null;
  }

  private contradicts({ groups }: Dump, world: World | null): boolean {
    const isKnown = groups.some((group) => this.groups.has(groupKey(group)));
    return (world?.ranks ?? []).some((rank) => {
      const other = this.worlds.get(rank);
      return other && (!isKnown || (world!.name === other.name && world!.key !== other.key));
    });
  }
}

interface World extends ProcessGroup {
  readonly key: string;
}

/** Its largest group. */
function worldOf({ groups }: Dump): World | null {
  const [largest] = groups.toSorted((a, b) => b.ranks.length - a.ranks.length);
  return largest ? { ...largest, key: groupKey(largest) } : null;
}

const lastOf = ({ calls }: Dump): number =>
  calls.reduce((last, { createdNs }) => Math.max(last, createdNs), 0);

/** An aborted call has no end that the others must have reached. */
const endOf = (call: DumpedCall): number =>
  isPending(call) || call.completedNs === 0 ? Infinity : call.completedNs;
