/**
 * The transfers of all files together: where each rank's step time went, which rank waited for which, and every link with the times of its
 * transfers. A send's time is measured at the sender, by the sender's own counter. The time until arrival comes with the bound of both
 * clocks.
 */

import type { TraceNs } from '../base/time.js';
import type { TransferTimes } from '../clocks/evidence/transfer_times.js';
import { isSender, linkKey } from '../cluster/connections.js';
import type { RunLinks } from '../cluster/run_links.js';
import type { Run } from '../runs/run.js';
import { onTheWay } from './arrival_times.js';
import { allChannels, type Link } from './all_channels.js';
import { linkRows } from './link_rows.js';
import { sendSeries } from '../cluster/over_time.js';
import type { RankLabels } from '../runs/rank_labels.js';
import { slowLinkRows, type RowOf } from './slow_link_rows.js';
import { waitRows } from './wait_rows.js';

export type Transfers = Readonly<ReturnType<typeof transfersOf>>;

/** `time`: of a file's tick on the trace's axis. `bound`: of the clocks of two files, ns. */
export function transfersOf(
  run: Run,
  found: RunLinks,
  labels: RankLabels,
  times: readonly TransferTimes[],
  time: (file: number, tick: number) => TraceNs,
  bound: (sender: number, receiver: number) => number,
) {
  // A size that was never timed is none.
  const ends = found.ends.map((end) => ({
    ...end,
    sizes: end.sizes.filter(({ counts }) => counts.total > 0),
  }));
  const senders = senderEnds(ends);
  const allPairs = allChannels(ends);
  const pairSenders = senderEnds(allPairs);
  const arrivals = onTheWay(times, bound);
  const rows = new Map(senders.map((end, row) => [linkKey(end), row]));
  const rowOf: RowOf = (link) => rows.get(linkKey(link));
  return {
    ranks: found.waits,
    waits: waitRows(ends, labels, time),
    /** By channel, and by pair of ranks with all channels together. */
    links: linkRows(senders, ends, run, labels, arrivals),
    pairs: linkRows(pairSenders, allPairs, run, labels, arrivals),
    /** By pair. */
    sends: pairSenders.map(sendSeries),
    slowLinks: slowLinkRows(found.slow, rowOf),
    faults: found.faults,
    gpus: found.slowGpus,
    rowOf,
  };
}

/** The most bytes first. */
const senderEnds = <T extends Link>(ends: readonly T[]): T[] =>
  ends.filter(isSender).sort((a, b) => (b.bytes ?? 0) - (a.bytes ?? 0));
