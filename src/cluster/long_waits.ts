/** Of files that are compared, those that wait much longer than the others with each transfer. A proxy thread without CPU time is found so. */

import { addTo } from '../base/grouped.js';
import { medianOf } from '../base/quantile.js';
import type { Run } from '../runs/run.js';
import { isSender, type Connection } from './connections.js';
import type { RankWaits } from './rank_waits.js';

/** Fewer ranks or transfers do not show what is usual. */
const FEWEST_RANKS = 3;
const FEWEST_TRANSFERS = 64;
/** Its wait compared with the usual one, and its cost compared with the run. */
export const LEAST_RATIO = 4;
const LEAST_SHARE = 0.05;
/** Up to this many transfers of a connection are under way at once. */
const IN_FLIGHT = 8;
/** ns: the flush itself, a read over PCIe, may take this long. */
const LEAST_FLUSH = 100_000;

interface Waited {
  readonly totalNs: number;
  readonly transfers: number;
  readonly connections: number;
}

/** ns per transfer, here and as the median of the `like` other ones; `costNs` of the run. */
export interface Longer {
  readonly transfers: number;
  readonly like: number;
  readonly waitNs: number;
  readonly usualNs: number;
  readonly costNs: number;
}

export interface LongWait extends Longer {
  readonly file: number;
}

/** With their index. */
export function outliers(
  all: readonly Waited[],
  durationNs: number,
): (Longer & { readonly index: number })[] {
  const isCompared = ({ transfers }: Waited): boolean => transfers >= FEWEST_TRANSFERS;
  const compared = all.filter(isCompared);
  if (compared.length < FEWEST_RANKS) return [];
  const usualNs = medianOf(compared.map(({ totalNs, transfers }) => totalNs / transfers));
  return all.flatMap((one, index) => {
    const { totalNs, transfers, connections } = one;
    const waitNs = totalNs / transfers;
    const costNs = (totalNs - usualNs * transfers) / (IN_FLIGHT * connections);
    if (!isCompared(one) || waitNs < LEAST_RATIO * usualNs || costNs < LEAST_SHARE * durationNs) return [];
    return [
      {
        ...{ index, transfers, like: compared.length - 1 },
        ...{ waitNs: Math.round(waitNs), usualNs: Math.round(usualNs), costNs: Math.round(costNs) },
      },
    ];
  });
}

/**
 * Data that arrived wait until the thread looks at the transfer again (flush wait). Neither the wire nor the GPU is part of that wait. The rank's
 * sends end late, too, and look like sends over a slow wire. The thread is named only if the waits are long most of the time, because the
 * machine may delay any thread once. A process with several ranks has several such threads, so it is not compared.
 */
export function starvedThreads(
  waits: readonly RankWaits[],
  ends: readonly Connection[],
  { members }: Run,
  durationNs: number,
): LongWait[] {
  const sent = new Map<number | null, Connection[]>();
  for (const end of ends.filter(isSender)) addTo(sent, end.peerFile, end);
  const compared = waits.flatMap(({ all, overTime, file }) => {
    const own = members[file]!.ranks.length > 1 ? [] : (sent.get(file) ?? []);
    const transfers = own.reduce((sum, link) => sum + link.transfers, 0);
    const usually = medianOf(overTime.flush);
    return transfers < FEWEST_TRANSFERS
      ? []
      : [{ file, totalNs: all.flush, usually, transfers, connections: own.length }];
  });
  const usually = medianOf(compared.map((one) => one.usually));
  return outliers(compared, durationNs).flatMap(({ index, ...wait }) =>
    wait.waitNs >= LEAST_FLUSH && compared[index]!.usually >= LEAST_RATIO * usually
      ? [{ file: compared[index]!.file, ...wait }]
      : [],
  );
}
