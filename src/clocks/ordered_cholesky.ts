/**
 * The whole normal matrix, factored (Cholesky). It is used if a numbering of the unknowns keeps the matrix narrow: hosts in a ring, in a
 * chain, or with a few links each. There it gives the solution at once, while rounds from neighbour to neighbour would take thousands. If
 * all hosts are a few links from each other, a narrow numbering does not exist, and is not needed.
 */

/** Rows of `width` terms each, one after the other; a term with a coefficient of 0 is none. */
export interface Terms {
  readonly rows: number;
  readonly width: number;
  readonly index: Int32Array;
  readonly value: Float64Array;
}

export interface Order {
  /** By unknown. */
  readonly place: Int32Array;
  /** By place: the first place with which it is in a row. */
  readonly first: Int32Array;
  /** Numbers of the factored matrix, and multiplications of `factor`, about. */
  readonly entries: number;
  readonly cost: number;
}

/** The last unknowns, `shared`, stay last, because they make neighbours of all others. */
export function orderOf(unknowns: number, shared: number, terms: Terms): Order {
  const { rows, width, index, value } = terms;
  const isShared = (one: number): boolean => one >= unknowns - shared;
  const inRow = (row: number): number[] => {
    const own: number[] = [];
    for (let at = row * width; at < (row + 1) * width; at++) if (value[at] !== 0) own.push(index[at]!);
    return own;
  };
  const all = Array.from({ length: rows }, (_, row) => inRow(row));
  const rowsOf = Array.from({ length: unknowns }, (): number[] => []);
  all.forEach((own, row) => {
    for (const one of own) if (!isShared(one)) rowsOf[one]!.push(row);
  });
  const order: number[] = [];
  const seen = new Uint8Array(unknowns);
  const visited = new Int32Array(rows).fill(-1);
  let walk = 0;
  // Numbers unknowns by their distance from `start`. Returns the last one.
  const walkFrom = (
    start: number,
    isReached: (one: number) => boolean,
    reach: (one: number) => void,
  ): number => {
    const queue = [start];
    walk++;
    reach(start);
    // The queue grows during the loop.
    for (const here of queue) {
      for (const row of rowsOf[here]!) {
        if (visited[row] === walk) continue;
        visited[row] = walk;
        for (const one of all[row]!) {
          if (isReached(one) || isShared(one)) continue;
          reach(one);
          queue.push(one);
        }
      }
    }
    return queue.at(-1)!;
  };
  for (let one = 0; one < unknowns; one++) {
    if (seen[one] || isShared(one)) continue;
    const near = new Set<number>();
    const far = walkFrom(
      one,
      (other) => near.has(other),
      (other) => near.add(other),
    );
    walkFrom(
      far,
      (other) => seen[other] === 1,
      (other) => {
        seen[other] = 1;
        order.push(other);
      },
    );
  }
  order.reverse();
  for (let one = 0; one < unknowns; one++) if (!seen[one]) order.push(one);
  const place = new Int32Array(unknowns);
  order.forEach((one, at) => (place[one] = at));
  const first = Int32Array.from({ length: unknowns }, (_, at) => at);
  for (const own of all) {
    const least = own.reduce((min, one) => Math.min(min, place[one]!), unknowns);
    for (const one of own) first[place[one]!] = Math.min(first[place[one]!]!, least);
  }
  const entries = first.reduce((sum, from, at) => sum + at - from, 0);
  return { place, first, entries, cost: entries > MOST_ENTRIES ? Infinity : costOf(first) };
}

function costOf(first: Int32Array): number {
  let cost = 0;
  for (let at = 0; at < first.length; at++)
    for (let left = first[at]!; left <= at; left++) cost += left - Math.max(first[at]!, first[left]!);
  return cost;
}

/** 32 MiB. */
const MOST_ENTRIES = 1 << 22;

export class OrderedCholesky {
  private readonly start: Float64Array;
  private readonly lower: Float64Array;
  private readonly work: Float64Array;

  constructor(
    private readonly unknowns: number,
    private readonly order: Order,
  ) {
    this.start = new Float64Array(unknowns + 1);
    for (let i = 0; i < unknowns; i++) this.start[i + 1] = this.start[i]! + i - order.first[i]! + 1;
    this.lower = new Float64Array(this.start[unknowns]!);
    this.work = new Float64Array(unknowns);
  }

  /** Each pair of unknowns once. Pairs outside of the order are left out. */
  add(a: number, b: number, value: number): void {
    const { place, first } = this.order;
    const row = Math.max(place[a]!, place[b]!);
    const column = Math.min(place[a]!, place[b]!);
    if (column >= first[row]!) this.lower[this.start[row]! + column - first[row]!]! += value;
  }

  factor(): this {
    const { start, lower, unknowns } = this;
    const { first } = this.order;
    for (let i = 0; i < unknowns; i++) {
      const row = start[i]! - first[i]!;
      for (let j = first[i]!; j <= i; j++) {
        const other = start[j]! - first[j]!;
        let sum = lower[row + j]!;
        for (let k = Math.max(first[i]!, first[j]!); k < j; k++) sum -= lower[row + k]! * lower[other + k]!;
        // An unknown that is in no row does not change.
        lower[row + j] = i === j ? (sum > 0 ? Math.sqrt(sum) : Infinity) : sum / lower[other + j]!;
      }
    }
    return this;
  }

  solve(right: Float64Array, out: Float64Array): Float64Array {
    const { start, lower, unknowns, work } = this;
    const { place, first } = this.order;
    for (let one = 0; one < unknowns; one++) work[place[one]!] = right[one]!;
    for (let i = 0; i < unknowns; i++) {
      const row = start[i]! - first[i]!;
      let value = work[i]!;
      for (let k = first[i]!; k < i; k++) value -= lower[row + k]! * work[k]!;
      work[i] = value / lower[row + i]!;
    }
    for (let i = unknowns - 1; i >= 0; i--) {
      const row = start[i]! - first[i]!;
      const value = work[i]! / lower[row + i]!;
      work[i] = value;
      for (let k = first[i]!; k < i; k++) work[k]! -= lower[row + k]! * value;
    }
    for (let one = 0; one < unknowns; one++) out[one] = work[place[one]!]!;
    return out;
  }

  /**
   * Variance of the sum of coefficients[i] * x[indices[i]], if the matrix is a sum of squares in standard errors. Indices below 0 are known to be 0.
   */
  variance(indices: readonly number[], coefficients: readonly number[]): number {
    const { start, lower, unknowns, work } = this;
    const { place, first } = this.order;
    let from = unknowns;
    for (const one of indices) if (one >= 0) from = Math.min(from, place[one]!);
    work.fill(0, from);
    indices.forEach((one, i) => {
      if (one >= 0) work[place[one]!]! += coefficients[i]!;
    });
    let sum = 0;
    for (let i = from; i < unknowns; i++) {
      const row = start[i]! - first[i]!;
      let value = work[i]!;
      for (let k = Math.max(from, first[i]!); k < i; k++) value -= lower[row + k]! * work[k]!;
      work[i] = value / lower[row + i]!;
      sum += work[i]! ** 2;
    }
    return sum;
  }
}
