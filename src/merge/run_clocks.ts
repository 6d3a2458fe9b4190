/**
 * The clocks of one run: wall clocks and, where ranks are on several hosts, the transfers between them. With the solution
 * in hand every transfer between hosts is looked at once more, in whole nanoseconds as it will be drawn.
 */

import { ticks } from '../base/time.js';
import { ALIGNMENT_DEFAULTS, type AlignmentOptions } from '../clocks/alignment.js';
import { toTrace } from '../clocks/clock_map.js';
import { clockAxes, solveClocks, toLocal, type ClockSolution, type ClockWitness } from '../clocks/domains.js';
import { connectionHash, operationId, transferId, transferName } from '../tracks/identity.js';
import {
  alignByEvidence,
  collectEvidence,
  type Aligned,
  type ClockEvidence,
  type EvidenceSource,
} from './clock_evidence.js';
import type { Run } from './run.js';
import { STEP_ROW } from './step_file.js';
import { joinTransfers, linksBetween, type StepSource } from './transfers.js';

export interface RunClocks {
  readonly solution: ClockSolution;
  /** null: one host, or wall clocks were asked for. */
  readonly traffic: TrafficClocksFound | null;
}

export interface TrafficClocksFound extends Aligned {
  readonly evidence: ClockEvidence;
  readonly broken: BrokenTransfers;
}

/** Transfers between hosts whose arrow would be wrong. */
export interface BrokenTransfers {
  /** Ids for the second pass. */
  readonly names: ReadonlySet<string>;
  /** By pair of domains, "from to": received before sent. */
  readonly backwards: ReadonlyMap<string, number>;
  /** Their two ends tell of different operations or sizes. */
  readonly mismatched: number;
}

export interface ClockOptions {
  /** 'realtime': wall clocks only. */
  readonly clock?: 'auto' | 'realtime' | undefined;
  /** Relative spread of minimum delays of like links. */
  readonly alike?: number | undefined;
}

/** `stepPaths`: the side file of each member, as far as scans wrote one. */
export function solveRunClocks(
  run: Run,
  stepPaths: readonly string[],
  { clock, alike }: ClockOptions,
): RunClocks {
  const witnesses = run.members.map(({ scan }, file): ClockWitness => ({
    file,
    header: scan.header,
    samples: scan.clockSamples,
  }));
  const axes = clockAxes(witnesses);
  if (clock === 'realtime' || axes.names.length < 2)
    return { solution: solveClocks(witnesses), traffic: null };
  const sources = run.members.map(({ scan }, file): EvidenceSource => ({
    path: stepPaths[file]!,
    connections: scan.steps,
    header: scan.header,
    beacons: scan.beacons,
    communicators: scan.communicators,
    works: scan.works,
    workEnds: scan.workEnds,
    rings: scan.rings,
  }));
  const evidence = collectEvidence(sources, axes);
  const options: AlignmentOptions = { ...ALIGNMENT_DEFAULTS, ...(alike === undefined ? {} : { alike }) };
  const aligned = alignByEvidence(axes.names.length, evidence, options);
  const solution = solveClocks(witnesses, { alignment: aligned.alignment, coarse: evidence.coarse });
  return { solution, traffic: { ...aligned, evidence, broken: findBroken(sources, solution) } };
}

/** All pairs between domains of one group, also those that were no evidence. */
function findBroken(sources: readonly StepSource[], solution: ClockSolution): BrokenTransfers {
  const domain = (file: number) => solution.domains[solution.domainOf[file]!]!;
  const time = (file: number, tick: number): number =>
    toTrace(domain(file).map, toLocal(solution.scales[file]!, ticks(tick)));
  const links = linksBetween(
    sources,
    (a, b) => solution.domainOf[a] !== solution.domainOf[b] && domain(a).group === domain(b).group,
  );
  const names = new Set<string>();
  const backwards = new Map<string, number>();
  let mismatched = 0;
  joinTransfers(sources, links, ({ sender, receiver, sends }, send, receive, agreement) => {
    const arrives = time(receiver, receive[STEP_ROW.told]!);
    const isBackwards = arrives < time(sender, send[STEP_ROW.before]!);
    const isMismatched = agreement === 'sizesDiffer' || agreement === 'operationsDiffer';
    if (!isBackwards && !isMismatched) return;
    const operation = operationId(connectionHash(sends), send[STEP_ROW.ordinal]!);
    names.add(transferName(transferId(operation, send[STEP_ROW.step]!)));
    if (isMismatched) mismatched++;
    else {
      const key = `${solution.domainOf[sender]!} ${solution.domainOf[receiver]!}`;
      backwards.set(key, (backwards.get(key) ?? 0) + 1);
    }
  });
  return { names, backwards, mismatched };
}
