/**
 * The normal matrix of least squares, factored for variances (ordered_cholesky.ts). If unknowns are numbered by time, rows of neighbours in
 * time cost little. Unknowns that are in all rows come last.
 */

import { OrderedCholesky } from './ordered_cholesky.js';

interface Row {
  readonly indices: readonly number[];
  readonly coefficients: readonly number[];
  readonly weight: number;
}

export class EnvelopeMatrix {
  private rows: Row[] = [];
  /** Per unknown: the first unknown that shares a row with it. */
  private readonly first: Int32Array;
  private factored: OrderedCholesky | undefined;

  constructor(readonly unknowns: number) {
    this.first = Int32Array.from({ length: unknowns }, (_, i) => i);
  }

  /**
   * The sum of coefficients[i] * x[indices[i]] is known within `sigma`; variances do not need its value. Indices below 0 are known to be 0.
   */
  add(indices: readonly number[], coefficients: readonly number[], _target: number, sigma: number): void {
    this.rows.push({ indices, coefficients, weight: 1 / (sigma * sigma) });
    const least = indices.reduce((min, index) => (index >= 0 && index < min ? index : min), this.unknowns);
    for (const index of indices) if (index >= 0 && least < this.first[index]!) this.first[index] = least;
  }

  /** Multiplications that `factor` takes, about. */
  get cost(): number {
    return this.first.reduce((sum, from, i) => sum + (i - from) ** 2 / 2, 0);
  }

  /** After this call `variance` can be used, and no row may be added. */
  factor(): this {
    const { unknowns, first, cost, rows } = this;
    const place = Int32Array.from({ length: unknowns }, (_, i) => i);
    const matrix = (this.factored = new OrderedCholesky(unknowns, { place, first, cost }));
    for (const { indices, coefficients, weight } of rows) {
      indices.forEach((a, i) => {
        indices.forEach((b, j) => {
          if (b >= 0 && a >= b) matrix.add(a, b, coefficients[i]! * coefficients[j]! * weight);
        });
      });
    }
    this.rows = [];
    matrix.factor();
    return this;
  }

  /** Variance of the sum of coefficients[i] * x[indices[i]]. Indices below 0 stand for a known 0. */
  variance(indices: readonly number[], coefficients: readonly number[]): number {
    return this.factored!.variance(indices, coefficients);
  }
}
