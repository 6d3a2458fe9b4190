/**
 * What each rank did in each collective: how late it came, in bins of time, and all its parts around the verdict's moment. This goes
 * through all parts once more. It keeps sums per rank and bin, and the parts around the moment.
 */

import { addTo, entryOf } from '../base/grouped.js';
import type { Spell } from '../cluster/collective_types.js';
import type { Heard } from '../cluster/join.js';
import type { RankWalk } from '../cluster/rank_walk.js';
import { lateSpans, together } from '../cluster/late_spans.js';
import type { Comparable } from '../clocks/comparable.js';
import type { ClusterComm, Collective } from '../cluster/collective_view.js';

/** Rank by time: how long behind the first to arrive, on average. */
export type Lateness = Readonly<ReturnType<PartsCollector['lateness']>>;

export type Picture = Readonly<ReturnType<PartsCollector['picture']>>;

const BINS = 96;
const MOST_SLICES = 240;

export class PartsCollector {
  /** By communicator and row. */
  private readonly collectives = new Map<bigint, Collective[]>();
  private readonly counted = new Set<Collective>();
  private readonly binNs: number;
  private readonly sums: Float64Array[];
  private readonly counts: Uint32Array[];
  private readonly funcs = new Map<string, number>();
  private readonly slices: [number, number | null, number][][];
  private readonly more: number[];

  constructor(
    private readonly comms: readonly ClusterComm[],
    private readonly comparable: Comparable,
    files: number,
    duration: number,
    private readonly view: readonly [from: number, to: number],
  ) {
    this.binNs = Math.max(1, duration / BINS);
    this.sums = Array.from({ length: files }, () => new Float64Array(BINS));
    this.counts = Array.from({ length: files }, () => new Uint32Array(BINS));
    this.slices = Array.from({ length: files }, () => []);
    this.more = Array.from({ length: files }, () => 0);
    for (const comm of comms) {
      const byRow = new Array<Collective>(comm.collectives.length);
      for (const one of comm.collectives) byRow[one.row] = one;
      this.collectives.set(comm.commId, byRow);
      if (!comparable.comparable(comm.files)) continue;
      // Before the first one the ranks start up and connect, each in its own time.
      const whole = comm.collectives.filter(({ arrived }) => arrived >= 2 && arrived === comm.nRanks);
      for (const one of whole.slice(1)) this.counted.add(one);
    }
  }

  readonly heard: Heard = (commId, row, file, walk) => {
    const one = this.collectives.get(commId)?.[row];
    if (!one) return;
    this.draw(one, file, walk);
    if (!this.counted.has(one)) return;
    const bin = Math.min(BINS - 1, Math.max(0, Math.floor(one.firstArrival / this.binNs)));
    this.sums[file]![bin]! += Math.max(0, walk.arrival.at - one.firstArrival);
    this.counts[file]![bin]!++;
  };

  lateness() {
    const last = new Map<number, Set<Collective>>();
    const waits = new Map<number, Spell[]>();
    for (const { commId, collectives } of this.comms)
      for (const one of collectives) {
        if (!this.counted.has(one) || commId === 0n) continue;
        const bound = this.comparable.clockBound(one.firstFile, one.lastFile, one.lastArrival);
        // A broadcast's root does not wait for other ranks.
        if (one.root >= 0) continue;
        for (const span of lateSpans(one, bound)) {
          const { file } = span.late;
          addTo(waits, file, span);
          entryOf(last, file, () => new Set()).add(one);
        }
      }
    return {
      binNs: this.binNs,
      bins: BINS,
      /** By file, then by bin: ns; null: it came to none. */
      meanNs: this.sums.map((sums, file) =>
        Array.from(sums, (sum, bin) => {
          const count = this.counts[file]![bin]!;
          return count === 0 ? null : Math.round(sum / count);
        }),
      ),
      /** By file: sums over all collectives that count. */
      files: this.sums.map((sums, file) => {
        const collectives = this.counts[file]!.reduce((a, b) => a + b, 0);
        const alone = together(waits.get(file) ?? []).reduce((sum, { from, to }) => sum + to - from, 0);
        return {
          collectives,
          meanNs: collectives === 0 ? null : Math.round(sums.reduce((a, b) => a + b, 0) / collectives),
          /** In how many of them all others waited for it alone, as the verdict counts them, and for how long. */
          last: last.get(file)?.size ?? 0,
          aloneNs: Math.round(alone),
        };
      }),
    };
  }

  picture() {
    return {
      from: this.view[0],
      to: this.view[1],
      /** What a slice's `func` means. */
      funcs: [...this.funcs.keys()],
      /** By file, at most MOST_SLICES each. Further slices of that stretch are only counted. */
      files: this.slices.map((slices, file) => ({ slices, more: this.more[file]! })),
    };
  }

  private draw({ func }: Collective, file: number, { arrival: { at }, outcome, over }: RankWalk): void {
    const [from, to] = this.view;
    const end = outcome === 'open' ? null : Number.isNaN(over) ? at : over;
    if (at > to || (end !== null && end < from)) return;
    const slices = this.slices[file]!;
    if (slices.length >= MOST_SLICES) {
      this.more[file]!++;
      return;
    }
    const number = entryOf(this.funcs, func, () => this.funcs.size);
    slices.push([Math.round(at), end === null ? null : Math.round(end), number]);
  }
}
