/**
 * The rate of a file's counter. The header states it, and the clock samples prove it. A wrong one would stretch the file's times, and the
 * times of all ranks on the same counter.
 */

import { median } from '../base/median.js';
import { HEADER_RANGES, isIn } from './format/ranges.js';
import type { Problems } from './problems.js';
import type { ClockSample, RankFileHeader } from './file_types.js';

/** A stated rate is only nominal, but no counter is so far off. */
const MOST_OFF = 0.01;
/** Samples that are closer to each other than this, in ns, say too little. */
const LEAST_APART = 50e6;

/** Hz: as the header states it, or as the samples (by tick) show it if they contradict the header. Its own pair of times is a sample. */
function tickRate(
  { tickHz, startMonotonic }: Pick<RankFileHeader, 'tickHz' | 'startMonotonic'>,
  samples: readonly Pick<ClockSample, 'tick' | 'monotonic'>[],
): number {
  const rates: number[] = [];
  let before: Pick<ClockSample, 'tick' | 'monotonic'> = {
    tick: 0 as ClockSample['tick'],
    monotonic: startMonotonic,
  };
  for (const sample of samples) {
    const apart = Number(sample.monotonic - before.monotonic);
    if (apart < LEAST_APART) continue;
    rates.push(((sample.tick - before.tick) / apart) * 1e9);
    before = sample;
  }
  // The median, because a machine may sleep between two samples.
  const shown = median(rates) ?? tickHz;
  // No counter has a rate outside the range of the header's: then the samples are what is damaged.
  const canBe = isIn(HEADER_RANGES.tickHz, BigInt(Math.round(shown)));
  return canBe && Math.abs(shown / tickHz - 1) > MOST_OFF ? shown : tickHz;
}

/** The header with the rate that counts. */
export function withTrueRate(
  header: RankFileHeader,
  samples: readonly ClockSample[],
  problems: Problems,
): RankFileHeader {
  const tickHz = tickRate(header, samples);
  if (tickHz === header.tickHz) return header;
  problems.add(
    'the frequency of its counter contradicts its clock samples, and these count: the file was damaged',
  );
  return { ...header, tickHz };
}
