/**
 * The normal matrix of least squares, factored (Cholesky) for variances. Each row is stored from its first entry to its diagonal, where its
 * whole factor lies. Neighbours in time cost little if unknowns are numbered by time; unknowns in all rows come last.
 */

export class EnvelopeMatrix {
  private readonly rows: { indices: readonly number[]; coefficients: readonly number[]; sigma: number }[] =
    [];
  /** Per unknown: the first unknown that shares a row with it. */
  private readonly first: Int32Array;
  /** Where row i begins in `lower`; the diagonal is its last entry. */
  private readonly start: Float64Array;
  private lower = new Float64Array(0);

  constructor(readonly unknowns: number) {
    this.first = Int32Array.from({ length: unknowns }, (_, i) => i);
    this.start = new Float64Array(unknowns + 1);
  }

  /**
   * The sum of coefficients[i] * x[indices[i]] is known within `sigma`; variances do not need its value. Indices below 0 are known to be 0.
   */
  add(indices: readonly number[], coefficients: readonly number[], _target: number, sigma: number): void {
    this.rows.push({ indices, coefficients, sigma });
    const least = indices.reduce((min, index) => (index >= 0 && index < min ? index : min), this.unknowns);
    for (const index of indices) if (index >= 0 && least < this.first[index]!) this.first[index] = least;
  }

  /** Multiplications that `factor` takes, about. */
  get cost(): number {
    return this.first.reduce((sum, from, i) => sum + (i - from) ** 2 / 2, 0);
  }

  /** After this `variance` works, and nothing may be added. */
  factor(): this {
    const { first, start, unknowns } = this;
    for (let i = 0; i < unknowns; i++) start[i + 1] = start[i]! + i - first[i]! + 1;
    const lower = (this.lower = new Float64Array(start[unknowns]!));
    for (const row of this.rows) this.fill(row);
    this.rows.length = 0;
    for (let i = 0; i < unknowns; i++) {
      const row = start[i]! - first[i]!;
      for (let j = first[i]!; j <= i; j++) {
        const other = start[j]! - first[j]!;
        let sum = lower[row + j]!;
        for (let k = Math.max(first[i]!, first[j]!); k < j; k++) sum -= lower[row + k]! * lower[other + k]!;
        lower[row + j] = i === j ? Math.sqrt(sum) : sum / lower[other + j]!;
      }
    }
    return this;
  }

  /** Variance of x[plus] - x[minus]. An index below 0 stands for a known 0. */
  variance(plus: number, minus: number): number {
    const { lower, first, start, unknowns } = this;
    const from = Math.min(plus < 0 ? unknowns : plus, minus < 0 ? unknowns : minus);
    const solved = new Float64Array(unknowns);
    let sum = 0;
    for (let i = from; i < unknowns; i++) {
      const row = start[i]! - first[i]!;
      let value = (i === plus ? 1 : 0) - (i === minus ? 1 : 0);
      for (let k = Math.max(from, first[i]!); k < i; k++) value -= lower[row + k]! * solved[k]!;
      value /= lower[row + i]!;
      solved[i] = value;
      sum += value * value;
    }
    return sum;
  }

  private fill({ indices, coefficients, sigma }: (typeof this.rows)[number]): void {
    const weight = 1 / (sigma * sigma);
    for (let i = 0; i < indices.length; i++) {
      for (let j = 0; j < indices.length; j++) {
        const row = indices[i]!;
        const column = indices[j]!;
        if (row < 0 || column < 0 || column > row) continue;
        this.lower[this.start[row]! + column - this.first[row]!]! +=
          coefficients[i]! * coefficients[j]! * weight;
      }
    }
  }
}
