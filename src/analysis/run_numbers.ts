/**
 * All numbers of a report, besides the verdict: collectives, links, waits and lateness of one run. They are made from a study whose scans
 * collected data for a report. Reads no file.
 */

import type { TraceNs } from '../base/time.js';
import { joinRun } from '../cluster/join_run.js';
import { traceTimeOf } from '../clocks/domains.js';
import { runDuration } from '../trace/duration.js';
import { momentsOf, viewAround } from '../trace/moments.js';
import { suspectComm } from '../verdict/evidence/suspects.js';
import type { Study } from '../study/study.js';
import { causesOf, type Cause } from './causes.js';
import { checkedPeaks, withAllowedRates, type AllowedRate, type Peaks } from './allowed_rate.js';
import { collectiveGroups, collectiveRows, type CollectiveGroup, type CollectiveRow } from './collectives.js';
import { comparableBy } from './comparable.js';
import type { SendSeries } from './over_time.js';
import { PartsCollector, type Lateness, type Picture } from './rank_parts.js';
import { rankLabels, type RankLabel } from './rank_labels.js';
import type { SlowLinkRow } from './slow_link_rows.js';
import type { LinkRow } from './link_rows.js';
import type { RankWaits } from './rank_waits.js';
import { transfersOf } from './transfers.js';
import type { WaitRow } from './wait_rows.js';

export interface RunNumbers {
  readonly durationNs: number;
  /** By file. */
  readonly ranks: readonly RankLabel[];
  readonly collectives: readonly CollectiveRow[];
  readonly groups: readonly (CollectiveGroup & AllowedRate)[];
  readonly lateness: Lateness;
  readonly picture: Picture;
  readonly rankWaits: readonly RankWaits[];
  readonly waits: readonly WaitRow[];
  readonly links: readonly LinkRow[];
  /** All channels of a pair of ranks together. */
  readonly pairs: readonly LinkRow[];
  /** By pair. */
  readonly sends: readonly (readonly SendSeries[])[];
  readonly slowLinks: readonly SlowLinkRow[];
  readonly causes: readonly Cause[];
}

/** `peaks`: the hosts' rates from `--peak`. Throws UsageError if one of the hosts is not in the run. */
export function runNumbers(studied: Study, peaks?: Peaks): RunNumbers {
  const { run, clocks, ends, gpuLines, comms, verdict, aliases } = studied;
  const hosts = run.members.map(({ scan }) => scan.header.hostName);
  const known = checkedPeaks(peaks, hosts, aliases?.hosts ?? null);
  const { solution } = clocks;
  const labels = rankLabels(run);
  const comparable = comparableBy(solution);
  const durationNs = runDuration(run, solution);
  const bounds = { from: 0, to: durationNs };
  const moments = momentsOf(verdict, '', { run, comms, bounds });
  const commId = suspectComm(verdict)?.commId ?? null;
  const about = { comms, commId: commId === null ? null : BigInt(commId), bounds };
  const view = viewAround(verdict, moments.all[moments.main]!, about) ?? [0, Math.ceil(durationNs)];
  const parts = new PartsCollector(comms, comparable, run.members.length, durationNs, view);
  joinRun(run, solution, ends, gpuLines, parts.heard);
  const times = run.members.map((_, file) => traceTimeOf(solution, file));
  const middle = (durationNs / 2) as TraceNs;
  const transfers = transfersOf(
    run,
    labels,
    clocks.transferTimes,
    (file, tick) => times[file]!(tick),
    (sender, receiver) => comparable.bound(sender, receiver, middle),
  );
  const collectives = collectiveRows(comms, labels, comparable);
  return {
    durationNs,
    ranks: run.members.map((_, file) => labels.ofFile(file)),
    collectives,
    groups: withAllowedRates(collectiveGroups(collectives), transfers.links, known),
    lateness: parts.lateness(),
    picture: parts.picture(),
    rankWaits: transfers.ranks,
    waits: transfers.waits,
    links: transfers.links,
    pairs: transfers.pairs,
    sends: transfers.sends,
    slowLinks: transfers.slowLinks,
    causes: causesOf({
      ...{ collectives, durationNs, links: transfers.links, slowLinks: transfers.slowLinks },
      ...{ rankWaits: transfers.ranks, waits: transfers.waits },
      slow: verdict.kind === 'slow' ? verdict.slow : null,
      rankOf: labels.ofFile,
    }),
  };
}
