/**
 * How much of the selection is drawn. A detail that the user asks for is drawn or refused, never lowered. Otherwise the budget decides:
 *
 *   1  collectives and calls of all ranks                    (the longest time before the end that fits)
 *   2  the suspects' last 10 s in full, else their last second  (the most suspect first)
 *   3  all ranks in full, for the longest time that fits, from a second up
 *   4  if a second does not fit: operations of all ranks likewise, and the last second in full rank by rank
 *   5  more of the suspects, up to the whole run
 *   6  more operations of all ranks
 *
 * until the budget is spent. The last 10 s end when anything last moved (for a hang: the time before it), or at the end of the selection.
 */

import { commKey } from '../model/identity.js';
import type { ClusterComm } from '../cluster/collective_view.js';
import type { TraceNs } from '../base/time.js';
import type { Detail } from '../model/detail.js';
import type { DrawPlan, Window, Windows } from './tracks/selection.js';
import { added, clusterSize, fits, sizeOf, type Budget, type Size, type SizedFile } from './budget.js';
import type { Scope } from './selection.js';

export interface DrawQuestion {
  readonly files: readonly SizedFile[];
  readonly cluster: readonly ClusterComm[];
  readonly scope: Scope;
  /** Files, the most suspect first. */
  readonly suspects: readonly number[];
  /** Time of the last move, and the end of the run: ns of the trace. */
  readonly lastMove: number;
  readonly end: number;
  readonly detail: Detail | undefined;
  readonly budget: Budget;
}

export interface DrawDecision {
  /** By file; null: not drawn. */
  readonly plans: readonly (DrawPlan | null)[];
  readonly cluster: DrawPlan;
  /** Size of this plan, and of the whole selection. */
  readonly size: Size;
  readonly whole: Size;
  /** The budget makes the drawing smaller than the selection. */
  readonly isReduced: boolean;
}

const LAST_NS = 10e9;
const LEAST_NS = 1e9;
/** A stretch is halved at most this often. */
const MOST_HALVINGS = 12;
/** Exact to a thirtieth of the stretch. */
const REFINEMENTS = 5;

export function decide(question: DrawQuestion): DrawDecision {
  const { scope, detail, budget } = question;
  const whole = new Draft(question, downTo('step', scope.window));
  const wholeSize = whole.size();
  if (detail !== undefined) {
    const draft = new Draft(question, downTo(detail, scope.window));
    return { ...draft.result(), whole: wholeSize, isReduced: false };
  }
  if (fits(wholeSize, budget)) return { ...whole.result(), whole: wholeSize, isReduced: false };
  return { ...reduced(question).result(), whole: wholeSize, isReduced: true };
}

function reduced(question: DrawQuestion): Draft {
  const { scope, suspects } = question;
  const lastMove = Math.min(question.lastMove, scope.window.to);
  const draft = new Draft(question, downTo('coll', collectivesThatFit(question)));
  const drawn = suspects.filter((file) => scope.files.includes(file));
  const others = scope.files.filter((file) => !drawn.includes(file));
  const lastOf = (span: number): Window => since(scope.window, lastMove - span);
  const longest = lastMove - Math.max(scope.window.from, 0);
  for (const file of drawn) draft.deepen([file], 'step', [lastOf(LAST_NS), lastOf(LEAST_NS)]);
  if (!widen(draft, scope.files, 'step', lastOf, longest)) {
    // A second of all ranks does not fit: draw their operations, and the steps of as many ranks as fit.
    widen(draft, scope.files, 'op', lastOf, longest);
    for (const file of others) if (!draft.deepen([file], 'step', [lastOf(LEAST_NS)])) break;
  }
  for (const file of drawn) widen(draft, [file], 'step', lastOf, longest);
  widen(draft, scope.files, 'op', lastOf, longest);
  return draft;
}

/** Finds the longest stretch that fits, by doubling and then halving the rest; false: the shortest does not fit. */
function widen(
  draft: Draft,
  files: readonly number[],
  detail: Detail,
  lastOf: (span: number) => Window,
  longest: number,
): boolean {
  if (files.length === 0) return true;
  let fitting = 0;
  let span = LEAST_NS;
  while (draft.deepen(files, detail, [lastOf(Math.min(span, longest))])) {
    fitting = span;
    if (span >= longest) return true;
    span *= 2;
  }
  if (fitting === 0) return false;
  let tooLong = Math.min(span, longest);
  for (let i = 0; i < REFINEMENTS; i++) {
    const middle = (fitting + tooLong) / 2;
    if (draft.deepen(files, detail, [lastOf(middle)])) fitting = middle;
    else tooLong = middle;
  }
  return true;
}

