/**
 * Stores numbers in a form that zstd compresses well. A bit that is equal to the same bit of the number before becomes 0 (XOR). Then come
 * the first bytes of all numbers, then the second bytes, and so on. Neighbours in a column are mostly times that rise slowly. Exact for all
 * values, also NaN.
 */

export function toPlanes(numbers: Float64Array): Uint8Array {
  const words = new Uint32Array(numbers.slice().buffer);
  const { length } = numbers;
  const planes = new Uint8Array(8 * length);
  for (let half = 0; half < 2; half++) {
    const [a, b, c, d] = planesOf(planes, half, length);
    for (let i = 0, before = 0; i < length; i++) {
      const word = words[2 * i + half]!;
      const bits = word ^ before;
      before = word;
      a[i] = bits;
      b[i] = bits >>> 8;
      c[i] = bits >>> 16;
      d[i] = bits >>> 24;
    }
  }
  return planes;
}

/** `planes` must hold a whole number of doubles. */
export function fromPlanes(planes: Uint8Array): Float64Array<ArrayBuffer> {
  const numbers = new Float64Array(planes.length / 8);
  rowsFromPlanes(planes, 1, numbers);
  return numbers;
}

/** Makes rows of `width` numbers from columns that lie one after the other. `rows` must be long enough. */
export function rowsFromPlanes(planes: Uint8Array, width: number, rows: Float64Array): void {
  const words = new Uint32Array(rows.buffer);
  const length = planes.length / 8;
  const count = length / width;
  for (let half = 0; half < 2; half++) {
    const [a, b, c, d] = planesOf(planes, half, length);
    let [i, word] = [0, 0];
    for (let column = 0; column < width; column++)
      for (let row = 0; row < count; row++, i++) {
        word ^= a[i]! | (b[i]! << 8) | (c[i]! << 16) | (d[i]! << 24);
        words[2 * (row * width + column) + half] = word;
      }
  }
}

type Planes = readonly [Uint8Array, Uint8Array, Uint8Array, Uint8Array];

/** Four planes: those of the lower (0) or the upper (1) halves of the numbers. */
const planesOf = (planes: Uint8Array, half: number, length: number): Planes =>
  [0, 1, 2, 3].map((plane) => {
    const from = (4 * half + plane) * length;
    return planes.subarray(from, from + length);
  }) as unknown as Planes;
