/** Hosts that were only heard, or only spoke: by how much their wall clocks can be wrong, and to which side. */

import { describe, expect, it } from 'vitest';
import { localNs } from '../../src/base/time.js';
import { align } from '../../src/clocks/alignment.js';
import type { ClockSolution } from '../../src/clocks/domains.js';
import { oneSidedBound } from '../../src/clocks/one_way_traffic.js';
import { simulate, type SimulatedRun } from '../support/clocks/simulated_links.js';

const DELAY = 500_000;

/** Two hosts, one link; host 1 is shown `error` too late. */
function boundOfHost1(link: { from: number; to: number }, error: number) {
  const links = [{ ...link, delay: DELAY }];
  // A bound is no tighter than the estimate, which here is that clocks show the same: the receiver's ought to be ahead.
  const drawn = (seed: number) => simulate({ seed, hosts: 2, links, seconds: 20, perMinute: 600 });
  const ahead = ({ clock }: SimulatedRun): number => clock(link.to, 0) - clock(link.from, 0);
  const run = Array.from({ length: 20 }, (_, seed) => drawn(seed)).find((one) => ahead(one) > 1e6)!;
  const alignment = align(2, run.edges);
  // What each clock shows where host 0 shows 0: of the run alone, so that the truth is known.
  const domains = [0, 1].map((host) => ({
    map: {
      domain: `${host}`,
      segments: [
        {
          from: localNs(0),
          offset: run.clock(0, 0) - run.clock(host, 0) + (host === 1 ? error : 0),
          drift: 0,
        },
      ],
    },
  }));
  return oneSidedBound(1, 0, { domains } as unknown as ClockSolution, alignment, [0, 0])!;
}

/** Counters run apart in 20 s. */
const DRIFT = 20 * 100e3;

describe('a host that was only heard', () => {
  it.each([0, 300e6, -300e6])('is too late by at most what lies between, shown %d ns too late', (error) => {
    const { late, early } = boundOfHost1({ from: 0, to: 1 }, error);
    expect(early).toBeNull();
    expect(late).toBeGreaterThan(error + DELAY - DRIFT);
    expect(late).toBeLessThan(error + DELAY + DRIFT);
  });
});

describe('a host that only spoke', () => {
  it.each([0, 300e6, -300e6])('is too early by at most what lies between, shown %d ns too late', (error) => {
    const { late, early } = boundOfHost1({ from: 1, to: 0 }, error);
    expect(late).toBeNull();
    expect(early).toBeGreaterThan(-error + DELAY - DRIFT);
    expect(early).toBeLessThan(-error + DELAY + DRIFT);
  });
});
