/**
 * Columns of long-lived rows, of which a long run has millions. Neighbours in a column are nearly equal. So a block of rows has a base, its
 * least number, and each row takes as many bytes as the differences from it need, at most 6. Other blocks, and those with numbers that are
 * not whole, take 8 bytes per row. Every number comes back as it was, also NaN (-0 as 0).
 */

const BLOCK_BITS = 7;
const BLOCK = 1 << BLOCK_BITS;

export interface PackedNumbers {
  readonly length: number;
  /** Three numbers per block: its base (NaN: all its rows are), the bytes per row, and where its rows begin in `bytes` or `wide`. */
  readonly blocks: Float64Array;
  /** Differences from the base, the low byte first. The largest that so many bytes can hold stands for NaN. */
  readonly bytes: Uint8Array;
  /** Rows of 8 bytes. */
  readonly wide: Float64Array;
}

/** Shared, because most columns have no such rows. */
const NO_BYTES = new Uint8Array(0);
const NO_WIDE = new Float64Array(0);
const WIDE = 8;

type Numbers = ArrayLike<number>;

/** Packs the first `length` numbers. */
export function packNumbers(numbers: Numbers, length = numbers.length): PackedNumbers {
  return packParts([numbers], Math.max(1, numbers.length), length);
}

/** Packs the named columns. */
export const packColumns = <Name extends string>(
  columns: Readonly<Record<Name, Numbers>>,
  names: readonly Name[],
): Record<Name, PackedNumbers> =>
  Object.fromEntries(names.map((name) => [name, packNumbers(columns[name])])) as Record<Name, PackedNumbers>;

/** Packs the first `length` numbers of a column in parts of `rows` rows each. `rows`: a multiple of 128, if there are several parts. */
export function packParts(parts: readonly Numbers[], rows: number, length: number): PackedNumbers {
  const blocks = new Float64Array(3 * Math.ceil(length / BLOCK));
  const forEachBlock = (use: (at: number, numbers: Numbers, from: number, end: number) => void): void => {
    for (let first = 0, at = 0; first < length; first += BLOCK, at += 3) {
      const from = first % rows;
      use(at, parts[Math.floor(first / rows)]!, from, from + Math.min(BLOCK, length - first));
    }
  };
  let [used, usedWide] = [0, 0];
  forEachBlock((at, numbers, from, end) => {
    const { base, needed } = measure(numbers, from, end);
    blocks[at] = base;
    blocks[at + 1] = needed;
    blocks[at + 2] = needed === WIDE ? usedWide : used;
    if (needed === WIDE) usedWide += end - from;
    else used += needed * (end - from);
  });
  const bytes = used === 0 ? NO_BYTES : new Uint8Array(used);
  const wide = usedWide === 0 ? NO_WIDE : new Float64Array(usedWide);
  forEachBlock((at, numbers, from, end) => {
    const [base, needed, to] = [blocks[at]!, blocks[at + 1]!, blocks[at + 2]!];
    if (needed === WIDE) for (let i = from; i < end; i++) wide[to + i - from] = numbers[i]!;
    else if (needed > 0) store(bytes, to, needed, base, numbers, from, end);
  });
  return { length, blocks, bytes, wide };
}

/** `row` must exist. */
export function numberAt(packed: PackedNumbers, row: number): number {
  const { blocks } = packed;
  const block = 3 * (row >>> BLOCK_BITS);
  const width = blocks[block + 1]!;
  const place = row & (BLOCK - 1);
  if (width === 0) return blocks[block]!;
  if (width === WIDE) return packed.wide[blocks[block + 2]! + place]!;
  const { bytes } = packed;
  const at = blocks[block + 2]! + place * width;
  let difference = 0;
  for (let i = at + width - 1; i >= at; i--) difference = difference * 256 + bytes[i]!;
  return difference === LARGEST[width] ? NaN : blocks[block]! + difference;
}

export function forEachNumber(packed: PackedNumbers, use: (number: number, row: number) => void): void {
  for (let row = 0; row < packed.length; row++) use(numberAt(packed, row), row);
}

/** The first row with such a number; -1: none. */
export function rowWith(packed: PackedNumbers, isIt: (number: number, row: number) => boolean): number {
  for (let row = 0; row < packed.length; row++) if (isIt(numberAt(packed, row), row)) return row;
  return -1;
}

/** Whether each row can be read. For columns that come from a file. */
export function isWhole({ length, blocks, bytes, wide }: PackedNumbers): boolean {
  if (!Number.isSafeInteger(length) || length < 0) return false;
  if (blocks.length !== 3 * Math.ceil(length / BLOCK)) return false;
  for (let first = 0, at = 0; first < length; first += BLOCK, at += 3) {
    const [width, from] = [blocks[at + 1]!, blocks[at + 2]!];
    const rows = Math.min(BLOCK, length - first);
    const end = width === WIDE ? from + rows : from + rows * width;
    if ((width !== WIDE && !(width in LARGEST)) || !Number.isSafeInteger(from) || from < 0) return false;
    if (end > (width === WIDE ? wide : bytes).length) return false;
  }
  return true;
}

/** The largest number by bytes per row. */
const LARGEST = [0, 1, 2, 3, 4, 5, 6].map((width) => 256 ** width - 1);

/** The least number (NaN: there is no other), and the bytes that each row needs. */
function measure(numbers: Numbers, from: number, end: number): { base: number; needed: number } {
  let [base, most] = [Infinity, -Infinity];
  let [known, areWhole] = [0, true];
  for (let i = from; i < end; i++) {
    const number = numbers[i]!;
    if (Number.isNaN(number)) continue;
    known++;
    if (number < base) base = number;
    if (number > most) most = number;
    if (Math.floor(number) !== number) areWhole = false;
  }
  if (known === 0) return { base: NaN, needed: 0 };
  if (base === most && known === end - from) return { base, needed: 0 };
  const isExact = areWhole && Number.isSafeInteger(base) && Number.isSafeInteger(most);
  const needed = isExact ? LARGEST.findIndex((largest) => most - base < largest) : -1;
  return { base, needed: needed < 0 ? WIDE : needed };
}

function store(
  bytes: Uint8Array,
  to: number,
  width: number,
  base: number,
  numbers: Numbers,
  from: number,
  end: number,
): void {
  let at = to;
  for (let i = from; i < end; i++) {
    let rest = Number.isNaN(numbers[i]) ? LARGEST[width]! : numbers[i]! - base;
    for (let byte = 0; byte < width; byte++) {
      bytes[at++] = rest % 256;
      rest = Math.floor(rest / 256);
    }
  }
}
