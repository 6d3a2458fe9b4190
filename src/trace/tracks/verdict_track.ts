/**
 * The track `verdict`, first in the cluster group: it says what is wrong with the run, and when. It knows no verdicts: trace/above_ranks.ts
 * provides the content. It is part of every selection. It marks the start of the recording, so that a reduced drawing begins where the
 * whole run begins.
 */

import type { TraceNs } from '../../base/time.js';
import type { Args, FlowId, TrackRef, TrackSink } from './sink.js';

/** A moment ends at its given time. Only work that NCCL did not finish stays open. */
export interface VerdictMoment {
  readonly from: TraceNs;
  readonly to: TraceNs;
  /** At most 100 characters, to be read at a glance. */
  readonly headline: string;
  /** Correlation id: that of the kind of verdict, which gives its slice the same colour in every trace. */
  readonly colour?: number;
}

export interface VerdictPicture {
  /** The track begins with the recording. Otherwise it begins with a requested window. */
  readonly isFromBegin: boolean;
  /** In order of time, without overlap; at least one. */
  readonly moments: readonly VerdictMoment[];
  /** Index of the one on the first screen. */
  readonly main: number;
  /** The report. */
  readonly lines: readonly string[];
  readonly findings: readonly string[];
  /** Opens the Perfetto UI as `nccl-trace open` does; the user then opens the trace by hand. */
  readonly link: string;
  /** The arrow to the step that the verdict names. null: there is none, or the step is not drawn. */
  readonly arrow: FlowId | null;
}

/** Before the communicators. */
const FIRST = -1;

export function drawVerdict(sink: TrackSink, cluster: TrackRef, picture: VerdictPicture): void {
  const { moments, main, lines, findings, link, arrow } = picture;
  const track = sink.describe({
    kind: 'slices',
    detail: 'always',
    name: 'verdict',
    parent: cluster,
    rank: FIRST,
    description: VERDICT,
  });
  if (picture.isFromBegin && moments[0]!.from > 0) sink.instant(track, 0 as TraceNs, 'recording begins');
  const args: Args = [...numbered('line', lines), ...numbered('finding', findings), ['openWith', link]];
  moments.forEach(({ from, to, headline, colour }, i) => {
    const flow = i === main ? (arrow ?? undefined) : undefined;
    const slice = sink.begin(track, from, headline, { args, flow, correlation: colour });
    sink.end(track, to, slice);
  });
}

const numbered = (name: string, lines: readonly string[]): Args =>
  lines.map((line, i) => [`${name}${String(i + 1).padStart(2, '0')}`, line]);

const VERDICT =
  'The verdict on the whole run, in one line. Its arguments are the report, and all that was found. It lasts from the beginning of ' +
  'the problem to the end of the recording. For a slow rank there is a slice for each of the longest times ' +
  'when all others waited for it alone. "openWith": a link that opens the Perfetto UI with the important ' +
  'rows pinned. Then open this trace there.';
