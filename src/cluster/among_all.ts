/**
 * Sends and receives among all ranks of a communicator are an AlltoAll: PyTorch, and NCCL itself, make it of a group of them. Which
 * communicators have them, and how much each rank sends and receives in a call, on average.
 */

import { entryOf } from '../base/grouped.js';
import { maxOf } from '../base/extremes.js';
import type { Run, RunMember } from '../runs/run.js';
import { ELEMENT_BYTES } from './bandwidth.js';

export interface AmongAll {
  readonly commId: bigint;
  readonly name: string;
  readonly size: number;
  readonly ranks: readonly RankTraffic[];
}

/** What a rank sent and received on average in each of its calls. The data that it copied to itself do not count. */
export interface RankTraffic {
  readonly file: number;
  /** In the communicator. */
  readonly rank: number;
  readonly calls: number;
  readonly sent: number;
  readonly received: number;
}

/** Two ranks exchange something in many other ways. */
const FEWEST_RANKS = 3;
/** Part of all pairs: who has nothing for a rank leaves it out. */
const MOST_PAIRS = 0.75;

/** A rank has far more than the others if it has this often their median. */
export const UNEVEN = 2;

export const isAmongAll = (pairs: number, size: number): boolean => pairs >= MOST_PAIRS * size * (size - 1);

/** Only communicators of which each rank has a file. */
export function amongAll(run: Run): AmongAll[] {
  const comms = new Map<bigint, { name: string; size: number; ranks: RankTraffic[]; pairs: number }>();
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
      const comm = entryOf(comms, commId, () => ({ name, size: nRanks, ranks: [], pairs: 0 }));
      comm.pairs += all.filter(({ sends }) => sends > 0).length;
      if (calls > 0)
        comm.ranks.push({ file, rank, calls, sent: perCall('sent'), received: perCall('received') });
    }
  });
  return [...comms].flatMap(([commId, { pairs, ...comm }]) =>
    comm.ranks.length === comm.size && isAmongAll(pairs, comm.size) ? [{ commId, ...comm }] : [],
  );
}

interface PeerTraffic {
  sends: number;
  receives: number;
  sent: number;
  received: number;
}

/** By number of the communicator and peer. */
function traffic({ works }: RunMember['scan']): Map<number, Map<number, PeerTraffic>> {
  const byComm = new Map<number, Map<number, PeerTraffic>>();
  const sizes = works.datatypes.map((name) => ELEMENT_BYTES[name] ?? 0);
  const isSend = works.funcs.map((name) => name === 'Send');
  works.seq.forEach((seq, row) => {
    const comm = works.comm[row]!;
    if (seq >= 0 || comm < 0) return;
    const peers = entryOf(byComm, comm, () => new Map<number, PeerTraffic>());
    const one = entryOf(peers, works.peer[row]!, () => ({ sends: 0, receives: 0, sent: 0, received: 0 }));
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
