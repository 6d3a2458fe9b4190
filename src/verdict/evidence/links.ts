/** How long sends were on the wire, per connection of each communicator, with the files of both ends. */

import type { Run } from '../../runs/run.js';
import type { LinkTimes } from '../types.js';

export function linkTimes({ members }: Run): LinkTimes[] {
  const files = new Map<string, number>();
  members.forEach(({ scan }, file) => {
    for (const { commId, rank } of scan.communicators) files.set(`${commId} ${rank}`, file);
  });
  return members.flatMap(({ scan: { sendTimes, communicators, header } }, file) =>
    sendTimes.flatMap(({ comm, channel, peer, counts }): LinkTimes[] => {
      const known = communicators.find(({ number }) => number === comm);
      const peerFile = files.get(`${known?.commId} ${peer}`);
      if (!known || known.commId === 0n || peerFile === undefined) return [];
      const { commId, rank } = known;
      const isWithinHost = members[peerFile]!.scan.header.hostName === header.hostName;
      const sends = counts.reduce((sum, count) => sum + count, 0);
      const medianNs = (medianOf(counts, sends) * 1e9) / header.tickHz;
      return [{ commId, file, rank, peer, peerFile, channel, isWithinHost, sends, medianNs }];
    }),
  );
}

/** Ticks; interpolated within its power of two. */
function medianOf(counts: Uint32Array, sends: number): number {
  let before = 0;
  for (const [bin, count] of counts.entries()) {
    if (2 * (before + count) >= sends) return 2 ** bin * (1 + (sends / 2 - before) / count);
    before += count;
  }
  return 0;
}
