/** The connections of a run, how long their sends took, which of them are slow, and why: found once, for the verdict and the report. */

import type { TransferTimes } from '../clocks/evidence/transfer_times.js';
import { rankLabels } from '../runs/rank_labels.js';
import type { Run } from '../runs/run.js';
import {
  connections,
  isWithinHost,
  linkKey,
  sendTimes,
  type ComparedLink,
  type Connection,
  type TimedLink,
} from './connections.js';
import { linkFaults, type LinkFault } from './link_faults.js';
import { slowGpus, starvedThreads, type SlowGpu } from './long_waits.js';
import { rankWaits, type RankWaits } from './rank_waits.js';
import { slowLinks, type SlowLink } from './slow_links.js';

/** Share of the run. A link that costs less is in the table of slow links, but explains nothing. Costs are lower bounds. */
export const LEAST_SHARE = 0.01;

export interface RunLinks {
  readonly ends: readonly Connection[];
  readonly sends: readonly TimedLink[];
  /** By file. */
  readonly waits: readonly RankWaits[];
  /** One link may be slow by both its times: first come those by their sends. */
  readonly slow: readonly SlowLink[];
  readonly faults: readonly LinkFault[];
  /** None is claimed beside a proxy thread without CPU time, nor where a link is slow, because these have the same effects. */
  readonly slowGpus: readonly SlowGpu[];
}

/** `bound`: of two files' clocks, ns; Infinity: they cannot be compared. `durationNs`: of the run. */
export function runLinks(
  run: Run,
  onTheWay: readonly TransferTimes[],
  bound: (sender: number, receiver: number) => number,
  durationNs: number,
): RunLinks {
  const ends = connections(run);
  const sends = sendTimes(ends, run);
  const lateArrivals = slowLinks(arrivalTimes(onTheWay, sends, run), 'arrival').filter(
    ({ times, medianNs, usualNs }) => medianNs - usualNs > 2 * bound(times.file, times.peerFile),
  );
  const slow = [...slowLinks(sends), ...lateArrivals];
  const waits = run.members.map((_, file) => rankWaits(run, file));
  const starved = starvedThreads(waits, ends, run, durationNs);
  const labels = rankLabels(run);
  const faults = linkFaults(ends, slow, starved, run, labels);
  const costly = faults.filter(({ costNs }) => costNs >= LEAST_SHARE * durationNs);
  const slowComms = new Set(costly.flatMap(({ links }) => links.map(({ times }) => times.commId)));
  const gpus = starved.length > 0 ? [] : slowGpus(ends, labels, slowComms, durationNs);
  return { ends, sends, waits, slow, faults, slowGpus: gpus };
}

function arrivalTimes(
  onTheWay: readonly TransferTimes[],
  sends: readonly TimedLink[],
  run: Run,
): ComparedLink[] {
  const sisters = new Map(sends.map((one) => [one.commId, one.sisters]));
  /** ns: how long a send waits until the rank's other sends are served. */
  const ofOthers = new Map(
    sends.flatMap((link) =>
      link.sizes.map(
        ({ bytes, medianNs, ownNs }) => [`${linkKey(link)} ${bytes}`, medianNs - ownNs] as const,
      ),
    ),
  );
  return onTheWay.map((link) => {
    const sizes = link.sizes.map((size) => {
      const others = Math.max(0, ofOthers.get(`${linkKey(link)} ${size.bytes}`) ?? 0);
      return { ...size, ownNs: Math.max(1, size.medianNs - others) };
    });
    const own = sisters.get(link.commId) ?? `${link.commId}`;
    return { ...link, sizes, sisters: own, isWithinHost: isWithinHost(link, run) };
  });
}
