/**
 * Counts of events over time, or sums of amounts, in bins. The width of the bins doubles when the run gets longer than all bins. So the
 * length of a run and its first event need not be known, and memory is bounded. Amounts of the same events are lanes of one counter.
 */

export class TimeCounter {
  first: f64 = 0;
  width: f64 = 1;
  /** By lane. */
  readonly totals: StaticArray<f64>;
  /** By bin, and by lane within a bin. null: nothing was counted. */
  counts: StaticArray<f64> | null = null;
  /** 1 / width: a power of two, so exact. */
  private perTick: f64 = 1;

  /** `bins`: an even number. */
  constructor(
    readonly bins: i32 = 128,
    readonly lanes: i32 = 1,
  ) {
    this.totals = new StaticArray<f64>(lanes);
  }

  @inline
  add(at: f64): void {
    this.addTo(this.binOf(at), 0, 1);
  }

  /** Where the lanes of a time's bin begin. Times may step back a little. Times before the first one count as the first. */
  binOf(at: f64): i32 {
    let counts = this.counts;
    if (counts === null) {
      this.first = at;
      this.counts = counts = new StaticArray<f64>(this.bins * this.lanes);
    }
    let bin = (at - this.first) * this.perTick;
    while (bin >= <f64>this.bins) {
      this.widen(counts);
      bin /= 2;
    }
    return bin < 0 ? 0 : <i32>bin * this.lanes;
  }

  @inline
  addTo(bin: i32, lane: i32, amount: f64): void {
    unchecked((this.totals[lane] += amount));
    unchecked((this.counts![bin + lane] += amount));
  }

  private widen(counts: StaticArray<f64>): void {
    const half = (this.bins / 2) * this.lanes;
    for (let to = 0; to < half; to++) {
      const from = 2 * to - (to % this.lanes);
      counts[to] = counts[from] + counts[from + this.lanes];
    }
    counts.fill(0, half);
    this.width *= 2;
    this.perTick /= 2;
  }
}
