/**
 * Numbers so that zstd packs them well: each number's bits without those that the number before has too, then the first bytes of all numbers,
 * the second bytes, and so on. Neighbours in a column are mostly times that rise slowly. Exact for all values, also NaN.
 */

const BYTES = 8;

export function toPlanes(numbers: Float64Array): Uint8Array {
  const words = new Uint32Array(numbers.slice().buffer);
  for (let i = words.length - 1; i >= 2; i--) words[i] = words[i]! ^ words[i - 2]!;
  const bytes = new Uint8Array(words.buffer);
  const planes = new Uint8Array(bytes.length);
  const { length } = numbers;
  for (let i = 0; i < length; i++)
    for (let plane = 0; plane < BYTES; plane++) planes[plane * length + i] = bytes[i * BYTES + plane]!;
  return planes;
}

/** Of a whole number of doubles. */
export function fromPlanes(planes: Uint8Array): Float64Array<ArrayBuffer> {
  const length = planes.length / BYTES;
  const bytes = new Uint8Array(planes.length);
  for (let i = 0; i < length; i++)
    for (let plane = 0; plane < BYTES; plane++) bytes[i * BYTES + plane] = planes[plane * length + i]!;
  const words = new Uint32Array(bytes.buffer);
  for (let i = 2; i < words.length; i++) words[i] = words[i]! ^ words[i - 2]!;
  return new Float64Array(bytes.buffer);
}
