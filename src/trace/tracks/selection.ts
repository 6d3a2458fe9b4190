/**
 * What is drawn of a rank: for each depth of detail a window of time, and the communicators. Plain data, decided before the drawing
 * (src/trace/selection.ts). The tracks only say their depth.
 */

import type { TraceNs } from '../../base/time.js';
import { DETAILS, type Detail } from '../../model/detail.js';

/** [from, to] in trace time, whole ns; without limits: -Infinity, Infinity. */
export interface Window {
  readonly from: TraceNs;
  readonly to: TraceNs;
}

export const ALWAYS: Window = { from: -Infinity as TraceNs, to: Infinity as TraceNs };

/** null: nothing of that detail. */
export type Windows = Readonly<Record<Detail, Window | null>>;

export interface DrawPlan {
  readonly windows: Windows;
  /** Keys of communicators (`commKey`); null: all. */
  readonly comms: ReadonlySet<string> | null;
}

const isAlways = (window: Window | null): boolean =>
  window !== null && window.from === -Infinity && window.to === Infinity;

export const isEverything = ({ windows, comms }: DrawPlan): boolean =>
  comms === null && DETAILS.every((detail) => isAlways(windows[detail]));
