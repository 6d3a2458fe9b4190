/**
 * What `merge` did and what the trace does not show, as plain data: the closing report prints it, `--summary` writes it as JSON
 * (schemas/trace.md). The trace's numbers equal those of trace_processor.
 */

import { hex64 } from '../base/hex.js';
import type { AboveRanks } from '../trace/above_ranks.js';
import { countArrows, countSelectedArrows } from '../trace/tracks/flow_census.js';
import type { Run } from '../runs/run.js';
import type { OutOfStep } from '../clocks/evidence/run_clocks.js';
import type { ConvertResult } from '../trace/convert.js';
import type { RankReport } from './rank_report.js';
import type { DrawnBeside, ForeignReport } from '../foreign/beside/beside.js';
import type { Diagnosis } from './diagnosis.js';
import type { SelectionReport } from '../trace/selection_report.js';

export type TraceCounts = Readonly<ReturnType<typeof countTrace>>;

/** A connection that has no arrows after some operation, because its two ends belong to different work. */
export interface OutOfStepReport {
  /** 16 hexadecimal digits. */
  readonly commId: string;
  readonly comm: string;
  readonly channel: number;
  /** Ranks in the communicator. */
  readonly source: number;
  readonly destination: number;
  /** The ordinal of its first such operation on this connection. */
  readonly ordinal: number;
  /** Number from there on. */
  readonly operations: number;
}

export function reportOutOfStep(found: readonly OutOfStep[], run: Run): OutOfStepReport[] {
  const names = new Map(
    run.members.flatMap(({ scan }) => scan.communicators.map(({ commId, name }) => [commId, name] as const)),
  );
  return found.map(({ commId, from, ...one }) => ({
    ...one,
    commId: hex64(commId),
    comm: names.get(commId) ?? '',
    ordinal: from,
  }));
}

/** Its verdict's files are indices into `ranks`, its times ns after `traceStart`. */
export interface MergeReport extends Omit<Diagnosis, 'ranks'> {
  readonly version: 3;
  readonly output: string;
  /** The Perfetto UI's first screen of the trace: part of its URL (trace/startup.ts). */
  readonly startup: string;
  readonly bytes: number;
  readonly durationNs: number;
  readonly records: number;
  readonly trace: TraceCounts;
  readonly selection: SelectionReport;
  readonly ranks: readonly RankReport[];
  readonly outOfStep: readonly OutOfStepReport[];
  /** Files of other tools, in the order of the command line. */
  readonly foreign: readonly ForeignReport[];
}

/** `files`: their blocks; null: not drawn. `foreign`: of files of other tools. */
export function countTrace(
  files: readonly (ConvertResult | null)[],
  above: Pick<AboveRanks, 'counts' | 'processes' | 'arrows'>,
  foreign: DrawnBeside['drawn'],
) {
  const blocks = files.filter((block) => block !== null);
  const sum = (
    field: 'slices' | 'openSlices' | 'instants' | 'counterSamples' | 'states' | 'tracksWithData',
  ): number =>
    [...above.counts, ...[...blocks, ...foreign].map(({ counts }) => counts)].reduce(
      (total, one) => total + one[field],
      0,
    );
  return {
    slices: sum('slices'),
    openSlices: sum('openSlices'),
    instants: sum('instants'),
    counterSamples: sum('counterSamples'),
    states: sum('states'),
    flows: arrows(blocks, foreign) + above.arrows,
    tracks: sum('tracksWithData'),
    processes: blocks.length + above.processes,
  };
}

function arrows(blocks: readonly ConvertResult[], foreign: DrawnBeside['drawn']): number {
  const ends = blocks.flatMap(({ selected }) => (selected ? [selected.flowEnds] : []));
  if (ends.length > 0)
    return countSelectedArrows([...ends, ...foreign.flatMap(({ flowEnds }) => flowEnds ?? [])]);
  const own = foreign.reduce((sum, one) => sum + one.arrows, 0);
  return countArrows(blocks.map(({ flows }) => flows)) + own;
}
