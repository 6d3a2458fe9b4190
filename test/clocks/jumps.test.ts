/** A host whose counter jumps is named, once and alone, whoever sends to whom; the others keep their clocks where they are connected without it. */

import { expect, it } from 'vitest';
import { judge } from '../support/judged_run.js';
import { TOPOLOGIES, type NamedWander, type TopologyName } from '../support/topologies.js';

const HOST = 1;

const jumping = (ns: number): NamedWander => ({
  name: `a host jumps by ${ns / 1e3} us`,
  ppmPerMinute: 0.1,
  of: () => (host, time) => (host === HOST && time > 31e9 ? ns : 0),
});

/** Hosts of each topology that have no way to the others but through the one that jumped, itself among them. */
const LOST: Partial<Record<TopologyName, number>> = {
  ring: 7,
  tree: 4,
  'chain, credits': 2,
  pipeline: 2,
  pair: 1,
};

// Of two hosts, one of which sends, data and credits contradict each other, and nothing tells whose clock it was.
const NAMES = (Object.keys(TOPOLOGIES) as TopologyName[]).filter((name) => name !== 'pair, credits');

it.each(NAMES.flatMap((name) => [500e3, -500e3, 5e6].map((ns) => [name, ns] as const)))(
  '%s: %d ns',
  (topology, ns) => {
    const { alignments, givenUp, hardMisses } = judge(
      { topology, delays: '14 us, 15 %', wander: jumping(ns), seconds: 60, perMinute: 400 },
      2,
      false,
    );
    for (const { culprits } of alignments) {
      expect(culprits).toHaveLength(1);
      const [culprit] = culprits;
      expect(culprit).toMatchObject({ what: 'clock-jump' });
      const named = culprit?.what === 'clock-jump' ? [culprit.domain, culprit.other] : [];
      expect(named).toContain(HOST);
      if (culprit?.what === 'clock-jump') {
        expect(Math.abs(culprit.jump)).toBeGreaterThan(0.8 * Math.abs(ns));
        expect(Math.abs(culprit.at - 31e9)).toBeLessThan(10e9);
      }
    }
    expect(hardMisses).toBe(0);
    expect(givenUp).toBe(2 * (LOST[topology] ?? 1));
  },
);

it('small jumps that all links of a host show are told in one line', () => {
  const { alignments } = judge(
    { topology: 'all to all', delays: '14 us, 15 %', wander: jumping(50e3), seconds: 60, perMinute: 400 },
    4,
    false,
  );
  for (const { culprits } of alignments) {
    expect(culprits).toHaveLength(1);
    const [culprit] = culprits;
    expect(culprit?.what === 'clock-unsteady' ? culprit.domains : culprit).toMatchObject(
      culprit?.what === 'clock-unsteady' ? [HOST] : { what: 'clock-jump', domain: HOST },
    );
  }
});
