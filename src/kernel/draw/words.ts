/** Texts that several tracks use. */

import { Link, Work } from '../event';
import { Comm } from '../comm';
import { Name } from '../odd';

export const FINALIZED: string = 'communicator finalized';
/** For work that the other ranks finished after this rank's file had ended, and for its parts. */
export const END_CUT_OFF: string = 'end not recorded: the file ended before the other ranks finished it';

/** Tick at which an unfinished part of a work ends; NaN: it stays open, which shows a hang. */
export function cutAt(comm: Comm, work: Work | null, start: f64): f64 {
  if (start <= comm.finalized) return comm.finalized;
  return work === null ? NaN : work.cutOff;
}

/** Why it ends there. */
export function cutText(comm: Comm, start: f64): string {
  return start <= comm.finalized ? FINALIZED : END_CUT_OFF;
}

/** Text for an event without a usable parent; '': there is nothing to say. */
export function parentText(link: Link): string {
  switch (link) {
    case Link.Lost:
      return 'not in the file any more';
    case Link.Stale:
      return 'stale: of earlier work';
    case Link.Again:
      return 'begun again while under way';
    default:
      return '';
  }
}

/** NCCL's name of an event's type. */
export function eventName(name: Name): string {
  switch (name) {
    case Name.Group:
      return 'Group';
    case Name.GroupApi:
      return 'GroupApi';
    case Name.CollApi:
      return 'CollApi';
    case Name.P2pApi:
      return 'P2pApi';
    case Name.KernelLaunch:
      return 'KernelLaunch';
    case Name.NetPlugin:
      return 'NetPlugin';
    case Name.CeColl:
      return 'CeColl';
    case Name.CeSync:
      return 'CeSync';
    case Name.CeBatch:
      return 'CeBatch';
    case Name.Coll:
      return 'Coll';
    case Name.P2p:
      return 'P2p';
    case Name.ProxyOp:
      return 'ProxyOp';
    case Name.ProxyStep:
      return 'ProxyStep';
    case Name.KernelCh:
      return 'KernelCh';
    case Name.KernelPhase:
      return 'KernelPhase';
    case Name.ProxyCtrl:
      return 'ProxyCtrl';
    default:
      return 'unknown';
  }
}
