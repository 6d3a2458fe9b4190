/**
 * Makes a recording of one machine look like a recording of several hosts, and checks the solved clocks against the
 * truth. The truth is known because all ranks read one counter before they were skewed.
 */

import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pieceAt } from '../../../src/clocks/corrections.js';
import { toLocal, traceTimeOf } from '../../../src/clocks/domains.js';
import {
  solveRunClocks,
  type ClockOptions,
  type RunClocks,
} from '../../../src/clocks/evidence/run_clocks.js';
import { chooseRun, type Run } from '../../../src/runs/run.js';
import { scanFile } from '../../../src/scan/scan.js';
import { STEP_ROW } from '../../../src/scan/step_file.js';
import { joinTransfers, linksBetween } from '../../../src/clocks/evidence/joined_transfers.js';
import { seeded, type Check } from './simulated_links.js';
import { skewFile, startTick, type Skew } from './skew.js';

export interface SkewedRun {
  readonly files: readonly string[];
  readonly skews: readonly Skew[];
  /** A value of the counter before it was skewed. */
  readonly origin: bigint;
}

/** A host per rank: counters up to 50 ms apart and 50 ppm off, wall clocks some ms wrong. */
export function drawSkews(seed: number, hosts: number, hz: number): Skew[] {
  const random = seeded(seed);
  return Array.from({ length: hosts }, (_, host) => {
    const wall = (random() - 0.5) * 10e6;
    return {
      hostName: `node${String(host).padStart(3, '0')}`,
      bootId: (host + 1).toString(16).padStart(32, '0'),
      offsetTicks: Math.round((random() - 0.5) * 0.1 * hz),
      ppm: (random() - 0.5) * 100,
      wallError: () => wall,
    };
  });
}

/** Writes the files of `source`, in order, with these skews. If there are more files than skews, the skews are used again. */
export function skewRun(source: string, target: string, skews: readonly Skew[]): SkewedRun {
  mkdirSync(target, { recursive: true });
  const names = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.bin'))
    .sort();
  const origin = names.map((name) => startTick(join(source, name))).reduce((a, b) => (b < a ? b : a));
  const files = names.map((name, i) => {
    const file = join(target, `rank${String(i).padStart(5, '0')}.bin`);
    skewFile(join(source, name), file, skews[i % skews.length]!, origin);
    return file;
  });
  return { files, skews, origin };
}

export interface SolvedRun extends RunClocks {
  readonly run: Run;
}

/** Side files go to `folder`. */
export function solveFiles(files: readonly string[], folder: string, options: ClockOptions = {}): SolvedRun {
  mkdirSync(folder, { recursive: true });
  const paths = new Map(files.map((file, i) => [file, join(folder, `steps-${i}`)]));
  const scans = files.map((file) => scanFile(file, { path: paths.get(file)!, every: true }));
  const run = chooseRun(scans);
  const stepPaths = run.members.map(({ scan }) => paths.get(scan.path)!);
  return { run, ...solveRunClocks(run, stepPaths, options) };
}

/** Every pair of ends that counts, named by the ticks at which both ends were seen. No two pairs have the same ticks. */
export function pairsOf(files: readonly string[], folder: string): Set<string> {
  mkdirSync(folder, { recursive: true });
  const sources = files.map((file, i) => {
    const path = join(folder, `steps-${i}`);
    return { path, connections: scanFile(file, { path, every: true }).steps };
  });
  const pairs = new Set<string>();
  const links = linksBetween(sources, (sender, receiver) => sender !== receiver);
  joinTransfers(sources, links, ({ sender, receiver }, send, receive, agreement) => {
    if (agreement === 'agree')
      pairs.add(`${sender} ${send[STEP_ROW.seen]!} ${receiver} ${receive[STEP_ROW.seen]!}`);
  });
  return pairs;
}

/** How much later than the first member another one is shown, in ns, at instants of the run. 0 would be right. */
export function placedErrors(skewed: SkewedRun, solved: SolvedRun, member: number): number[] {
  const counters = Array.from({ length: 21 }, (_, i) => i * 1e8);
  return counters.map(
    (counter) => shownAt(skewed, solved, member, counter) - shownAt(skewed, solved, 0, counter),
  );
}

