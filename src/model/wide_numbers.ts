/** Whole numbers below 2^53 in long-lived rows. Each takes four bytes, because neighbours share their upper half. */

const TWO_32 = 2 ** 32;

export interface WideNumbers {
  readonly low: Uint32Array;
  /** Rows at which the upper half changes, and its values. */
  readonly from: Uint32Array;
  readonly high: Uint32Array;
}

/** Stores the first `end` numbers in this form. */
export function packNumbers(numbers: ArrayLike<number>, end: number): WideNumbers {
  const low = new Uint32Array(end);
  const from: number[] = [];
  const high: number[] = [];
  for (let row = 0; row < end; row++) {
    const upper = Math.floor(numbers[row]! / TWO_32);
    low[row] = numbers[row]! - upper * TWO_32;
    if (upper === high.at(-1)) continue;
    from.push(row);
    high.push(upper);
  }
  return { low, from: Uint32Array.from(from), high: Uint32Array.from(high) };
}

/** `row` must exist. */
export function numberAt({ low, from, high }: WideNumbers, row: number): number {
  let [first, end] = [0, from.length];
  while (end - first > 1) {
    const middle = (first + end) >>> 1;
    if (from[middle]! <= row) first = middle;
    else end = middle;
  }
  return high[first]! * TWO_32 + low[row]!;
}
