/**
 * Weighted linear least squares: sparse rows solved by conjugate gradients on the normal equations (thousands of
 * unknowns in milliseconds), and small dense systems factored once to ask for many variances.
 */

/** Rows of at most `WIDTH` terms. */
const WIDTH = 5;

export class SparseLeastSquares {
  private readonly index: number[] = [];
  private readonly value: number[] = [];
  private readonly target: number[] = [];
  private readonly sigma: number[] = [];

  constructor(readonly unknowns: number) {}

  /**
   * sum of coefficients[i] * x[indices[i]] should be `target`, within `sigma`. Indices below 0 are known to be 0.
   * Returns the row's number.
   */
  add(indices: readonly number[], coefficients: readonly number[], target: number, sigma: number): number {
    for (let i = 0; i < WIDTH; i++) {
      const index = indices[i] ?? -1;
      this.index.push(Math.max(0, index));
      this.value.push(index < 0 ? 0 : coefficients[i]!);
    }
    this.sigma.push(sigma);
    return this.target.push(target) - 1;
  }

  setSigma(row: number, sigma: number): void {
    this.sigma[row] = sigma;
  }

  /** target - sum, of one row. */
  unexplained(row: number, x: Float64Array): number {
    let rest = this.target[row]!;
    for (let at = row * WIDTH; at < (row + 1) * WIDTH; at++) rest -= this.value[at]! * x[this.index[at]!]!;
    return rest;
  }

  /** Starts from `x` and improves it in place. */
  solve(x: Float64Array): Float64Array {
    const rows = new WeightedRows(this.index, this.value, this.sigma, this.unknowns);
    const residual = Float64Array.from(this.target, (target, row) => target / this.sigma[row]!);
    const gradient = new Float64Array(this.unknowns);
    const { scale } = rows;
    rows.timesTransposed(residual, gradient);
    // Against the targets, not against the start: a start that is nearly right must not ask for digits that are not there.
    const enough = scaledSquare(gradient, scale) * TOLERANCE;
    const image = new Float64Array(this.target.length);
    rows.times(x, image);
    for (let row = 0; row < image.length; row++) residual[row]! -= image[row]!;
    rows.timesTransposed(residual, gradient);
    const direction = gradient.map((g, i) => g * scale[i]!);
    let size = scaledSquare(gradient, scale);
    for (let round = 0; round < 4 * this.unknowns + 100 && size > enough; round++) {
      rows.times(direction, image);
      const step = size / square(image);
      for (let i = 0; i < x.length; i++) x[i]! += step * direction[i]!;
      for (let row = 0; row < image.length; row++) residual[row]! -= step * image[row]!;
      rows.timesTransposed(residual, gradient);
      const before = size;
      size = scaledSquare(gradient, scale);
      const keep = size / before;
      for (let i = 0; i < x.length; i++) direction[i] = gradient[i]! * scale[i]! + keep * direction[i]!;
    }
    return x;
  }
}

/** Of the squared gradient: eleven digits of what is at most some seconds in ns. */
const TOLERANCE = 1e-22;

/** The rows over their sigmas. */
class WeightedRows {
  private readonly index: Int32Array;
  private readonly value: Float64Array;
  /** One over the diagonal of the normal matrix. */
  readonly scale: Float64Array;

  constructor(
    index: readonly number[],
    value: readonly number[],
    sigma: readonly number[],
    unknowns: number,
  ) {
    this.index = Int32Array.from(index);
    this.value = Float64Array.from(value);
    const diagonal = new Float64Array(unknowns);
    for (let row = 0, at = 0; row < sigma.length; row++) {
      for (const end = at + WIDTH; at < end; at++) {
        this.value[at]! /= sigma[row]!;
        diagonal[this.index[at]!]! += this.value[at]! ** 2;
      }
    }
    this.scale = diagonal.map((d) => (d > 0 ? 1 / d : 0));
  }

  times(x: Float64Array, out: Float64Array): void {
    const { index, value } = this;
    for (let row = 0, at = 0; row < out.length; row++, at += WIDTH) {
      out[row] =
        value[at]! * x[index[at]!]! +
        value[at + 1]! * x[index[at + 1]!]! +
        value[at + 2]! * x[index[at + 2]!]! +
        value[at + 3]! * x[index[at + 3]!]! +
        value[at + 4]! * x[index[at + 4]!]!;
    }
  }

  timesTransposed(y: Float64Array, out: Float64Array): void {
    const { index, value } = this;
    out.fill(0);
    for (let row = 0, at = 0; row < y.length; row++) {
      const factor = y[row]!;
      for (const end = at + WIDTH; at < end; at++) out[index[at]!]! += value[at]! * factor;
    }
  }
}

function square(x: Float64Array): number {
  let sum = 0;
  for (const value of x) sum += value * value;
  return sum;
}

function scaledSquare(x: Float64Array, scale: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += x[i]! * x[i]! * scale[i]!;
  return sum;
}

/** A symmetric positive definite matrix, filled row by row, then factored (Cholesky) and asked. */
export class DenseNormalMatrix {
  private readonly lower: Float64Array;

  constructor(readonly unknowns: number) {
    this.lower = new Float64Array(unknowns * unknowns);
  }

  add(indices: readonly number[], coefficients: readonly number[], sigma: number): void {
    for (let i = 0; i < indices.length; i++) {
      for (let j = 0; j < indices.length; j++) {
        const row = indices[i]!;
        const column = indices[j]!;
        if (row < 0 || column < 0 || column > row) continue;
        this.lower[row * this.unknowns + column]! += (coefficients[i]! * coefficients[j]!) / (sigma * sigma);
      }
    }
  }

  /** After this, `variance` may be asked and nothing added. */
  factor(): this {
    const { lower, unknowns: n } = this;
    for (let j = 0; j < n; j++) {
      const rowJ = j * n;
      for (let i = j; i < n; i++) {
        const rowI = i * n;
        let sum = lower[rowI + j]!;
        for (let k = 0; k < j; k++) sum -= lower[rowI + k]! * lower[rowJ + k]!;
        lower[rowI + j] = i === j ? Math.sqrt(sum) : sum / lower[rowJ + j]!;
      }
    }
    return this;
  }

  /** Of x[plus] - x[minus]; an index below 0 is a known 0. */
  variance(plus: number, minus: number): number {
    const { lower, unknowns: n } = this;
    const first = Math.min(plus < 0 ? n : plus, minus < 0 ? n : minus);
    const solved = new Float64Array(n);
    let sum = 0;
    for (let i = first; i < n; i++) {
      let value = (i === plus ? 1 : 0) - (i === minus ? 1 : 0);
      for (let k = first; k < i; k++) value -= lower[i * n + k]! * solved[k]!;
      value /= lower[i * n + i]!;
      solved[i] = value;
      sum += value * value;
    }
    return sum;
  }
}