/** The trace time of a member at a value of the common counter. */
const shownAt = (skewed: SkewedRun, solved: SolvedRun, member: number, counter: number): number =>
  traceTimeOf(solved.solution, member)(tickAt(skewed, solved, member, counter));

/** The tick of a member's file at a value of the common counter. */
function tickAt(skewed: SkewedRun, { run }: SolvedRun, member: number, counter: number): number {
  const { path, header } = run.members[member]!.scan;
  const { offsetTicks, ppm } = skewOf(skewed, path);
  return offsetTicks + counter + counter * ppm * 1e-6 - Number(header.tickBase - skewed.origin);
}

const skewOf = ({ skews, files }: SkewedRun, path: string): Skew =>
  skews[files.indexOf(path) % skews.length]!;

/**
 * Least true delays of the smallest transfers, one per link, in ns. The estimate assumes that they are equal. On a busy
 * machine they are not. Each domain is one file.
 */
export function leastDelays(skewed: SkewedRun, { run, solution, traffic }: SolvedRun): number[] {
  const { edges, evidence } = traffic!;
  // One rate for all: each process measured the rate of the same counter, with a small error.
  const hz = run.members[0]!.scan.header.tickHz;
  const trueTime = (domain: number, axis: number): number => {
    const file = solution.domains[domain]!.files[0]!;
    const { scan } = run.members[file]!;
    const { offset, nsPerTick } = solution.scales[file]!;
    const skew = skewOf(skewed, scan.path);
    const base = Number(scan.header.tickBase - skewed.origin);
    const shown = (axis - evidence.coarse[domain]! - offset) / nsPerTick + base;
    return ((shown - skew.offsetTicks) / (1 + skew.ppm * 1e-6)) * (1e9 / hz);
  };
  const least = new Map<string, number>();
  for (const { from, to, kind, like, windows } of edges) {
    if (kind !== 'data' || !like.endsWith('up to 8 KiB')) continue;
    for (const { hull } of windows) {
      for (let i = 0; i < hull.length; i += 2) {
        const delay = trueTime(to, hull[i]! + hull[i + 1]!) - trueTime(from, hull[i]!);
        least.set(`${from} ${to}`, Math.min(least.get(`${from} ${to}`) ?? Infinity, delay));
      }
    }
  }
  return [...least.values()];
}

/** All pairs of files of one group, at instants over the span of the evidence. */
export function checkRun(skewed: SkewedRun, solved: SolvedRun): Check[] {
  const { run, solution, traffic } = solved;
  if (!traffic) return [];
  const { alignment, evidence } = traffic;
  const { knots } = alignment;
  const checks: Check[] = [];
  const first = solution.domainOf[0]!;
  const firstLocal = toLocal(solution.scales[0]!, tickAt(skewed, solved, 0, 0));
  const hz = run.members[0]!.scan.header.tickHz;
  for (let i = 0; i <= 20; i++) {
    const axis = knots.first + (knots.step * (knots.count - 1) * i) / 20;
    // The counter value at which the first member shows that time. It need not be exact, because the truth comes from the counter.
    const counter = ((axis - evidence.coarse[first]! - firstLocal) * hz) / 1e9;
    const at = (member: number): number => shownAt(skewed, solved, member, counter);
    for (let a = 0; a < run.members.length; a++) {
      for (let b = a + 1; b < run.members.length; b++) {
        const [from, to] = [solution.domainOf[a]!, solution.domainOf[b]!];
        if (from === to || alignment.references[from] !== alignment.references[to]) continue;
        const error = at(b) - at(a);
        const { below, above } = alignment.hardBetween(from, to, pieceAt(alignment.spans, axis));
        const likely = Math.min(Math.max(below, above), alignment.likely(from, to, pieceAt(knots, axis)));
        checks.push({
          a,
          b,
          error,
          insideHard: error <= above + 2 && error >= -below - 2,
          insideLikely: Math.abs(error) <= likely + 2,
          hardHalfWidth: (below + above) / 2,
          likelyHalfWidth: likely,
        });
      }
    }
  }
  return checks;
}
