/** Which of many standing operations to look at, and what they all wait in. */

import type { Front, RankWitness, WitnessedOp, WitnessedWork } from './types.js';

export interface Standing {
  readonly file: number;
  readonly work: WitnessedWork;
}

/**
 * First those whose other side is suspect: there the chain of ranks that wait for each other ends. Of these the operation
 * that came least far; at equal progress the one that has stood longest.
 */
export function frontOf(
  standing: readonly Standing[],
  fileOf: (peerInComm: number) => number | null,
  suspects: ReadonlySet<number | null> = new Set(),
): Front | null {
  const all = standing.flatMap(({ file, work }) => work.ops.map((op) => ({ file, op, record: work.record })));
  const innocence = ({ peer }: WitnessedOp): number => (suspects.has(fileOf(peer)) ? 0 : 1);
  const [first] = all.sort(
    (a, b) =>
      innocence(a.op) - innocence(b.op) ||
      progress(a.op) - progress(b.op) ||
      stoodSince(a.op) - stoodSince(b.op),
  );
  if (!first) return null;
  const { file, record, op } = first;
  const { channel, peer, isSend, nSteps, done, wait } = op;
  return {
    file,
    record,
    channel,
    peerFile: fileOf(peer),
    peerInComm: peer,
    isSend,
    nSteps,
    done,
    wait,
  };
}

const progress = ({ done, nSteps }: WitnessedOp): number => (nSteps === 0 ? 1 : done / nSteps);
const stoodSince = ({ wait }: WitnessedOp): number => wait?.since ?? Number.MAX_VALUE;

export function waitsOf(standing: readonly Standing[]): [wait: string, operations: number][] {
  const waits = new Map<string, number>();
  for (const { wait } of standing.flatMap(({ work }) => work.ops)) {
    const name = wait?.name ?? 'no step in flight';
    waits.set(name, (waits.get(name) ?? 0) + 1);
  }
  return [...waits].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

/** Rank in a communicator → the file; null when it is not here. */
export function filesOfComm(
  ranks: readonly RankWitness[],
  commId: bigint | null,
): (inComm: number) => number | null {
  const files = new Map<number, number>();
  if (commId !== null && commId !== 0n)
    ranks.forEach(({ communicators }, file) => {
      for (const comm of communicators.values()) if (comm.commId === commId) files.set(comm.rank, file);
    });
  return (inComm) => files.get(inComm) ?? null;
}
