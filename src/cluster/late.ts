/**
 * Who arrived last at a collective, on the GPU and on the host, and how long all others waited for that rank alone. Updated rank by
 * rank while joining: the last two of all ranks are enough.
 */

import type { TraceNs } from '../base/time.js';
import type { Coming } from './course.js';
import type { Collective, Late } from './types.js';

export interface RankComing extends Coming {
  readonly file: number;
  /** In the communicator. */
  readonly rank: number;
}

type Place = Pick<RankComing, 'file' | 'rank'>;

export class LastRanks {
  private onGpu: RankComing | null = null;
  private onHost: RankComing | null = null;
  private readonly came = new LastTwo();
  private readonly waited = new LastTwo();

  add(coming: RankComing): void {
    const { arrival, waited } = coming;
    if (this.onGpu === null || arrival.at > this.onGpu.arrival.at) this.onGpu = coming;
    if (this.onHost === null || arrival.called > this.onHost.arrival.called) this.onHost = coming;
    this.came.add(coming, arrival.latest);
    this.waited.add(coming, waited);
  }

  late(): Collective['late'] {
    const [gpu, host] = [this.onGpu!, this.onHost!];
    return {
      onGpu: lateOf(gpu, gpu.arrival.earliest, this.came, gpu.idle),
      onHost: { ...lateOf(host, host.arrival.called, this.waited, host.hostIdle), basis: 'call' },
    };
  }
}

const lateOf = (coming: RankComing, to: TraceNs, others: LastTwo, idle: Late['idle']): Late => ({
  file: coming.file,
  rank: coming.rank,
  basis: coming.arrival.basis,
  called: coming.arrival.called,
  others: others.but(coming) ?? to,
  idle,
  to,
});

/** The two greatest times, of different ranks. */
class LastTwo {
  private first: (Place & { readonly at: TraceNs }) | undefined;
  private second: (Place & { readonly at: TraceNs }) | undefined;

  add({ file, rank }: Place, at: TraceNs): void {
    const { first, second } = this;
    if (second && at <= second.at) return;
    const one = { file, rank, at };
    if (first && at <= first.at) this.second = one;
    else {
      this.second = first;
      this.first = one;
    }
  }

  but({ file, rank }: Place): TraceNs | undefined {
    const { first, second } = this;
    return first && (first.file !== file || first.rank !== rank) ? first.at : second?.at;
  }
}

export interface LateSpan extends Spell {
  readonly late: Late;
}

/** The time in which all others waited for it alone, less `bound` ns for the error of the clocks. */
export function lateSpans({ late: { onGpu, onHost } }: Pick<Collective, 'late'>, bound: number): LateSpan[] {
  return [onHost, onGpu].flatMap((late) => {
    const from = Math.max(late.others + bound, late.idle.from);
    const to = Math.min(late.to, late.idle.to);
    return late.others + bound < late.to && to > from ? [{ late, from, to }] : [];
  });
}

export interface Spell {
  readonly from: number;
  readonly to: number;
}

/** Ranks wait for collectives that were called together at the same time. That time counts once. */
export function together(waits: readonly Spell[]): Spell[] {
  const spells: { from: number; to: number }[] = [];
  for (const { from, to } of [...waits].sort((a, b) => a.from - b.from)) {
    const last = spells.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else if (to > from) spells.push({ from, to });
  }
  return spells;
}

/** Made where there is none: of a long run these are long. */
export function listOf<T>(lists: Map<number, T[]>, key: number): T[] {
  let list = lists.get(key);
  if (!list) {
    list = [];
    lists.set(key, list);
  }
  return list;
}
