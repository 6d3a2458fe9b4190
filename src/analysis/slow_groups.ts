/**
 * Finds a communicator whose collectives take many times as long as those of its sisters: communicators of one kind, with as many ranks
 * on as many hosts, and the same calls. Times count from the last arrival. Where a slow link inside of it is known, that says more.
 */

import { addTo, entryOf } from '../base/grouped.js';
import { hex64 } from '../base/hex.js';
import { maxOf } from '../base/extremes.js';
import { medianOf } from '../base/quantile.js';
import { around, callsOf, causeOf, type CauseEvidence } from './cause_evidence.js';
import { tookAlone, type CollectiveRow } from './collectives.js';

const FEWEST = 8;
const FEWEST_SISTERS = 2;
/** Times as long as its sisters, and as the slowest of them. */
const MANY = 4;
const CLEARLY = 2;
/** Part of the run. */
const LEAST_COST = 0.05;

export function slowGroups(evidence: CauseEvidence) {
  const { collectives, faults, links, kindOf } = evidence;
  const hosts = new Map<string, Set<string | null>>();
  for (const { commId, sourceHost, destinationHost } of links)
    entryOf(hosts, commId, () => new Set())
      .add(sourceHost)
      .add(destinationHost);
  const kinds = new Map<string, CollectiveRow[]>();
  for (const row of collectives) {
    const { commId, commSize, func, bytes } = row;
    const key = `${kindOf(commId)} ${commSize} ${hosts.get(commId)?.size ?? 0} ${func} ${bytes}`;
    if (tookAlone(row) > 0) addTo(kinds, key, row);
  }
  const known = new Set(faults.flatMap((one) => one.links.map(({ times }) => hex64(times.commId))));
  return [...kinds.values()].flatMap((rows) => {
    const slow = slowestOf(rows, evidence);
    return slow === null || known.has(slow.where?.commId ?? '') ? [] : [slow];
  });
}

function slowestOf(rows: readonly CollectiveRow[], { durationNs }: CauseEvidence) {
  const byComm = new Map<string, CollectiveRow[]>();
  for (const row of rows) addTo(byComm, row.commId, row);
  const groups = [...byComm.values()]
    .filter((own) => own.length >= FEWEST)
    .map((own) => ({ own, usual: medianOf(own.map(tookAlone)) }));
  if (groups.length <= FEWEST_SISTERS) return null;
  const slow = groups.reduce((a, b) => (b.usual > a.usual ? b : a));
  const sisters = groups.filter((one) => one !== slow).map(({ usual }) => usual);
  const [tookNs, usualNs, count] = [slow.usual, medianOf(sisters), slow.own.length];
  const costNs = Math.round(count * (tookNs - usualNs));
  if (tookNs < MANY * usualNs || tookNs < CLEARLY * maxOf(sisters) || costNs < LEAST_COST * durationNs)
    return null;
  const [first] = slow.own as [CollectiveRow];
  const worst = slow.own.reduce((a, b) => (tookAlone(b) > tookAlone(a) ? b : a));
  const about = { bytes: first.bytes, tookNs, usualNs, count, sisters: sisters.length };
  const view = around(worst.startNs, 2 * tookAlone(worst));
  return causeOf('slow group', { ...about, view }, { where: callsOf(first), cost: costNs });
}
