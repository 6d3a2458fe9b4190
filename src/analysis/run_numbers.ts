/**
 * All numbers of a report, besides the verdict: collectives, links, waits and lateness of one run. They are made from a study. Reads no file.
 */

import type { TraceNs } from '../base/time.js';
import { communicatorsOf, kindsOf } from '../runs/communicators.js';
import { joinRun } from '../cluster/join_run.js';
import { comparableBy } from '../clocks/comparable.js';
import { traceTimeOf } from '../clocks/domains.js';
import { runDuration } from '../trace/duration.js';
import { momentsOf, viewAround } from '../trace/moments.js';
import { latenessOf, suspectComm } from '../verdict/facts/suspects.js';
import type { Study } from '../study/study.js';
import { allToAllGroups, allToAlls } from './all_to_all.js';
import { causesOf } from './causes.js';
import { checkedPeaks, withAllowedRates, type AllowedRate, type Peaks } from './allowed_rate.js';
import { collectiveGroups, collectiveRows, type CollectiveGroup } from './collectives.js';
import { PartsCollector, type Lateness, type Picture } from './rank_parts.js';
import { rankLabels } from '../runs/rank_labels.js';
import { transfersOf } from './transfer_rows.js';

/** Why the run is slow, and from what this is seen. */
export type CauseNumbers = Readonly<ReturnType<typeof causeNumbers>>;

export interface RunNumbers extends CauseNumbers {
  readonly groups: readonly (CollectiveGroup & AllowedRate)[];
  readonly lateness: Lateness;
  readonly picture: Picture;
}

export function causeNumbers({ run, clocks, comms, links, verdict }: Study) {
  const { solution } = clocks;
  const labels = rankLabels(run);
  const comparable = comparableBy(solution);
  const durationNs = runDuration(run, solution);
  const times = run.members.map((_, file) => traceTimeOf(solution, file));
  const middle = (durationNs / 2) as TraceNs;
  const {
    ranks: rankWaits,
    rowOf,
    ...transfers
  } = transfersOf(
    run,
    links,
    labels,
    clocks.transferTimes,
    (file, tick) => times[file]!(tick),
    (sender, receiver) => comparable.clockBound(sender, receiver, middle),
  );
  const collectives = collectiveRows(comms, labels, comparable);
  const late = latenessOf(verdict);
  const known = { durationNs, collectives, allToAlls: allToAlls(run, labels), rankWaits, ...transfers };
  return {
    ...known,
    /** By file. */
    ranks: run.members.map((_, file) => labels.ofFile(file)),
    causes: causesOf({
      ...known,
      rowOf,
      late: late && labels.ofFile(late.file),
      filesOf: (rank) => run.members.flatMap((_, file) => (labels.ofFile(file) === rank ? [file] : [])),
      kindOf: kindsOf(communicatorsOf(run.members)),
    }),
  };
}

/** `peaks`: the hosts' rates from `--peak`. Throws UsageError if one of the hosts is not in the run. */
export function runNumbers(studied: Study, numbers: CauseNumbers, peaks?: Peaks): RunNumbers {
  const { run, clocks, ends, gpuLines, comms, verdict, aliases } = studied;
  const { solution } = clocks;
  const { durationNs, collectives, links } = numbers;
  const hosts = run.members.map(({ scan }) => scan.header.hostName);
  const known = checkedPeaks(peaks, hosts, aliases?.hosts ?? null);
  const bounds = { from: 0, to: durationNs };
  const moments = momentsOf(verdict, '', { run, bounds });
  const commId = suspectComm(verdict)?.commId ?? null;
  const about = { comms, commId: commId === null ? null : BigInt(commId), bounds };
  const view = viewAround(verdict, moments.main, about) ?? [0, Math.ceil(durationNs)];
  const parts = new PartsCollector(comms, comparableBy(solution), run.members.length, durationNs, view);
  joinRun(run, solution, ends, gpuLines, parts.heard);
  return {
    ...numbers,
    groups: withAllowedRates(
      [...collectiveGroups(collectives), ...allToAllGroups(numbers.allToAlls)],
      links,
      known,
    ),
    lateness: parts.lateness(),
    picture: parts.picture(),
  };
}
