/**
 * Sends and receives among all ranks of a communicator are an AlltoAll: PyTorch, and NCCL itself, make it of a group of them. How much each
 * rank sends and receives in a call, on average, and whether one of them has far more to receive or to send than the others: it is the last
 * to be done, and no rank, GPU or link is slow.
 */

import { maxOf } from '../base/extremes.js';
import { hex64 } from '../base/hex.js';
import { median } from '../base/median.js';
import { ELEMENT_BYTES } from '../cluster/bandwidth.js';
import type { Run } from '../runs/run.js';
import type { RankScan } from '../scan/scan.js';
import { type CollectiveGroup, sizeClassOf } from './collectives.js';
import type { RankLabel, RankLabels } from './rank_labels.js';

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

/** What a rank sent and received on average in each of its calls. The data that it copied to itself do not count. */
export interface RankBytes {
  readonly rank: RankLabel;
  readonly calls: number;
  readonly sent: number;
  readonly received: number;
}

/** Two ranks exchange something in many other ways. */
const FEWEST_RANKS = 3;
/** Part of all pairs: who has nothing for a rank leaves it out. */
const MOST_PAIRS = 0.75;
const UNEVEN = 2;

export function allToAlls(run: Run, labels: RankLabels): AllToAll[] {
  const comms = new Map<bigint, { name: string; size: number; ranks: RankBytes[]; pairs: number }>();
  run.members.forEach(({ scan }, file) => {
    const byComm = traffic(scan);
    for (const { number, commId, name, rank, nRanks } of scan.communicators) {
      const peers = byComm.get(number);
      if (peers === undefined || commId === 0n || nRanks < FEWEST_RANKS) continue;
      peers.delete(rank);
      const all = [...peers.values()];
      const calls = maxOf(
        all.map(({ sends, receives }) => Math.max(sends, receives)),
        0,
      );
      const perCall = (of: 'sent' | 'received'): number => all.reduce((sum, one) => sum + one[of], 0) / calls;
      const comm = comms.get(commId) ?? { name, size: nRanks, ranks: [], pairs: 0 };
      comms.set(commId, comm);
      comm.pairs += all.filter(({ sends }) => sends > 0).length;
      const bytes = { calls, sent: perCall('sent'), received: perCall('received') };
      if (calls > 0) comm.ranks.push({ rank: labels.inComm(commId, rank, file), ...bytes });
    }
  });
  return [...comms].flatMap(([commId, { name, size, ranks, pairs }]) => {
    const isAmongAll = ranks.length === size && pairs >= MOST_PAIRS * size * (size - 1);
    return isAmongAll
      ? [{ comm: name, commId: hex64(commId), commSize: size, ranks, most: mostOf(ranks) }]
      : [];
  });
}

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

interface PeerTraffic {
  sends: number;
  receives: number;
  sent: number;
  received: number;
}

/** By number of the communicator and peer. */
function traffic({ works }: RankScan): Map<number, Map<number, PeerTraffic>> {
  const byComm = new Map<number, Map<number, PeerTraffic>>();
  const sizes = works.datatypes.map((name) => ELEMENT_BYTES[name] ?? 0);
  const isSend = works.funcs.map((name) => name === 'Send');
  works.seq.forEach((seq, row) => {
    const comm = works.comm[row]!;
    if (seq >= 0 || comm < 0) return;
    const peers = byComm.get(comm) ?? new Map<number, PeerTraffic>();
    byComm.set(comm, peers);
    const peer = works.peer[row]!;
    const one = peers.get(peer) ?? { sends: 0, receives: 0, sent: 0, received: 0 };
    peers.set(peer, one);
    const bytes = works.count[row]! * sizes[works.datatype[row]!]!;
    if (isSend[works.func[row]!]) {
      one.sends++;
      one.sent += bytes;
    } else {
      one.receives++;
      one.received += bytes;
    }
  });
  return byComm;
}

function mostOf(ranks: readonly RankBytes[]): AllToAll['most'] {
  const by = (of: 'received' | 'sent'): Most => {
    const most = ranks.reduce((a, b) => (b[of] > a[of] ? b : a));
    const usual = median(ranks.filter((one) => one !== most).map((one) => one[of]))!;
    return { rank: most.rank, receives: of === 'received', bytes: most[of], usual, calls: most.calls };
  };
  const found = [by('received'), by('sent')].filter(({ bytes, usual }) => bytes >= UNEVEN * usual);
  return found.length === 0 ? null : found.reduce((a, b) => (b.bytes > a.bytes ? b : a));
}
