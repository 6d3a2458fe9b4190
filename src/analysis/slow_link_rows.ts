/** The slow links of a run (cluster/slow_links.ts) as rows. */

import type { ComparedLink } from '../cluster/connections.js';
import type { RunLinks, SlowLink } from '../cluster/slow_links.js';

/** `link`: index into the links. `by`: the time that is long. */
export interface SlowLinkRow extends Pick<SlowLink, 'like' | 'sizes' | 'medianNs' | 'usualNs' | 'costNs'> {
  readonly link: number;
  readonly by: RunLinks['slow'][number]['by'];
  /** medianNs / usualNs. */
  readonly ratio: number;
  readonly transfers: number;
}

/** A link that is slow by both its times has the row of its sends. */
export function slowLinkRows(
  slow: RunLinks['slow'],
  rowOf: (link: ComparedLink) => number | undefined,
): SlowLinkRow[] {
  const rows = new Map<number, SlowLinkRow>();
  for (const { times, by, sends: transfers, sizes, like, ...ns } of slow) {
    const link = rowOf(times);
    if (link === undefined || rows.has(link)) continue;
    const [medianNs, usualNs, costNs] = [ns.medianNs, ns.usualNs, ns.costNs].map(Math.round);
    const ratio = Number((ns.medianNs / ns.usualNs).toPrecision(3));
    rows.set(link, {
      ...{ link, by, transfers },
      ...{ medianNs: medianNs!, usualNs: usualNs!, costNs: costNs!, ratio, sizes, like },
    });
  }
  return [...rows.values()];
}
