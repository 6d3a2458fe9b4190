/**
 * The track `verdict`, first in the cluster group: what is wrong with the run, at the time when it was, in words. It knows nothing of
 * verdicts: whoever composes the trace says what stands where (src/merge/verdict_picture.ts).
 *
 * It is drawn whatever else is selected, and marks where the recording begins: what a budget leaves of a run begins where all of it does.
 */

import type { TraceNs } from '../../base/time.js';
import type { Args, FlowId, TrackRef, TrackSink } from './sink.js';

/** Ends where it is told to: only what NCCL did not finish is drawn open. */
export interface VerdictMoment {
  readonly from: TraceNs;
  readonly to: TraceNs;
  /** At most 100 characters are read in one glance. */
  readonly headline: string;
}

export interface VerdictPicture {
  /** Of the recording; else a window of it was asked for. */
  readonly isFromBegin: boolean;
  /** In order of time, one after the other; at least one. */
  readonly moments: readonly VerdictMoment[];
  /** The moment that the first screen shows: an index. */
  readonly main: number;
  /** The report. */
  readonly lines: readonly string[];
  /** Opens the Perfetto UI as `nccl-trace open` does; the trace is then opened in it by hand. */
  readonly link: string;
  /** To what the verdict says to look at; null: it points nowhere, or that is not drawn. */
  readonly arrow: FlowId | null;
}

/** Before the communicators. */
const FIRST = -1;

export function drawVerdict(sink: TrackSink, cluster: TrackRef, picture: VerdictPicture): void {
  const { moments, main, lines, link, arrow } = picture;
  const track = sink.describe({
    kind: 'slices',
    order: 'late',
    detail: 'always',
    name: 'verdict',
    parent: cluster,
    rank: FIRST,
    description: VERDICT,
  });
  if (picture.isFromBegin && moments[0]!.from > 0) sink.instant(track, 0 as TraceNs, 'recording begins');
  const args: Args = [
    ...lines.map((line, i) => [`line${String(i + 1).padStart(2, '0')}`, line] as const),
    ['openWith', link],
  ];
  moments.forEach(({ from, to, headline }, i) => {
    const flow = i === main ? (arrow ?? undefined) : undefined;
    const slice = sink.begin(track, from, headline, { args, flow });
    sink.end(track, to, slice);
  });
}

const VERDICT =
  'What the recording says of the run as a whole, in one line; its arguments are the report. From when it began to the end of the ' +
  'recording; of a slow rank the times when all others waited for it alone, the longest ones. "openWith": a link that opens the ' +
  'Perfetto UI with the rows of interest pinned; open this trace in it then.';
