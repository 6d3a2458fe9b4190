/** Counts what was selected and left out, for the report, the summary and the trace's attributes. */

import { entryOf } from '../base/grouped.js';
import { maxOf } from '../base/extremes.js';
import { durationText } from '../base/duration.js';
import { DETAILS, type Detail } from '../model/detail.js';
import type { DrawPlan, Window } from './tracks/selection.js';
import { timeText, secondsText } from './commands.js';
import type { ConvertResult } from './convert.js';
import type { Drawing } from './drawing.js';
import type { RankScan } from '../scan/scan.js';
import type { SelectionRequest } from './selection.js';
import { DRAWN_KINDS, type DrawnKind } from '../scan/drawn_size.js';
import type { Study } from '../study/study.js';
import { rangesOf, rangesText } from './asked_times.js';

/** ns after the trace's start; null: without limit. */
export type WindowReport = readonly [from: number | null, to: number | null];

/** Ranks of which the same times are drawn. null: nothing of that detail is drawn. */
export interface DrawnAlike {
  /** Files, indices into `ranks` of the report. */
  readonly files: readonly number[];
  readonly windows: Readonly<Record<Detail, WindowReport | null>>;
}

export type SelectionReport = Readonly<ReturnType<typeof reportSelection>>;

/** `blocks`: by file. */
export function reportSelection(
  { run }: Study,
  { request, scope, decision, rest }: Drawing,
  blocks: readonly (ConvertResult | null)[],
) {
  const leftOut = { coll: 0, op: 0, step: 0 };
  run.members.forEach(({ scan }, file) => {
    const block = blocks[file];
    if (block?.selected === null) return;
    for (const detail of DETAILS)
      // A call that was cut and continued is two slices. Such extra slices must not reduce the number of slices left out.
      leftOut[detail] += Math.max(0, slicesOf(scan, detail) - (block?.selected?.slices[detail] ?? 0));
  });
  return {
    /** The request, as options; empty: none. */
    asked: askedText(request),
    /** The whole run is drawn. */
    isWhole: blocks.every((block) => block !== null && block.selected === null),
    /** Less is drawn than requested, because it would not fit a browser. */
    isReduced: decision.isReduced,
    /** Requested by number, but without a file. */
    absentRanks: scope.absentRanks,
    /** Drawn files, by what is drawn. */
    drawn: drawnAlike(decision.plans),
    leftOut: { files: blocks.filter((block) => block === null).length, slices: leftOut },
    /** Estimates before drawing: of this drawing, and of the whole request. */
    estimate: decision.size,
    estimateOfAll: decision.whole,
    /** Draws what the budget left out; null: nothing, or no browser can open it. */
    rest,
  };
}

/** Slices in a file's whole trace, without instants. */
export function slicesOf(
  { size, endlessOps }: Pick<RankScan, 'size' | 'endlessOps'>,
  detail: Detail,
): number {
  let slices = detail === 'op' ? -endlessOps : 0;
  for (const { counts } of size.comms)
    for (const [kind, depth] of Object.entries(DRAWN_KINDS) as [DrawnKind, Detail][])
      if (depth === detail && kind !== 'ctrl') slices += counts[kind].total;
  return slices;
}

function drawnAlike(plans: readonly (DrawPlan | null)[]): DrawnAlike[] {
  const groups = new Map<string, { files: number[]; windows: DrawnAlike['windows'] }>();
  plans.forEach((plan, file) => {
    if (!plan) return;
    const { coll, op, step } = plan.windows;
    const windows = { coll: windowReport(coll), op: windowReport(op), step: windowReport(step) };
    const key = JSON.stringify(windows);
    entryOf(groups, key, () => ({ files: [], windows })).files.push(file);
  });
  return [...groups.values()];
}

function windowReport(window: Window | null): WindowReport | null {
  const limit = (at: number): number | null => (Number.isFinite(at) ? Math.round(at) : null);
  return window && [limit(window.from), limit(window.to)];
}

function askedText({ ranks, comms, from, to, around, last, detail }: SelectionRequest): string {
  const texts: string[] = [];
  if (ranks) texts.push(`ranks ${rangesText(ranks)}`);
  if (comms) texts.push(`communicator ${comms.join(', ')}`);
  if (from) texts.push(`from ${timeText(from)}`);
  if (to) texts.push(`to ${timeText(to)}`);
  if (around) texts.push(`${secondsText(around.halfNs)} around ${timeText(around.at)}`);
  if (last !== undefined) texts.push(`the last ${secondsText(last)}`);
  if (detail) texts.push(`detail ${detail}`);
  return texts.join('; ');
}

/** What a browser has no room for, of most ranks, in the words of the trace itself. `until`: ns, from then on all is drawn. */
export interface NotDrawn {
  readonly what: string;
  readonly until: number;
}

/** null: nothing was left out to fit a browser. */
export function notDrawn({ decision: { isReduced, plans } }: Drawing, durationNs: number): NotDrawn | null {
  if (!isReduced) return null;
  const [most] = drawnAlike(plans).sort((a, b) => b.files.length - a.files.length);
  const begins = (['coll', 'op', 'step'] as const).map((detail) => {
    const window = most?.windows[detail] ?? null;
    return { name: DETAIL_NAMES[detail], from: window === null ? durationNs : (window[0] ?? 0) };
  });
  const parts = begins
    .filter(({ from }) => from > 0)
    .map(({ name, from }) => (from >= durationNs ? name : `${name} before ${durationText(from)}`));
  if (parts.length === 0) return null;
  return { what: parts.join(', '), until: maxOf(begins.map(({ from }) => from)) };
}

export const DETAIL_NAMES = { coll: 'calls', op: 'operations', step: 'steps' } as const;

/** Attributes for the trace itself, because its reader must know that it is only a part. Empty for a whole trace. */
export function selectionAttributes(
  report: SelectionReport,
  { members }: Study['run'],
): (readonly [string, string | number])[] {
  const { asked, isWhole, isReduced, leftOut, drawn } = report;
  const rings = members.flatMap(({ scan }) => scan.rings);
  const unread = rings.reduce((sum, ring) => sum + ring.unread, 0);
  if (isWhole) return [];
  const { coll, op, step } = leftOut.slices;
  const ranks = drawn.flatMap(({ files }) => files.flatMap((file) => members[file]!.ranks));
  return [
    ['nccl_trace.selection', asked || 'everything'],
    ['nccl_trace.reduced', isReduced ? 'yes' : 'no'],
    ['nccl_trace.ranks_drawn', rangesText(rangesOf(ranks))],
    ['nccl_trace.slices_left_out', coll + op + step],
    ...(unread === 0 ? [] : [['nccl_trace.slots_not_read', unread] as const]),
  ];
}
