/** The slow links of a run (cluster/slow_links.ts) as rows. */

import type { ComparedLink } from '../cluster/connections.js';
import type { SlowLink } from '../cluster/slow_links.js';

/** Index into the links; undefined: it has no row. */
export type RowOf = (link: ComparedLink) => number | undefined;

/** `link`: index into the links. */
export interface SlowLinkRow extends Pick<
  SlowLink,
  'by' | 'like' | 'sizes' | 'medianNs' | 'usualNs' | 'costNs'
> {
  readonly link: number;
  /** medianNs / usualNs. */
  readonly ratio: number;
  readonly transfers: number;
}

/** A link that is slow by both its times has the row of its sends. */
export function slowLinkRows(slow: readonly SlowLink[], rowOf: RowOf): SlowLinkRow[] {
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

/** How many times the usual time a link takes. */
export const ratioOf = ({ medianNs, usualNs }: Pick<SlowLink, 'medianNs' | 'usualNs'>): number =>
  Number((medianNs / usualNs).toPrecision(3));
