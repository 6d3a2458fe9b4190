/** How long the sends of each connection were on the wire, by size, with the files of both ends. */

import type { Ticks } from '../base/time.js';
import { countOf, quantileOf } from '../base/time_bins.js';
import type { Run } from '../runs/run.js';
import { sisterNames } from './sisters.js';

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
   * ns: the mean without the time in which the rank's other sends used the wire (kernel/send_times.ts). Not the median, because sends may
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
  return members.flatMap(({ scan: { sendTimes, communicators, header } }, file) => {
    const ns = 1e9 / header.tickHz;
    return sendTimes.flatMap(({ comm, channel, peer, sizes, longest }): LinkTimes[] => {
      const known = communicators.find(({ number }) => number === comm);
      const peerFile = files.get(`${known?.commId} ${peer}`);
      if (!known || known.commId === 0n || peerFile === undefined) return [];
      const { commId, rank } = known;
      const isWithinHost = members[peerFile]!.scan.header.hostName === header.hostName;
      const times = [...sizes].map(([bytes, { times: counts, own }]) => ({
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
