/** What made-up slow links have in common. Files are ranks, of the job and of the communicator. */

import type { ComparedLink, Connection } from '../../../src/cluster/connections.js';
import { linkFaults, type LinkFault } from '../../../src/cluster/link_faults.js';
import type { LongWait } from '../../../src/cluster/long_waits.js';
import type { SlowLink } from '../../../src/cluster/slow_links.js';
import type { Run } from '../../../src/runs/run.js';

export type MadeUpLink = Pick<ComparedLink, 'commId' | 'source' | 'destination' | 'channel'>;

interface Options {
  readonly hostOf?: (rank: number) => string;
  readonly starved?: readonly LongWait[];
}

/** `links`: all of the run. */
export function faultsOf(
  links: readonly MadeUpLink[],
  slow: readonly SlowLink[],
  { hostOf = () => 'a', starved = [] }: Options = {},
): LinkFault[] {
  const ranks = Math.max(...links.flatMap(({ source, destination }) => [source, destination])) + 1;
  const members = Array.from({ length: ranks }, (_, rank) => ({
    scan: { header: { hostName: hostOf(rank) } },
  }));
  const ends = links.map((link) => ({
    ...{ ...link, file: link.source, peer: link.destination, peerFile: link.destination },
    ...{ isSend: true, transfers: 100, sizes: [], nsPerTick: 1 },
  }));
  const labels = { ofFile: (file: number) => file, inComm: (_id: bigint, rank: number) => rank };
  return linkFaults(ends as unknown as Connection[], slow, starved, { members } as unknown as Run, labels);
}

export const slowLink = (link: MadeUpLink, more: Partial<SlowLink> = {}): SlowLink => ({
  times: {
    ...link,
    sisters: '',
    file: link.source,
    peerFile: link.destination,
    isWithinHost: false,
    sizes: [],
  },
  ...{ by: 'send', sends: 100, sizes: 1, like: 9, medianNs: 5, usualNs: 1, costNs: 1e7 },
  ...more,
});
