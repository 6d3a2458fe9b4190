/**
 * Slow links as rows, found in two ways by the rule of cluster/slow_links.ts. The first uses the time of their sends, with the verdict's
 * numbers. The second uses the time until arrival. It shows a slow way into a rank, which a network with buffers hides from the sender.
 */

import type { TransferTimes } from '../clocks/evidence/transfer_times.js';
import type { ComparedLink } from '../cluster/connections.js';
import { slowLinks, type RunLinks, type SlowLink } from '../cluster/slow_links.js';
import type { Run } from '../runs/run.js';
import { linkKey } from './arrival_times.js';

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
  { sends, slow: slowSends }: RunLinks,
  onTheWay: readonly TransferTimes[],
  bound: (sender: number, receiver: number) => number,
  { run, rowOf }: { readonly run: Run; readonly rowOf: (link: ComparedLink) => number | undefined },
): SlowLinkRow[] {
  const rows = new Map<number, SlowLinkRow>();
  const add = (by: SlowLinkRow['by'], { times, sends: transfers, ...more }: SlowLink): void => {
    const link = rowOf(times);
    if (link !== undefined && !rows.has(link)) rows.set(link, { link, by, transfers, ...rounded(more) });
  };
  for (const slow of slowSends) add('send', slow);
  const sisters = new Map(sends.map((one) => [one.commId, one.sisters]));
  const otherSends = timeOfOtherSends(sends);
  const arrivals = onTheWay.map(({ sender: file, receiver: peerFile, ...link }): ComparedLink => {
    const [from, to] = [file, peerFile].map((one) => run.members[one]!.scan.header.hostName);
    const sizes = link.sizes.map((size) => ({
      ...size,
      ownNs: Math.max(1, size.medianNs - otherSends(linkKey(link), size.bytes)),
    }));
    const { commId } = link;
    return {
      ...link,
      ...{ file, peerFile, sizes, isWithinHost: from === to },
      sisters: sisters.get(commId) ?? `${commId}`,
    };
  });
  for (const slow of slowLinks(arrivals))
    if (slow.medianNs - slow.usualNs > 2 * bound(slow.times.file, slow.times.peerFile)) add('arrival', slow);
  return [...rows.values()];
}

/** ns, by connection and size: how long a send waits until the rank's other sends are served. */
function timeOfOtherSends(links: readonly ComparedLink[]): (link: string, bytes: number) => number {
  const known = new Map(
    links.flatMap((link) =>
      link.sizes.map(
        ({ bytes, medianNs, ownNs }) => [`${linkKey(link)} ${bytes}`, Math.max(0, medianNs - ownNs)] as const,
      ),
    ),
  );
  return (link, bytes) => known.get(`${link} ${bytes}`) ?? 0;
}

function rounded({ medianNs, usualNs, costNs, sizes, like }: Omit<SlowLink, 'times' | 'sends'>) {
  const [median, usual, cost] = [medianNs, usualNs, costNs].map(Math.round) as [number, number, number];
  const ratio = Number((medianNs / usualNs).toPrecision(3));
  return { medianNs: median, usualNs: usual, costNs: cost, ratio, sizes, like };
}
