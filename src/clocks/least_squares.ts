/**
 * Weighted linear least squares of sparse rows. The normal matrix is factored as a whole if a numbering of the unknowns makes this cheap.
 * Otherwise it is factored clock by clock. Conjugate gradients do the rest.
 */

import { OrderedCholesky, orderOf, type Order } from './ordered_cholesky.js';

/** Most multiplications for factoring a matrix as a whole. */
const MOST_COST = 1e8;

/** Rows of at most `WIDTH` terms. */
const WIDTH = 5;

/** The first unknowns come in blocks of `size`: the corrections of one clock. */
export interface Blocks {
  readonly count: number;
  readonly size: number;
  /** This many of the last unknowns are in rows of all clocks. */
  readonly shared?: number;
}

export class SparseLeastSquares {
  private rows = 0;
  private index = new Int32Array(1024 * WIDTH);
  private value = new Float64Array(1024 * WIDTH);
  private target = new Float64Array(1024);
  private weight = new Float64Array(1024);
  /** The order of the unknowns at the first solution. */
  private order: Order | undefined;

  /** `blocks`: each round begins with the solution of each block alone. In a row the indices of one block are at most BAND apart. */
  constructor(
    readonly unknowns: number,
    private readonly blocks: Blocks = { count: 0, size: 1 },
  ) {}

  /**
   * sum of coefficients[i] * x[indices[i]] should be `target`, within `sigma`. Indices below 0 are known to be 0.
   * Returns the row's number.
   */
  add(indices: readonly number[], coefficients: readonly number[], target: number, sigma: number): number {
    if (this.rows === this.target.length) this.grow();
    const row = this.rows++;
    this.order = undefined;
    for (let i = 0, at = row * WIDTH; i < indices.length; i++) {
      if (indices[i]! < 0) continue;
      this.index[at] = indices[i]!;
      this.value[at++] = coefficients[i]!;
    }
    this.target[row] = target;
    this.setSigma(row, sigma);
    return row;
  }

  setSigma(row: number, sigma: number): void {
    this.weight[row] = 1 / (sigma * sigma);
  }

  /** target - sum, of one row. */
  unexplained(row: number, x: Float64Array): number {
    let rest = this.target[row]!;
    for (let at = row * WIDTH; at < (row + 1) * WIDTH; at++) rest -= this.value[at]! * x[this.index[at]!]!;
    return rest;
  }

  /** The unknowns so numbered that the whole matrix is narrow, as far as possible. */
  wholeOrder(): Order {
    const { unknowns, blocks, rows, index, value } = this;
    return (this.order ??= orderOf(unknowns, blocks.shared ?? 0, { rows, width: WIDTH, index, value }));
  }

  /** The whole matrix, for variances. */
  factored(): OrderedCholesky {
    return this.factoredBy(this.wholeOrder());
  }

  /** Starts from `x` and improves it in place, until nothing moves by more than a small part of the rows' sigmas. */
  solve(x: Float64Array): Float64Array {
    const whole = this.wholeOrder();
    const isWhole = whole.cost <= MOST_COST;
    const near = this.factoredBy(isWhole ? whole : apart(this.unknowns, this.blocks));
    const gradient = this.gradient(x);
    const towards = near.solve(gradient, new Float64Array(this.unknowns));
    const direction = towards.slice();
    const image = new Float64Array(this.unknowns);
    let size = dot(gradient, towards);
    let small = 0;
    // The whole matrix gives the solution at once, except for rounding. Further rounds do not reduce the rounding.
    const rounds = isWhole ? LAST_ROUNDS : 4 * this.unknowns + 100;
    for (let round = 0; round < rounds && size > 0; round++) {
      this.timesNormal(direction, image);
      const step = size / dot(direction, image);
      for (let i = 0; i < x.length; i++) {
        x[i]! += step * direction[i]!;
        gradient[i]! -= step * image[i]!;
      }
      // How much smaller the sum of squared errors, in sigmas, became.
      small = step * size < LEAST_GAIN ? small + 1 : 0;
      if (small === LAST_ROUNDS) break;
      near.solve(gradient, towards);
      const before = size;
      size = dot(gradient, towards);
      const keep = size / before;
      for (let i = 0; i < x.length; i++) direction[i] = towards[i]! + keep * direction[i]!;
    }
    return x;
  }

  private gradient(x: Float64Array): Float64Array {
    const { index, value, weight } = this;
    const out = new Float64Array(this.unknowns);
    for (let row = 0; row < this.rows; row++) {
      const factor = this.unexplained(row, x) * weight[row]!;
      for (let at = row * WIDTH; at < (row + 1) * WIDTH; at++) out[index[at]!]! += value[at]! * factor;
    }
    return out;
  }

  private timesNormal(x: Float64Array, out: Float64Array): void {
    const { index, value, weight, rows } = this;
    out.fill(0);
    for (let row = 0, at = 0; row < rows; row++, at += WIDTH) {
      const i0 = index[at]!;
      const i1 = index[at + 1]!;
      const i2 = index[at + 2]!;
      const i3 = index[at + 3]!;
      const i4 = index[at + 4]!;
      const v0 = value[at]!;
      const v1 = value[at + 1]!;
      const v2 = value[at + 2]!;
      const v3 = value[at + 3]!;
      const v4 = value[at + 4]!;
      const sum = v0 * x[i0]! + v1 * x[i1]! + v2 * x[i2]! + v3 * x[i3]! + v4 * x[i4]!;
      const factor = sum * weight[row]!;
      out[i0]! += v0 * factor;
      out[i1]! += v1 * factor;
      out[i2]! += v2 * factor;
      out[i3]! += v3 * factor;
      out[i4]! += v4 * factor;
    }
  }

  private factoredBy(order: Order): OrderedCholesky {
    const { index, value, weight } = this;
    const matrix = new OrderedCholesky(this.unknowns, order);
    for (let row = 0; row < this.rows; row++) {
      const first = row * WIDTH;
      for (let a = first; a < first + WIDTH; a++) {
        const factor = value[a]! * weight[row]!;
        if (factor === 0) continue;
        matrix.add(index[a]!, index[a]!, value[a]! * factor);
        for (let b = first; b < a; b++) matrix.add(index[a]!, index[b]!, value[b]! * factor);
      }
    }
    return matrix.factor();
  }

  private grow(): void {
    const { index, value, target, weight } = this;
    this.index = new Int32Array(2 * index.length);
    this.index.set(index);
    this.value = new Float64Array(2 * value.length);
    this.value.set(value);
    this.target = new Float64Array(2 * target.length);
    this.target.set(target);
    this.weight = new Float64Array(2 * weight.length);
    this.weight.set(weight);
  }
}

/** A round that lessens the sum of squares by no more has moved nothing by more than 0.0001 sigma... */
const LEAST_GAIN = 1e-8;
/** … but the next one may, so this many in a row end the search. */
const LAST_ROUNDS = 3;

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

/** How far apart two indices of one block may be in a row: a bend takes three neighbours. */
const BAND = 2;

/** Each block by itself, and in it what a bend takes together: its solution is near the whole solution. */
const apart = (unknowns: number, { count, size }: Blocks): Order => ({
  place: Int32Array.from({ length: unknowns }, (_, i) => i),
  first: Int32Array.from(
    { length: unknowns },
    (_, i) => i - (i < count * size ? Math.min(BAND, i % size) : 0),
  ),
  entries: 0,
  cost: 0,
});
