/** What a communicator's links and NICs would allow, by hand. */

import { describe, expect, it } from 'vitest';
import { checkedPeaks, withAllowedRates, type Peaks } from '../../src/analysis/allowed_rate.js';
import type { LinkRow } from '../../src/analysis/link_rows.js';

const link = (source: number, destination: number, channel: number, rateGBs: number | null): LinkRow =>
  ({
    ...{ commId: 'c', source, destination, channel },
    sourceHost: `host${source >> 1}`,
    destinationHost: `host${destination >> 1}`,
    least: { latencyNs: 1000, rateGBs, r2: 0.99 },
  }) as LinkRow;
/** Four ranks on two hosts, two rings: 1 -> 2 and 3 -> 0 leave a host. */
const RINGS = [0, 1].flatMap((channel) =>
  [0, 1, 2, 3].map((rank) => link(rank, (rank + 1) % 4, channel, rank % 2 === 0 ? 90 : 10 + channel)),
);
const GROUP = { commId: 'c', busbwGBs: 11 };
const peaks = (all: number | null, byHost: readonly (readonly [string, number])[] = []): Peaks => ({
  all,
  byHost: new Map(byHost),
});

describe('the allowed rate', () => {
  it('is that of the links between hosts: the best one, on each channel', () => {
    expect(withAllowedRates([GROUP], RINGS, null)).toEqual([
      { ...GROUP, linksAllowGBs: 22, peakGBs: null, achieved: 0.5 },
    ]);
  });

  it('is that of the slowest host, if --peak says less than the links', () => {
    const [group] = withAllowedRates([GROUP], RINGS, peaks(50, [['host1', 12.5]]));
    expect(group).toMatchObject({ linksAllowGBs: 22, peakGBs: 12.5, achieved: 0.88 });
  });

  it('is not known if a host is without --peak, or no link has a line', () => {
    const flat = RINGS.map((one) => ({ ...one, least: null }));
    expect(withAllowedRates([GROUP], flat, peaks(null, [['host1', 12.5]]))).toMatchObject([
      { linksAllowGBs: null, peakGBs: null, achieved: null },
    ]);
    expect(withAllowedRates([{ ...GROUP, commId: 'other' }], RINGS, peaks(9))).toMatchObject([
      { peakGBs: null, achieved: null },
    ]);
  });

  it('has an error for a host that is not in the run, and knows the aliases of --redact', () => {
    const asked = peaks(null, [['node7', 1]]);
    expect(() => checkedPeaks(asked, ['node8'], null)).toThrow(
      'no host node7 in this run (did you mean node8?)',
    );
    const aliases = new Map([['node7', 'host-1']]);
    expect(checkedPeaks(asked, ['host-1'], aliases)?.byHost).toEqual(new Map([['host-1', 1]]));
  });
});
