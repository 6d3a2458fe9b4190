/**
 * Which dumps are of one job and attempt. PyTorch's default is one folder per user, and an old dump stays where its rank writes no new one.
 * Two dumps do not belong together if
 *
 *   - their largest groups have one name and some of their ranks in common, but not all,
 *   - one has a group with the other's rank, and they have no group in common,
 *   - a rank called a collective long after another rank had seen it finished, which no collective allows, or
 *   - one ends more than an hour before the other begins.
 *
 * The last two may also be a wall clock that is wrong. It is minutes off and for all calls alike: then one offset brings every call of the
 * rank between the call and the end of the others. An older attempt had other pauses between its calls.
 */

import { maxOf } from '../base/extremes.js';
import { median } from '../base/median.js';
import type { Dump, ProcessGroup } from './dump.js';
import { groupKey } from './joined_calls.js';
import { isOneSided } from './rank_positions.js';

export interface DumpedJob {
  /** One per rank, by rank. Their times are on the clock that most of them have. */
  readonly dumps: readonly Dump[];
  /** Older dumps of ranks that it has. */
  readonly second: readonly Dump[];
  /** Ranks whose wall clock was corrected, and by how much it is ahead of the others. */
  readonly clocks: readonly { readonly rank: number; readonly aheadNs: number }[];
  /** Ranks in its largest group. */
  readonly worldSize: number;
  /** Its newest call, ns since the Unix epoch; 0: it lists none. */
  readonly lastNs: number;
  /** A newer job here has the same largest group. */
  readonly isOlderAttempt: boolean;
}

/** Wall clocks of hosts may differ by this much without a word. */
const CLOCKS_NS = 60e9;
const PAUSE_NS = 3600e9;
/** So many collectives in common show whether a clock is off. */
const ENOUGH = 8;

/** In the order of their newest calls, the newest first. */
export function jobsIn(found: readonly Dump[]): DumpedJob[] {
  const jobs: Job[] = [];
  // Dumps without a call contradict nothing, so they come last.
  for (const dump of found.toSorted((a, b) => lastOf(b) - lastOf(a))) {
    const near = jobs.filter((job) => job.sharesGroup(dump));
    if (![...near, ...jobs].some((job) => job.add(dump))) {
      const job = new Job();
      job.add(dump);
      jobs.push(job);
    }
  }
  return jobs.map((job, i) =>
    job.done(jobs.slice(0, i).some((newer) => newer.world !== '' && newer.world === job.world)),
  );
}

class Job {
  private readonly dumps = new Map<number, Dump>();
  private readonly second: Dump[] = [];
  /** By group and number. */
  private readonly times = new Map<string, Map<number, Span>>();
  private readonly worlds = new Map<number, World>();
  private readonly offsets = new Map<number, number>();
  private firstNs = Infinity;
  world = '';

  sharesGroup({ groups }: Dump): boolean {
    return groups.some((group) => this.times.has(groupKey(group)));
  }

  /** Whether the dump is part of the job. */
  add(dump: Dump): boolean {
    const { rank } = dump;
    const world = worldOf(dump);
    if (this.contradicts(dump, world)) return false;
    const offset = this.offsetOf(dump);
    if (offset === null) return false;
    if (this.dumps.has(rank)) return this.second.push(dump) > 0;
    this.dumps.set(rank, dump);
    this.offsets.set(rank, offset);
    if (world) this.worlds.set(rank, world);
    this.world ||= world?.key ?? '';
    for (const group of dump.groups)
      this.times.set(groupKey(group), this.times.get(groupKey(group)) ?? new Map<number, Span>());
    for (const { times, seq, called, ended } of this.collectives(dump)) {
      const { lastCall, firstEnd } = times.get(seq) ?? { lastCall: -Infinity, firstEnd: Infinity };
      times.set(seq, {
        lastCall: Math.max(lastCall, called + offset),
        firstEnd: Math.min(firstEnd, ended + offset),
      });
      this.firstNs = Math.min(this.firstNs, called + offset);
    }
    return true;
  }

  private contradicts(dump: Dump, world: World | null): boolean {
    const isKnown = this.sharesGroup(dump);
    if (!isKnown && [...this.worlds.values()].some(({ ranks }) => ranks.includes(dump.rank))) return true;
    return (world?.ranks ?? []).some((rank) => {
      const other = this.worlds.get(rank);
      return other && (!isKnown || (world!.name === other.name && world!.key !== other.key));
    });
  }

  /** What brings its times to the job's clock, mostly 0; null: nothing does, so the dump is of another attempt. */
  private offsetOf(dump: Dump): number | null {
    let [least, most, common] = [-Infinity, Infinity, 0];
    for (const { times, seq, called, ended } of this.collectives(dump)) {
      const known = times.get(seq);
      if (known === undefined) continue;
      least = Math.max(least, known.lastCall - ended);
      most = Math.min(most, known.firstEnd - called);
      if (known.firstEnd < Infinity && ended < Infinity) common++;
    }
    const isLongBefore =
      lastOf(dump) > 0 && this.firstNs < Infinity && lastOf(dump) + PAUSE_NS < this.firstNs;
    if (!isLongBefore && least <= CLOCKS_NS && most >= -CLOCKS_NS) return 0;
    const middle = (least + most) / 2;
    return least <= most && common >= ENOUGH && Math.abs(middle) < PAUSE_NS ? middle : null;
  }

  /** Those that no rank finishes before all called. */
  private *collectives({ groups, calls }: Dump) {
    const { seq, createdNs, completedNs } = calls.numbers;
    const byName = new Map(groups.map((group) => [group.name, this.times.get(groupKey(group))]));
    for (let row = 0; row < calls.length; row++) {
      const kind = calls.kinds[row]!;
      const times = byName.get(kind.group);
      const called = createdNs[row]!;
      if (times === undefined || called === 0 || kind.isP2p || isOneSided(kind)) continue;
      // An aborted call has no end that the others must have reached.
      const ended = calls.isPending(row) || completedNs[row] === 0 ? Infinity : completedNs[row]!;
      yield { times, seq: seq[row]!, called, ended };
    }
  }

  /** Most clocks are right. */
  done(isOlderAttempt: boolean): DumpedJob {
    const usual = median([...this.offsets.values()]) ?? 0;
    const dumps = [...this.dumps.values()].sort((a, b) => a.rank - b.rank);
    const clocks = dumps.flatMap((dump) => {
      const aheadNs = usual - this.offsets.get(dump.rank)!;
      if (Math.abs(aheadNs) <= CLOCKS_NS) return [];
      dump.calls.shift(-aheadNs);
      return [{ rank: dump.rank, aheadNs }];
    });
    const worldSize = maxOf(
      [...this.worlds.values()].map(({ ranks }) => ranks.length),
      0,
    );
    const lastNs = maxOf(dumps.map(lastOf), 0);
    return { dumps, second: this.second, clocks, worldSize, lastNs, isOlderAttempt };
  }
}

/** When the last rank called a collective, and when the first one saw it finished, by the first dump's clock. */
interface Span {
  readonly lastCall: number;
  readonly firstEnd: number;
}

interface World extends ProcessGroup {
  readonly key: string;
}

/** Its largest group. */
function worldOf({ groups }: Dump): World | null {
  const [largest] = groups.toSorted((a, b) => b.ranks.length - a.ranks.length);
  return largest ? { ...largest, key: groupKey(largest) } : null;
}

const lastOf = ({ calls }: Dump): number => maxOf(calls.numbers.createdNs, 0);
