/**
 * Ids that every rank computes alike from what it knows itself, so that files stay independent:
 *  - a transfer (flow): communicator, channel, source, destination, the operation's ordinal on its connection, step;
 *  - a collective (correlation): communicator, function, sequence number, replay ordinal.
 */

import { addBigint, addText, addWord, HASH_SEED, toSafeInteger, type Hash64 } from '../base/hash.js';
import type { Op, Work } from '../model/types.js';
import type { FlowId } from './sink.js';

/** Interface v1 to v3 through an adapter never says which communicator it is. */
const UNTOLD = 0n;

/** The part of a transfer's id that all steps of an operation share; null when the other end could not know it. */
export function operationId(op: Op): Hash64 | null {
  const { comm } = op;
  if (op.lost || comm === null || comm.commId === UNTOLD || !op.ordinalAbsolute || op.foreignPid !== null)
    return null;
  const [source, destination] = op.isSend ? [comm.rank, op.peer] : [op.peer, comm.rank];
  let hash = addBigint(HASH_SEED, comm.commId);
  for (const word of [op.channel, source, destination, op.ordinal]) hash = addWord(hash, word);
  return hash;
}

export function transferId(operation: Hash64, step: number): FlowId {
  return addWord(operation, step);
}

/** A send/receive has no counterpart of the same name on other ranks: its colour is its own. */
export function workCorrelation(work: Work | null): number | undefined {
  if (work?.kind !== 'Coll' || work.comm === null || work.comm.commId === UNTOLD) return undefined;
  return collectiveCorrelation(work.comm.commId, { ...work, seq: work.seq ?? 0 });
}

export function collectiveCorrelation(
  commId: bigint,
  { func, seq, ordinal }: { readonly func: string; readonly seq: number; readonly ordinal: number },
): number {
  let hash = addText(addBigint(HASH_SEED, commId), func);
  for (const word of [seq, ordinal]) hash = addWord(hash, word);
  return toSafeInteger(hash);
}
