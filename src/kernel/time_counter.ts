/**
 * Counts of events over time, or sums of amounts, in bins. The width of the bins doubles when the run gets longer than all bins. So the
 * length of a run and its first event need not be known, and memory is bounded.
 */

export class TimeCounter {
  first: f64 = 0;
  width: f64 = 1;
  total: f64 = 0;
  /** null: nothing was counted. */
  counts: StaticArray<f64> | null = null;
  /** 1 / width: a power of two, so exact. */
  private perTick: f64 = 1;

  /** `bins`: an even number. */
  constructor(readonly bins: i32 = 128) {}

  /** Times may step back a little. Times before the first one count as the first. */
  add(at: f64, times: f64 = 1): void {
    let counts = this.counts;
    if (counts === null) {
      this.first = at;
      this.counts = counts = new StaticArray<f64>(this.bins);
    }
    this.total += times;
    let bin = (at - this.first) * this.perTick;
    while (bin >= <f64>this.bins) {
      this.widen(counts);
      bin /= 2;
    }
    unchecked((counts[bin < 0 ? 0 : <i32>bin] += times));
  }

  private widen(counts: StaticArray<f64>): void {
    const bins = this.bins;
    for (let bin = 0; bin < bins; bin++)
      counts[bin] = bin < bins / 2 ? counts[2 * bin] + counts[2 * bin + 1] : 0;
    this.width *= 2;
    this.perTick /= 2;
  }
}