function collectivesThatFit(question: DrawQuestion): Window {
  const { scope, budget } = question;
  // A shorter time has as many tracks: ignore these.
  const enough = { ...budget, tracks: Infinity };
  const windows = [scope.window, ...halves(question, LEAST_NS)];
  const fitting = windows.find((window) => fits(new Draft(question, downTo('coll', window)).size(), enough));
  return fitting ?? windows.at(-1)!;
}

/** Ever shorter stretches with the selection's end. */
function halves({ scope: { window }, end }: DrawQuestion, least: number): Window[] {
  const from = Math.max(window.from, 0);
  const to = Math.min(window.to, end);
  const windows: Window[] = [];
  for (let span = (to - from) / 2; span >= least && windows.length < MOST_HALVINGS; span /= 2)
    windows.push(since(window, to - span));
  return windows;
}

const since = (window: Window, from: number): Window => ({
  from: (from <= Math.max(window.from, 0) ? window.from : Math.round(from)) as TraceNs,
  to: window.to,
});

function downTo(detail: Detail, window: Window): Windows {
  return {
    coll: window,
    op: detail === 'coll' ? null : window,
    step: detail === 'step' ? window : null,
  };
}

/** A plan while it is made. */
class Draft {
  private readonly windows: (Windows | null)[];
  private readonly clusterPlan: DrawPlan;
  private readonly sized: { readonly windows: Windows; readonly size: Size }[] = [];

  constructor(
    private readonly question: DrawQuestion,
    windows: Windows,
  ) {
    const { files, scope, cluster } = question;
    const isDrawn = new Set(scope.files);
    this.windows = files.map((_, file) => (isDrawn.has(file) ? windows : null));
    const drawn = cluster.filter((comm) => comm.files.some((file) => isDrawn.has(file))).map(commKey);
    const selected = drawn.filter((key) => scope.comms?.has(key) ?? true);
    this.clusterPlan = { windows, comms: selected.length === cluster.length ? null : new Set(selected) };
  }

  /** Takes the first of the windows that fits completely; false: none does. It never removes anything. */
  deepen(files: readonly number[], detail: Detail, windows: readonly Window[]): boolean {
    const before = files.map((file) => this.windows[file]!);
    for (const window of windows) {
      files.forEach((file, i) => {
        this.windows[file] = deeper(before[i]!, downTo(detail, window));
      });
      if (fits(this.size(), this.question.budget)) return true;
    }
    files.forEach((file, i) => {
      this.windows[file] = before[i]!;
    });
    return false;
  }

  size(): Size {
    const { files, cluster, scope } = this.question;
    let sum = clusterSize(cluster, this.clusterPlan);
    this.windows.forEach((windows, file) => {
      if (!windows) return;
      // Most files have not changed since the last call.
      if (this.sized[file]?.windows !== windows)
        this.sized[file] = { windows, size: sizeOf(files[file]!, { windows, comms: scope.comms }) };
      sum = added(sum, this.sized[file].size);
    });
    const { slices, tracks, bytes } = sum;
    return { slices: Math.round(slices), tracks: Math.round(tracks), bytes: Math.round(bytes) };
  }

  result(): Pick<DrawDecision, 'plans' | 'cluster' | 'size'> {
    return { plans: this.plans(), cluster: this.clusterPlan, size: this.size() };
  }

  private plans(): (DrawPlan | null)[] {
    const { comms } = this.question.scope;
    return this.windows.map((windows) => windows && { windows, comms });
  }
}

/** Deeper details lie within the less deep ones, so collectives keep theirs. */
function deeper(before: Windows, more: Windows): Windows {
  return {
    coll: before.coll,
    op: longer(before.op, within(more.op, before.coll)),
    step: longer(before.step, within(more.step, before.coll)),
  };
}

function within(window: Window | null, outer: Window | null): Window | null {
  if (!window || !outer) return null;
  return { from: window.from > outer.from ? window.from : outer.from, to: window.to };
}

function longer(a: Window | null, b: Window | null): Window | null {
  if (!a || !b) return a ?? b;
  return a.from <= b.from ? a : b;
}
