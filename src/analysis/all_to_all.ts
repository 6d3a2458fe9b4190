/**
 * AlltoAlls on average: how much each rank sends and receives in a call, and whether one of them has far more to receive or to send than the
 * others. It is the last to be done, and no rank, GPU or link is slow.
 */

import { maxOf } from '../base/extremes.js';
import { hex64 } from '../base/hex.js';
import { median } from '../base/median.js';
import { amongAll, type RankTraffic, UNEVEN } from '../cluster/among_all.js';
import type { Run } from '../runs/run.js';
import { type CollectiveGroup, sizeClassOf } from './collectives.js';
import type { RankLabel, RankLabels } from '../runs/rank_labels.js';

export interface AllToAll {
  readonly comm: string;
  readonly commId: string;
  readonly commSize: number;
  readonly ranks: readonly RankBytes[];
  /** The rank that receives or sends most, compared with the median of the others; null: no rank has twice as much. */
  readonly most: Most | null;
}

export interface Most {
  readonly rank: RankLabel;
  readonly receives: boolean;
  /** Per call: its bytes, and the median of the others. */
  readonly bytes: number;
  readonly usual: number;
  readonly calls: number;
}

/** What a rank sent and received on average in each of its calls. */
export interface RankBytes extends Pick<RankTraffic, 'calls' | 'sent' | 'received'> {
  readonly rank: RankLabel;
}

export const allToAlls = (run: Run, labels: RankLabels): AllToAll[] =>
  amongAll(run).map(({ commId, name, size, ranks: traffic }) => {
    const ranks = traffic.map(({ file, rank, calls, sent, received }) => ({
      ...{ rank: labels.inComm(commId, rank, file), calls, sent, received },
    }));
    return { comm: name, commId: hex64(commId), commSize: size, ranks, most: mostOf(ranks) };
  });

/** As rows of the table of collectives. The size is what a rank receives on average. */
export const allToAllGroups = (all: readonly AllToAll[]): CollectiveGroup[] =>
  all.map(({ comm, commId, commSize, ranks }) => {
    const bytes = Math.round(ranks.reduce((sum, { received }) => sum + received, 0) / ranks.length);
    return {
      ...{ comm, commId, commSize, bytes },
      func: 'AlltoAll',
      sizeClass: sizeClassOf(bytes),
      count: maxOf(ranks.map(({ calls }) => calls)),
      ended: 0,
      ...{ durationP50Ns: null, durationP99Ns: null, durationMaxNs: null, skewP50Ns: null, skewMaxNs: null },
      ...{ algbwGBs: null, busbwGBs: null, busbwFromFirstGBs: null },
      ...{ lateRank: null, lateIn: 0, named: 0 },
    };
  });

function mostOf(ranks: readonly RankBytes[]): AllToAll['most'] {
  const by = (of: 'received' | 'sent'): Most => {
    const most = ranks.reduce((a, b) => (b[of] > a[of] ? b : a));
    const usual = median(ranks.filter((one) => one !== most).map((one) => one[of]))!;
    return { rank: most.rank, receives: of === 'received', bytes: most[of], usual, calls: most.calls };
  };
  const found = [by('received'), by('sent')].filter(({ bytes, usual }) => bytes >= UNEVEN * usual);
  return found.length === 0 ? null : found.reduce((a, b) => (b.bytes > a.bytes ? b : a));
}
