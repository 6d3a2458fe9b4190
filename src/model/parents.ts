/**
 * Checks whether the event that NCCL names as parent is possible. The recorder never reuses a handle, but NCCL may pass an old one: from a
 * slot it did not clear, or of a call made while its event type was off. Such a parent would stretch finished work, so it is not used, and
 * it is counted.
 */

import type { Communicator } from '../rankfile/types.js';
import type { HostSpan } from './host_span.js';
import { KEY_FOREIGN, KEY_NULL, type HandleKey } from './record_fields.js';
import type { Source } from './start_record.js';
import type { ParentLink, Work } from './types.js';

/** Why a parent is missing or cannot be one. */
export function missingParent(key: HandleKey, parent: Source['parent']): ParentLink {
  if (key === KEY_NULL) return 'none';
  if (key === KEY_FOREIGN) return 'foreign';
  return parent === undefined ? 'lost' : 'stale';
}

/**
 * One child per channel, direction and peer. A second one that begins after the first has stopped belongs to other work. One that begins
 * earlier is a repeat and counts once: the first stop ends both.
 */
export function opClaim(channel: number, isSend: boolean, peer: number): number {
  return (peer >>> 0) * 512 + channel * 2 + (isSend ? 1 : 0);
}

export const kernelClaim = (channel: number): number => -1 - channel;

/** A channel number is one byte. Numbers below the kernels' are free. */
const MOST_CHANNELS = 256;

/**
 * Some of NCCL's transports say isSend 0 in both directions. There a second operation in the same direction belongs to the other direction.
 * The transport is known later (endless_ops.ts). Returns false if there was a second operation before.
 */
export function claimOtherDirection(work: Work, op: number): boolean {
  return claim(work, -1 - MOST_CHANNELS - op) === 'first';
}

export type Claim = 'first' | 'again' | 'stale';

export function claim(work: Work, what: number): Claim {
  const hasEnded = work.claims.get(what);
  if (hasEnded !== undefined) return hasEnded ? 'stale' : 'again';
  work.claims.set(what, false);
  return 'first';
}

/** Returns false if the child had ended already. */
export function claimEnded(work: Work, what: number): boolean {
  const isFirst = work.claims.get(what) !== true;
  work.claims.set(what, true);
  return isFirst;
}

interface ParentWork {
  readonly work: Work | null;
  readonly link: ParentLink;
}

/** The work that a start names as its parent. `claimed`: the child's role; null: it may repeat. */
export function parentWork(
  { parent, parentKey }: Pick<Source, 'parent' | 'parentKey'>,
  claimed: number | null,
): ParentWork {
  if (parent?.type !== 'work') return { work: null, link: missingParent(parentKey, parent) };
  const kind = claimed === null ? 'first' : claim(parent, claimed);
  if (kind === 'stale') return { work: null, link: 'stale' };
  return { work: parent, link: kind === 'again' ? 'again' : 'known' };
}

/** Before v5 the parent of a Coll or P2p is its Group. The Group shows when work was posted, not when it was called. */
export function callOf(
  kind: 'Coll' | 'P2p',
  func: string,
  comm: Communicator | null,
  parent: Source['parent'],
): { readonly api: HostSpan | null; readonly group: HandleKey | null; readonly link: ParentLink } | null {
  if (parent?.type !== 'host') return null;
  if (parent.kind === 'Group') return { api: null, group: parent.key, link: 'known' };
  if (parent.kind !== 'CollApi' && parent.kind !== 'P2pApi') return null;
  const otherComm = comm !== null && parent.comm !== null && comm !== parent.comm;
  const otherFunc = kind === 'Coll' && parent.kind === 'CollApi' && parent.func !== func;
  return otherComm || otherFunc ? null : { api: parent, group: parent.parent?.key ?? null, link: 'known' };
}
