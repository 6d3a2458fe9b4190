/** What a trace shows of a window of the whole. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { merge, type MergeOptions } from '../../src/merge.js';
import type { MergeReport } from '../../src/report/report.js';
import type { SelectionRequest } from '../../src/trace/selection.js';
import { viewTrace, type TraceView, type ViewSlice, type ViewTrack } from '../support/traces/trace_view.js';

export const root = fileURLToPath(new URL('../../samples/', import.meta.url));

/** Draws samples, and other recordings, into `folder`: a part of each, and each once as a whole. */
export function drawnInto(folder: string) {
  async function drawn(sample: string, select?: SelectionRequest, more: Partial<MergeOptions> = {}) {
    const output = path.join(folder, `${path.basename(sample)}.pftrace`);
    const inputs = [path.resolve(root, sample)];
    const report = await merge({ inputs, output, jobs: 1, force: true, select, ...more });
    return { report, view: viewTrace(readFileSync(output), { emptySlices: 'fine' }) };
  }

  const wholes = new Map<string, ReturnType<typeof drawn>>();
  function drawnWhole(sample: string): ReturnType<typeof drawn> {
    const whole = wholes.get(sample) ?? drawn(sample);
    wholes.set(sample, whole);
    return whole;
  }
  return { drawn, drawnWhole };
}

interface Limits {
  readonly from: number;
  readonly to: number;
}

const trackName = ({ process, path: names }: ViewTrack): string =>
  [process?.name ?? '', ...names].join(' / ');

/** "ts dur name" per slice, as the window shows it; null: not in it. */
export function clipped(slice: ViewSlice, start: bigint, { from, to }: Limits): string | null {
  const begin = Number(slice.ts - start);
  const end = slice.dur < 0n ? Infinity : begin + Number(slice.dur);
  const isIn = begin >= from ? begin <= to : !slice.isInstant && end > from;
  if (!isIn) return null;
  const shownFrom = Math.max(begin, from);
  const dur = end === Infinity ? 'open' : Math.min(end, to) - shownFrom;
  const before = begin < from ? ` beforeWindowNs=${from - begin}` : '';
  const after = end !== Infinity && end > to ? ` afterWindowNs=${end - to}` : '';
  return `${trackName(slice.track)}: ${shownFrom} ${slice.isInstant ? 'now' : dur} ${slice.name}${before}${after}`;
}

export function asShown(slice: ViewSlice, start: bigint): string {
  const { beforeWindowNs, afterWindowNs } = slice.args;
  const dur = slice.isInstant ? 'now' : slice.dur < 0n ? 'open' : slice.dur;
  const before = beforeWindowNs === undefined ? '' : ` beforeWindowNs=${beforeWindowNs}`;
  const after = afterWindowNs === undefined ? '' : ` afterWindowNs=${afterWindowNs}`;
  return `${trackName(slice.track)}: ${slice.ts - start} ${dur} ${slice.name}${before}${after}`;
}

export const limitsOf = ({ durationNs }: MergeReport, from: number, to: number): Limits => ({
  from: Math.round(durationNs * from),
  to: Math.round(durationNs * to),
});

export const between = ({ from, to }: Limits): SelectionRequest => ({
  from: { kind: 'since-start', ns: from },
  to: { kind: 'since-start', ns: to },
});

/** Without slices about the run as a whole: they are fitted to the window. */
export const recorded = (view: TraceView): ViewSlice[] =>
  view.slices.filter(
    ({ name, track }) => track.name !== 'verdict' && name !== 'no file' && name !== 'look here',
  );
