/** Files with more transfers than a scan keeps: both ends of a connection keep the same ones, and steps give the bytes of `merge`. */

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { joinTransfers, linksBetween, type StepSource } from '../../src/clocks/evidence/joined_transfers.js';
import { scanFile } from '../../src/scan/scan.js';
import { isKept, mostRows, smallerShare } from '../../src/scan/step_sample.js';

import { writeManyFiles } from '../../bench/merge/many_files.js';
import { folderOfFile } from '../support/program/temporary_folder.js';

const folder = folderOfFile();

/** So many ranks that a scan keeps the smallest share. */
const RANKS = 1024;

const numbers = Array.from({ length: 40_000 }, (_, i) => [i >> 3, i % 8] as const);
const kept = (halvings: number) =>
  numbers.filter(([ordinal, step]) => isKept(ordinal, step, [halvings, halvings]));

describe('the share of transfers that a scan keeps', () => {
  it('is about one of 2, 4, 8 …, of first steps and of later ones', () => {
    for (const isFirst of [true, false]) {
      const all = numbers.filter(([, step]) => (step === 0) === isFirst);
      for (let halvings = 0; halvings < 6; halvings++) {
        const share = kept(halvings).filter(([, step]) => (step === 0) === isFirst).length / all.length;
        expect(share * 2 ** halvings).toBeGreaterThan(0.8);
        expect(share * 2 ** halvings).toBeLessThan(1.2);
      }
    }
  });

  it('of one end lies within that of the other end, if the other end keeps more', () => {
    for (let halvings = 1; halvings < 6; halvings++) {
      const more = new Set(kept(halvings - 1));
      expect(kept(halvings).every((one) => more.has(one))).toBe(true);
    }
    expect(smallerShare([1, 4], [3, 2])).toEqual([3, 4]);
  });
});

describe('two hosts with more transfers than a scan keeps', () => {
  // Ranks 7 and 8 are on different hosts, and only they have files. A rank has 12 ends of transfers per collective.
  const files = writeManyFiles(folder, RANKS, 4200, { only: [7, 8] });
  const scans = files.map((file, i) => {
    const path = join(folder, `steps-${i}`);
    return { path, connections: scanFile(file, { path, every: true }).steps };
  });

  it('keep at most that many, and both ends the same ones', () => {
    for (const { connections } of scans) {
      const rows = connections.reduce((sum, one) => sum + one.rows, 0);
      expect(rows).toBeLessThanOrEqual(2 * mostRows(RANKS));
      expect(rows).toBeGreaterThan(mostRows(RANKS) / 2);
      expect(connections.some(({ halved }) => halved[1] > 0)).toBe(true);
    }
    const links = linksBetween(scans satisfies StepSource[], () => true);
    const counts = joinTransfers(scans, links, () => undefined);
    expect(counts.pairs).toBeGreaterThan(8000);
    // Six transfers of each collective go from rank 7 to rank 8.
    expect(counts.pairs + counts.sampledOut).toBe(6 * 4200);
    expect(counts).toEqual({ ...counts, single: 0, sizesDiffer: 0, operationsDiffer: 0, unconfirmed: 0 });
  });
});
