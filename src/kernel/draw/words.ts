/** Texts that several tracks use. */

import { Link } from '../event';
import { Name } from '../odd';

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
