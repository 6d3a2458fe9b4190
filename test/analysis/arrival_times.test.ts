/** Times until arrival across hosts against the truth: one recording, once as it is, with one counter for all ranks, and once with skewed clocks. */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { onTheWay } from '../../src/analysis/arrival_times.js';
import { linkKey } from '../../src/cluster/connections.js';
import { examine } from '../../src/report/examine.js';
import { record } from '../support/jobs/loopback.js';
import { drawSkews, skewRun, solveFiles } from '../support/clocks/skewed_run.js';
import { folderOfFile } from '../support/program/temporary_folder.js';

const folder = folderOfFile();

const HZ = 1e9;

it.each([
  ['a host per rank', [0, 1, 2, 3, 4]],
  ['two hosts', [0, 0, 0, 1, 1]],
])(
  '%s: the true mean lies within the bound of the two clocks, and one counter has no bound',
  async (_, hostOf) => {
    const place = join(folder, String(Math.max(...hostOf)));
    const args = '--ranks 5 --channels 1 --iterations 10 --ops allreduce:512K --slow nic:2:8';
    const { folder: recorded } = await record(join(place, 'recorded'), args);
    const files = readdirSync(recorded, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.bin'))
      .map((name) => join(recorded, name));
    const hosts = drawSkews(7, 5, HZ);
    skewRun(
      recorded,
      join(place, 'skewed'),
      hostOf.map((host) => hosts[host]!),
    );
    const { report } = await examine([join(place, 'skewed')], { jobs: 1 });
    const { transferTimes } = solveFiles(files, join(place, 'steps'));
    const truth = onTheWay(transferTimes, () => 0);
    const found = report.links.map(({ source, destination, onTheWay: own }) => {
      const link = { commId: transferTimes[0]!.commId, channel: 0 };
      const known = truth.get(
        linkKey({ ...link, source: source as number, destination: destination as number }),
      )!;
      expect(own!.transfers).toBe(known.transfers);
      // So short a run shows the rate of a host's clock to some 0.1 %.
      expect(Math.abs(own!.meanNs - known.meanNs)).toBeLessThan(own!.boundNs + 0.01 * known.meanNs);
      expect(own!.boundNs > 0).toBe(hostOf[source as number] !== hostOf[destination as number]);
      return { destination, meanNs: own!.meanNs };
    });
    // The way into rank 2 is the slowest, wherever its ends are.
    expect(found).toHaveLength(5);
    expect(found.reduce((a, b) => (b.meanNs > a.meanNs ? b : a)).destination).toBe(2);
  },
);
