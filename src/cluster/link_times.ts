/** How long the sends of each connection were on the wire, by size, with the files of both ends. */

import type { Ticks } from '../base/time.js';
import { countOf, quantileOf } from '../base/time_bins.js';
import type { Run } from '../runs/run.js';
import type { ClusterComm } from './types.js';

/** Times of one channel, from `rank` to `peer`. */
export interface LinkTimes {
  readonly commId: bigint;
  /** Links of the same name are compared: those of a communicator and its sisters. */
  readonly sisters: string;
  /** The sender and its rank in the communicator; the receiver. */
  readonly file: number;
  readonly rank: number;
  readonly peer: number;
  readonly peerFile: number;
  readonly channel: number;
  readonly isWithinHost: boolean;
  readonly sizes: readonly SizeTimes[];
  /** The send that was on the wire longest, in ticks of its file. */
  readonly longest: { readonly took: number; readonly since: Ticks; readonly step: number };
}

export interface SizeTimes {
  readonly bytes: number;
  readonly sends: number;
  /** ns: half of the sends took longer than the median, and nine of ten took longer than the quick time. */
  readonly medianNs: number;
  readonly quickNs: number;
  /**
   * ns: the mean without the time in which the rank's other sends used the wire (kernel/wire.ts). Not the median, because sends may
   * end together, and then only the first has time of its own.
   */
  readonly ownNs: number;
}

/** Only connections with files of both ends. For other connections it is not known whether they leave the host. */
export function linkTimes({ members }: Run): LinkTimes[] {
  const files = new Map<string, number>();
  members.forEach(({ scan }, file) => {
    for (const { commId, rank } of scan.communicators) files.set(`${commId} ${rank}`, file);
  });
  const sisters = sisterNames(members.map(({ scan }) => scan.communicators));
  return members.flatMap(({ scan: { transfers, communicators, header } }, file) => {
    const ns = 1e9 / header.tickHz;
    return transfers.ends.flatMap(({ comm, channel, peer, sizes: all, longest }): LinkTimes[] => {
      const sizes = all.filter(({ times }) => times.length > 0);
      const known = communicators.find(({ number }) => number === comm);
      const peerFile = files.get(`${known?.commId} ${peer}`);
      if (!known || known.commId === 0n || peerFile === undefined || sizes.length === 0) return [];
      const { commId, rank } = known;
      const isWithinHost = members[peerFile]!.scan.header.hostName === header.hostName;
      const times = sizes.map(({ bytes, times: counts, own }) => ({
        bytes,
        sends: countOf(counts),
        medianNs: quantileOf(counts, 0.5) * ns,
        quickNs: quantileOf(counts, 0.1) * ns,
        ownNs: (own / countOf(counts)) * ns,
      }));
      return [
        {
          commId,
          sisters: sisters.get(commId)!,
          file,
          rank,
          peer,
          peerFile,
          channel,
          isWithinHost,
          sizes: times,
          longest,
        },
      ];
    });
  });
}

/**
 * Communicator → a name that it has in common with its sisters: those of the same name and size, none of whose processes is in two of them, as
 * the data-parallel groups of a job. What one of them does, the others do. `files`: the communicators of each file.
 */
function sisterNames(
  files: readonly (readonly Pick<ClusterComm, 'commId' | 'name' | 'nRanks'>[])[],
): ReadonlyMap<bigint, string> {
  const names = new Map<bigint, string>();
  const mixed = new Set<string>();
  for (const comms of files) {
    const own = new Map<string, bigint>();
    for (const { commId, name, nRanks } of comms) {
      const common = `${nRanks} ${name}`;
      if ((own.get(common) ?? commId) !== commId) mixed.add(common);
      own.set(common, commId);
      names.set(commId, common);
    }
  }
  return new Map([...names].map(([commId, name]) => [commId, mixed.has(name) ? `${commId}` : name]));
}
