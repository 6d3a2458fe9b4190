/**
 * The last step of a merge. It plans which part of a run is drawn, and makes the trace and its report from the blocks of all files. It does
 * not know where the blocks were made: in this process (merge.ts) or on many hosts (shards/).
 */

import { basename } from 'node:path';
import type { OnProgress } from './base/progress.js';
import type { Peaks } from './analysis/allowed_rate.js';
import { causeNumbers, runNumbers } from './analysis/run_numbers.js';
import type { DrawnBeside, ForeignReport } from './foreign/beside/beside.js';
import type { FoundDumps } from './pytorch/dump_files.js';
import { outputFailed, type Delivery } from './output/deliver.js';
import { diagnosisOf, type Diagnosis } from './report/diagnosis.js';
import { reportRank } from './report/rank_report.js';
import { countTrace, reportOutOfStep, type MergeReport, type TraceCounts } from './report/report.js';
import { runReport, type RunReport } from './report/run_report.js';
import type { Study } from './study/study.js';
import { drawAboveRanks, layoutOf, type Layout, type VerdictText } from './trace/above_ranks.js';
import type { Budget, Size } from './trace/budget.js';
import { mannerText } from './trace/commands.js';
import type { ConvertResult } from './trace/convert.js';
import { planDrawing, suggestDrawing, type Drawing, type DrawingOptions } from './trace/drawing.js';
import { runDuration } from './trace/duration.js';
import { tracePrologue } from './trace/labels.js';
import { assemble } from './trace/output.js';
import type { SelectionRequest } from './trace/selection.js';
import { reportSelection, selectionAttributes, type SelectionReport } from './trace/selection_report.js';
import { lookAtAttributes } from './trace/watched_rows.js';

/** How a trace is drawn, and what is reported about it. */
export interface FinishOptions {
  /** The part of the run to draw. If absent: as much of the run as the budget allows. */
  readonly select?: SelectionRequest | undefined;
  /** Limit of the trace's size if no detail was asked for. Default: what a browser opens in about 15 s. */
  readonly budget?: Budget | undefined;
  /** Limit of the trace's size for a requested detail. Beyond it the request is refused. Default: what a browser can open at all. */
  readonly utmost?: Size | undefined;
  readonly onProgress?: OnProgress | undefined;
  /** The verdict as text inside the trace, for people who have only the trace. */
  readonly texts?: ((found: Diagnosis) => VerdictText) | undefined;
  /** PyTorch's dumps of the run; null: none were given. */
  readonly dumps?: FoundDumps | null | undefined;
  /** What was drawn beside the ranks, at the end of the content. */
  readonly foreign?: Pick<DrawnBeside, 'reports' | 'drawn' | 'pictures'> | undefined;
  /** For the report: what the hosts' NICs can do. */
  readonly peaks?: Peaks | undefined;
  /** If present, the merge also makes a report, and collects the data that only a report needs. `pictures`: of training steps, for a page. */
  readonly onReport?: ((report: RunReport, pictures: DrawnBeside['pictures']) => void) | undefined;
}

/** The plan of the trace, made before a file is read for the second time. */
export interface PlannedTrace {
  readonly studied: Study;
  readonly drawing: Drawing;
  readonly layout: Layout;
}

/** Throws UsageError for a selection that does not exist, and for a detail that is too large. */
/** `beside`: how many files of other tools may be drawn. */
export function planTrace(studied: Study, options: DrawingOptions, beside = 0): PlannedTrace {
  const drawing = planDrawing(studied, options);
  return { studied, drawing, layout: layoutOf(studied, drawing, beside) };
}

/**
 * `blocks`: by file; null: the file is not drawn. `content`: the blocks' bytes in order, compressed like the trace. Throws OutputError,
 * Interrupted.
 */
export async function finishTrace(
  { studied, drawing, layout }: PlannedTrace,
  blocks: readonly (ConvertResult | null)[],
  content: AsyncIterable<Uint8Array>,
  delivery: Delivery,
  folder: string,
  options: FinishOptions & DrawingOptions & { readonly output: string; readonly problems: readonly string[] },
): Promise<MergeReport> {
  const { run, clocks, verdict } = studied;
  options.onProgress?.({ stage: 'write', files: null });
  const duration = runDuration(run, clocks.solution);
  const selection = reportSelection(studied, drawing, blocks);
  const seen = causeNumbers(studied);
  const diagnosis = diagnosisOf(studied, suggestDrawing(studied, options), options.dumps, seen);
  const texts = (options.texts ?? plainTexts)(diagnosis);
  const foreign = options.foreign ?? { reports: [], drawn: [], pictures: [] };
  const refused = foreign.reports.flatMap((one) => ('refused' in one ? [one.why] : []));
  // People run the commands in a report later, and in another folder. So these commands write to the default place.
  const suggestion = options.onReport ? suggestDrawing(studied, { ...options, output: undefined }) : null;
  if (options.onReport) {
    const numbers = runNumbers(studied, seen, options.peaks);
    const steps = foreign.reports.flatMap((one) => ('refused' in one ? [] : one.exposed));
    const found = { ...diagnosis, suggestion };
    const report = runReport(studied, found, mannerText(options), numbers, { steps, refused });
    options.onReport(report, foreign.pictures);
  }
  const above = drawAboveRanks(studied, drawing, layout, blocks, texts);
  const trace = countTrace(blocks, above, foreign.drawn);
  const { slices } = trace;
  const head = tracePrologue(run, clocks.solution, verdict, slices, [
    ...lookAtAttributes(layout.watches),
    ...(texts.report === '' ? [] : [['nccl_trace.report', texts.report] as const]),
    ['nccl_trace.startup', above.startup],
    ...selectionAttributes(selection, run),
  ]);
  const prologue = Buffer.concat([head, above.bytes]);
  const bytes = await assemble(delivery, folder, prologue, content, slices).catch(
    outputFailed(options.output),
  );
  const output = options.redact ? basename(options.output) : options.output;
  const { startup } = above;
  const problems = [...options.problems, ...(options.dumps?.problems ?? []), ...refused];
  return reportMerge(studied, {
    output,
    startup,
    bytes,
    duration,
    blocks,
    trace,
    selection,
    diagnosis,
    foreign: foreign.reports,
    problems,
  });
}

const plainTexts = ({ verdict }: Diagnosis): VerdictText => ({
  report: '',
  headline: verdict.kind.toUpperCase(),
  findings: [],
  aboutCall: [],
});

/** The result of the merge, without the facts that the study has already. */
interface Merged {
  readonly output: string;
  readonly startup: string;
  readonly bytes: number;
  /** ns. */
  readonly duration: number;
  /** By file; null: not drawn. */
  readonly blocks: readonly (ConvertResult | null)[];
  readonly trace: TraceCounts;
  readonly selection: SelectionReport;
  readonly diagnosis: Diagnosis;
  readonly foreign: readonly ForeignReport[];
  /** Problems found while looking for files. */
  readonly problems: readonly string[];
}

function reportMerge(
  { run, clocks, records, ends, origins }: Study,
  { duration: durationNs, blocks, diagnosis, problems, ...merged }: Merged,
): MergeReport {
  const { unusable, traffic } = diagnosis;
  return {
    ...{ version: 3, ...diagnosis, ...merged, durationNs, records },
    ranks: run.members.map((member, i) => reportRank(member, ends[i]!, origins[i]!, blocks[i] ?? null)),
    outOfStep: reportOutOfStep(clocks.broken.outOfStep, run),
    problems: [...problems, ...unusable, ...run.problems, ...(traffic?.leftOut ?? [])],
  };
}
