/** What differs between two runs as plain data (schemas/report.md). Only differences larger than noise, the costliest first. */

import { changesBetween, type Changes } from '../analysis/changes.js';
import type { RankLabel } from '../runs/rank_labels.js';
import type { LinkLine } from '../analysis/latency_and_rate.js';
import type { Examined } from './examine.js';
import type { RunReport } from './run_report.js';

export interface RunDiff extends Changes {
  readonly version: 1;
  readonly before: DiffSide;
  readonly after: DiffSide;
  /** By pair of ranks, where both runs have a line: least time of a send = latency + size / rate. */
  readonly links: readonly {
    readonly comm: string;
    readonly source: RankLabel;
    readonly destination: RankLabel;
    readonly before: LinkLine;
    readonly after: LinkLine;
  }[];
}

/** One of the two runs. */
export interface DiffSide {
  readonly headline: string;
  readonly run: RunReport['run'];
  readonly files: readonly string[];
}

export function diffOf(before: Examined, after: Examined): RunDiff {
  const links = new Map(before.report.pairs.map((pair) => [linkKey(pair), pair.least]));
  return {
    version: 1,
    before: sideOf(before.report),
    after: sideOf(after.report),
    ...changesBetween(before.numbers, after.numbers),
    links: after.report.pairs.flatMap((pair) => {
      const [a, b] = [links.get(linkKey(pair)), pair.least];
      const { comm, source, destination } = pair;
      return a && b ? [{ comm, source, destination, before: a, after: b }] : [];
    }),
  };
}

export const linkKey = ({
  comm,
  source,
  destination,
}: RunDiff['links'][number] | RunReport['pairs'][number]): string =>
  JSON.stringify([comm, source, destination]);

const sideOf = ({ headline, run, made }: RunReport): DiffSide => ({
  headline,
  run,
  files: made.files.map(({ path }) => path),
});
