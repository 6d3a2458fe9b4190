/**
 * Operations whose end NCCL never reports. Its CollNet transport, and SHM or P2P that copy by memcpy, start a ProxyOp (with isSend 0 in
 * both directions) and report neither state nor stop. Such an operation looks like a receive that hangs before its first progress call. The
 * connection decides. If *no* operation of the connection ever moved, its operations are endless. Otherwise they are queued. Collectives
 * and sends/receives between two ranks use separate connections (NCCL's connIndex 0 and 1), so a receive can move beside an endless
 * CollNet.
 */

import type { Op } from './types.js';

/** The user of the connection. If an operation's work is not known, it may be either. */
type Kind = 'Coll' | 'P2p' | 'unknown';

const kindOf = ({ of }: Pick<Op, 'of'>): Kind => of?.kind ?? 'unknown';

/** NCCL says isSend 1 only for its network transport, which reports all its ends. */
export function mayBeEndless(op: Op): boolean {
  return !op.isSend && !op.lost && !op.foreign;
}

/** Sends are never on these connections. */
export function connectionKey(op: Pick<Op, 'comm' | 'channel' | 'peer' | 'of'>): string {
  return `${op.comm?.number ?? 'none'} ${op.channel} ${op.peer} ${kindOf(op)}`;
}
