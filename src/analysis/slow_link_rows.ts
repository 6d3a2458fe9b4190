/** The slow links of a run (cluster/slow_links.ts) as rows. */

import { hex64 } from '../base/hex.js';
import type { ComparedLink } from '../cluster/connections.js';
import type { FoundLink, LinkFault } from '../cluster/link_faults.js';
import type { Connection } from '../verdict/types.js';

/** `link`: index into the links. */
export interface SlowLinkRow extends Pick<
  FoundLink,
  'by' | 'like' | 'sizes' | 'medianNs' | 'usualNs' | 'costNs'
> {
  readonly link: number;
  /** medianNs / usualNs. */
  readonly ratio: number;
  readonly transfers: number;
}

/** A link that is slow by both its times has the row of its sends. */
export function slowLinkRows(
  slow: readonly FoundLink[],
  rowOf: (link: ComparedLink) => number | undefined,
): SlowLinkRow[] {
  const rows = new Map<number, SlowLinkRow>();
  for (const { times, by, sends: transfers, sizes, like, ...ns } of slow) {
    const link = rowOf(times);
    if (link === undefined || rows.has(link)) continue;
    const [medianNs, usualNs, costNs] = [ns.medianNs, ns.usualNs, ns.costNs].map(Math.round);
    rows.set(link, {
      ...{ link, by, transfers },
      ...{ medianNs: medianNs!, usualNs: usualNs!, costNs: costNs!, ratio: ratioOf(ns), sizes, like },
    });
  }
  return [...rows.values()];
}

const ratioOf = ({ medianNs, usualNs }: Pick<FoundLink, 'medianNs' | 'usualNs'>): number =>
  Number((medianNs / usualNs).toPrecision(3));

const connectionOf = ({ times: { file, peerFile, channel } }: FoundLink): Connection => ({
  ...{ file, peerFile, channel, step: null },
});

/** What links have in common (cluster/link_faults.ts), with the rows of these links. */
export type FaultRow = ReturnType<typeof faultRows>[number];

export const faultRows = (faults: readonly LinkFault[], rowOf: (link: ComparedLink) => number | undefined) =>
  faults.map(({ links, ...fault }) => {
    const [first] = links;
    return {
      ...fault,
      costNs: Math.round(fault.costNs),
      commId: first ? hex64(first.times.commId) : null,
      connection: first ? connectionOf(first) : null,
      /** Indices into the links. */
      links: links.flatMap(({ times }) => rowOf(times) ?? []),
      /** The times of the costliest link, compared with the usual ones. */
      ratio: first ? ratioOf(first) : 1,
      by: first?.by ?? 'send',
      transfers: links.reduce((sum, { sends }) => sum + sends, 0),
    };
  });
