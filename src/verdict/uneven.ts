/**
 * Whether one rank of a communicator sends much more than the others, in exchanges of all with all (AlltoAll). Its data hold up the GPUs of
 * the others, and nobody is slow: the work is not shared out evenly.
 */

import { hex64 } from '../base/hex.js';
import type { Case } from './case.js';
import type { Uneven } from './types.js';

/** Times what the others send in the mean. */
const MUCH_MORE = 2;
/** Two ranks do not show what is usual. */
const FEWEST = 3;

/** The most uneven one; null: none is. */
export function unevenIn(evidence: Case): Uneven | null {
  const all = evidence.ranks.flatMap(({ communicators }) => [...communicators.values()]);
  const ids = [...new Set(all.map(({ commId }) => commId))].filter((commId) => commId !== 0n);
  return ids.reduce<Uneven | null>((most, commId) => {
    const found = unevenOf(commId, evidence);
    return found && found.times > (most?.times ?? MUCH_MORE) ? found : most;
  }, null);
}

function unevenOf(commId: bigint, { ranks }: Case): Uneven | null {
  const sent = ranks.flatMap(({ communicators, calls }, file) =>
    [...communicators.values()].flatMap((comm) => {
      if (comm.commId !== commId) return [];
      const sends = calls
        .transfers(comm.number)
        .filter(({ func, peer }) => func === 'Send' && peer !== comm.rank);
      const bytes = sends.reduce((sum, one) => sum + one.bytes, 0);
      return [{ file, comm, peers: sends.length, bytes }];
    }),
  );
  const [first] = sent.sort((a, b) => b.bytes - a.bytes);
  if (!first || sent.length < FEWEST) return null;
  const { comm, file, bytes } = first;
  const isExchange = sent.every(({ peers }) => peers === sent.length - 1);
  const rest = sent.slice(1).reduce((sum, one) => sum + one.bytes, 0) / (sent.length - 1);
  return isExchange ? { commId: hex64(commId), comm: comm.name, file, times: bytes / rest } : null;
}
