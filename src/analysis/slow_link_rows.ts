/**
 * Slow links as rows, found in two ways by the rule of cluster/slow_links.ts. The first uses the time of their sends, with the verdict's
 * numbers. The second uses the time until arrival. It shows a slow way into a rank, which a network with buffers hides from the sender.
 */

import type { TransferTimes } from '../clocks/evidence/transfer_times.js';
import { linkTimes, type LinkTimes } from '../cluster/link_times.js';
import { slowLinks, type ComparedLink, type SlowLink } from '../cluster/slow_links.js';
import type { Run } from '../runs/run.js';

/** `link`: index into the links. `by`: the time that is long. */
export interface SlowLinkRow extends Pick<SlowLink, 'like' | 'sizes' | 'medianNs' | 'usualNs' | 'costNs'> {
  readonly link: number;
  readonly by: 'send' | 'arrival';
  /** medianNs / usualNs. */
  readonly ratio: number;
  readonly transfers: number;
}

/** `bound`: of two files' clocks, ns; Infinity: they cannot be compared. */
export function slowLinkRows(
  run: Run,
  onTheWay: readonly TransferTimes[],
  bound: (sender: number, receiver: number) => number,
  rowOf: (times: ComparedLink) => number | undefined,
): SlowLinkRow[] {
  const rows = new Map<number, SlowLinkRow>();
  const add = (by: SlowLinkRow['by'], { times, sends, ...more }: SlowLink): void => {
    const link = rowOf(times);
    if (link !== undefined && !rows.has(link))
      rows.set(link, { link, by, transfers: sends, ...rounded(more) });
  };
  const sends = linkTimes(run);
  for (const slow of slowLinks(sends)) add('send', slow);
  const sisters = new Map(sends.map((one) => [one.commId, one.sisters]));
  const otherSends = timeOfOtherSends(sends);
  const arrivals = onTheWay.map(({ sender, receiver, source, destination, commId, channel, sizes }) => {
    const [from, to] = [sender, receiver].map((file) => run.members[file]!.scan.header.hostName);
    const link = { file: sender, peerFile: receiver, rank: source, peer: destination, commId, channel };
    const times = sizes.map((size) => ({
      ...size,
      ownNs: Math.max(1, size.medianNs - otherSends(link, size.bytes)),
    }));
    return {
      ...link,
      sisters: sisters.get(commId) ?? `${commId}`,
      sizes: times,
      isWithinHost: from === to,
    };
  });
  for (const slow of slowLinks(arrivals))
    if (slow.medianNs - slow.usualNs > 2 * bound(slow.times.file, slow.times.peerFile)) add('arrival', slow);
  return [...rows.values()];
}

type Link = Omit<ComparedLink, 'isWithinHost' | 'sizes' | 'sisters'>;

/** ns, by connection and size: how long a send waits until the rank's other sends are served. */
function timeOfOtherSends(links: readonly LinkTimes[]): (link: Link, bytes: number) => number {
  const keyOf = ({ file, peerFile, commId, channel }: Link, bytes: number): string =>
    `${file} ${peerFile} ${commId} ${channel} ${bytes}`;
  const known = new Map(
    links.flatMap((link) =>
      link.sizes.map(
        ({ bytes, medianNs, ownNs }) => [keyOf(link, bytes), Math.max(0, medianNs - ownNs)] as const,
      ),
    ),
  );
  return (link, bytes) => known.get(keyOf(link, bytes)) ?? 0;
}

function rounded({ medianNs, usualNs, costNs, sizes, like }: Omit<SlowLink, 'times' | 'sends'>) {
  const [median, usual, cost] = [medianNs, usualNs, costNs].map(Math.round) as [number, number, number];
  const ratio = Number((medianNs / usualNs).toPrecision(3));
  return { medianNs: median, usualNs: usual, costNs: cost, ratio, sizes, like };
}
