/**
 * Of ranks that are compared, those that wait much longer than the others with each transfer: a proxy thread without CPU time, and a GPU that
 * fills slowly what it sends, are found so.
 */

import { addTo, entryOf } from '../base/grouped.js';
import { medianOf } from '../base/quantile.js';
import type { RankLabel, RankLabels } from '../runs/rank_labels.js';
import type { Run } from '../runs/run.js';
import { isSender, type Connection } from './connections.js';
import type { RankWaits } from './rank_waits.js';

/** Fewer ranks or transfers do not show what is usual. */
const FEWEST_RANKS = 3;
const FEWEST_TRANSFERS = 64;
/** Its wait compared with the usual one, and its cost compared with the run. */
const LEAST_RATIO = 4;
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
interface Longer {
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
function outliers(all: readonly Waited[], durationNs: number): (Longer & { readonly index: number })[] {
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

export interface SlowGpu extends LongWait {
  readonly rank: RankLabel;
  readonly commId: bigint;
}

interface RankTimes {
  readonly file: number;
  transfers: number;
  connections: number;
  /** Waits for its own GPU, until it filled what is to be sent. */
  gpuNs: number;
  /** Its receives waited for data. */
  dataNs: number;
  /** Its sends waited until the receiver had posted. */
  roomNs: number;
}

const NO_TIMES = { transfers: 0, connections: 0, gpuNs: 0, dataNs: 0, roomNs: 0 };

/**
 * The rank's sends wait long for its GPU while the rank itself waits for nobody: a GPU that passes on received data waits for these, and one
 * whose receiver is late has a send to finish before it fills the next. Neither counts as its own production. A slow link has the same
 * effects, so `slowComms` are left out.
 */
export function slowGpus(
  ends: readonly Connection[],
  labels: RankLabels,
  slowComms: ReadonlySet<bigint>,
  durationNs: number,
): SlowGpu[] {
  const byComm = new Map<bigint, Map<RankLabel, RankTimes>>();
  for (const end of ends) {
    const { commId, file, isSend, source, destination, nsPerTick } = end;
    if (slowComms.has(commId) || (isSend && !isSender(end))) continue;
    const times = entryOf(byComm, commId, () => new Map<RankLabel, RankTimes>());
    const rank = labels.inComm(commId, isSend ? source : destination, file);
    const own = entryOf(times, rank, () => ({ ...NO_TIMES, file }));
    if (isSend) {
      own.transfers += end.transfers;
      own.connections++;
      own.gpuNs += end.gpuWait * nsPerTick;
      own.roomNs += end.peerWait * nsPerTick;
    } else own.dataNs += end.recvWait * nsPerTick;
  }
  return [...byComm].flatMap(([commId, times]) => {
    const ranks = [...times].map(([rank, { gpuNs, dataNs, ...sent }]) => ({
      ...{ rank, isOwn: dataNs <= gpuNs / LEAST_RATIO, ...sent, totalNs: Math.max(0, gpuNs - dataNs) },
    }));
    return outliers(ranks, durationNs).flatMap(({ index, ...wait }) => {
      const { rank, file, isOwn, roomNs } = ranks[index]!;
      return isOwn && LEAST_RATIO * roomNs <= wait.costNs ? [{ rank, file, commId, ...wait }] : [];
    });
  });
}
