/** The communicators of a run, and which ranks of the job are in them. */

import { hex64 } from '../base/hex.js';
import type { RunMember } from './run.js';

export interface RunCommunicator {
  /** 16 hexadecimal digits. */
  readonly commId: string;
  /** As NCCL reports it; often empty (PyTorch names none). */
  readonly comm: string;
  /** 0: not reported. */
  readonly nRanks: number;
  /** Ranks of the job, ascending, as far as their files tell. */
  readonly ranks: readonly number[];
}

/** In order of their ids. Those without an id are left out. */
export function communicatorsOf(members: readonly RunMember[]): RunCommunicator[] {
  const byId = new Map<bigint, { comm: string; nRanks: number; ranks: Set<number> }>();
  for (const { scan, ranks } of members) {
    for (const { commId, name, nRanks } of scan.communicators) {
      if (commId === 0n) continue;
      const known = byId.get(commId) ?? { comm: '', nRanks: 0, ranks: new Set() };
      byId.set(commId, known);
      known.comm ||= name;
      known.nRanks = Math.max(known.nRanks, nRanks);
      // Of a process with several ranks it is not known which of them are in this communicator, unless all are.
      if (ranks.length === 1 || ranks.length === nRanks) for (const rank of ranks) known.ranks.add(rank);
    }
  }
  return [...byId]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([commId, { comm, nRanks, ranks }]) => ({
      commId: hex64(commId),
      comm,
      nRanks,
      ranks: [...ranks].sort((a, b) => a - b),
    }));
}
