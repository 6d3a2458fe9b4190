/**
 * Durations counted in bins, four per power of two, so a quantile is known within 20 % at any length. Used where there are too many
 * durations to keep.
 */

const PER_OCTAVE = 4;
const OCTAVES = 48;

/** By octave: how many bins there are per ns. */
const PER_LENGTH = Float64Array.from({ length: 31 }, (_, octave) => PER_OCTAVE / 2 ** octave);

export const noTimes = (): Uint32Array => new Uint32Array(OCTAVES * PER_OCTAVE);

/** Called for each transfer of a run. */
export function countTime(counts: Uint32Array, took: number): void {
  let octave = 0;
  let scaled = took < 1 ? 1 : took;
  while (scaled >= 2 ** 31) {
    scaled /= 2 ** 16;
    octave += 16;
  }
  const whole = 31 - Math.clz32(scaled);
  octave += whole;
  const part = Math.floor(scaled * PER_LENGTH[whole]!) - PER_OCTAVE;
  counts[Math.min(octave * PER_OCTAVE + part, counts.length - 1)]!++;
}

export const countOf = (counts: Uint32Array): number => counts.reduce((sum, count) => sum + count, 0);

/** How many durations lie in the bins from this one on, and their least possible sum. */
export function longerThan(
  counts: Uint32Array,
  least: number,
): { readonly count: number; readonly sum: number } {
  let [count, sum] = [0, 0];
  for (let bin = 0; bin < counts.length; bin++) {
    const own = counts[bin]!;
    if (own === 0 || edge(bin) < least) continue;
    count += own;
    sum += own * edge(bin);
  }
  return { count, sum };
}

/** Interpolated within its bin. NaN if nothing was counted. */
export function quantileOf(counts: Uint32Array, share: number): number {
  const wanted = share * countOf(counts);
  let before = 0;
  for (let bin = 0; bin < counts.length; bin++) {
    const count = counts[bin]!;
    if (count > 0 && before + count >= wanted)
      return edge(bin) + (edge(bin + 1) - edge(bin)) * ((wanted - before) / count);
    before += count;
  }
  return NaN;
}

const edge = (bin: number): number =>
  2 ** Math.floor(bin / PER_OCTAVE) * (1 + (bin % PER_OCTAVE) / PER_OCTAVE);
